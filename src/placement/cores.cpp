#include "placement/cores.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/format.h"

namespace placement {
namespace {

constexpr int64_t units_per_core = 1024;
constexpr int32_t most_cores = 65536;

// Consumes a number; below 0 when there is none.
int32_t take_number(std::string_view& text) {
  int32_t number = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return -1;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return number;
}

CoreSet pinned_to(const model::ClusterState& state, const model::TaskArn& arn) {
  const model::Task* task = model::find_task(state, arn);
  return task == nullptr ? CoreSet() : parse_cpu_list(task->held.cpuset);
}

// Of each GPU held, in the order of assignment, without repeating a list; unknown ones left out.
std::vector<std::string_view> near_lists(const model::ContainerInstance& instance,
                                         const model::HeldResources& held) {
  std::vector<std::string_view> lists;
  for (const model::GpuAssignment& assignment : held.gpus) {
    const model::GpuSlot* slot = model::find_gpu(instance, assignment.gpu);
    if (slot == nullptr || slot->device.cpu_list.empty()) continue;
    const std::string_view list = slot->device.cpu_list;
    if (std::ranges::find(lists, list) == lists.end()) lists.push_back(list);
  }
  return lists;
}

// `wanted` cores, the lowest of each list in turn; empty when there are too few.
CoreSet choose_in_turn(const std::vector<CoreSet>& lists, int64_t wanted) {
  CoreSet chosen;
  std::vector<int32_t> last(lists.size(), -1);
  bool found = true;
  while (wanted > 0 && found) {
    found = false;
    for (size_t i = 0; i < lists.size() && wanted > 0; ++i) {
      const int32_t core = lists[i].next(last[i] + 1);
      last[i] = core < 0 ? most_cores : core;
      if (core < 0) continue;
      found = true;
      if (chosen.next(core) == core) continue;  // Near two GPUs.
      chosen.add(core, core);
      --wanted;
    }
  }
  return wanted > 0 ? CoreSet() : chosen;
}

}  // namespace

CoreSet::CoreSet(std::initializer_list<int32_t> cores) {
  for (const int32_t core : cores) add(core, core);
}

void CoreSet::add(int32_t first, int32_t last) {
  const auto end = static_cast<size_t>(last) + 1;
  if (words_.size() < (end + 63) / 64) words_.resize((end + 63) / 64);
  for (auto core = static_cast<size_t>(first); core < end;) {
    const size_t stop = std::min(end, (core / 64 + 1) * 64);
    const uint64_t mask = ~uint64_t{0} >> (64 - (stop - core));
    words_[core / 64] |= mask << (core % 64);
    core = stop;
  }
}

void CoreSet::add(const CoreSet& other) {
  if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
  for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

void CoreSet::remove(const CoreSet& other) {
  const size_t both = std::min(words_.size(), other.words_.size());
  for (size_t i = 0; i < both; ++i) words_[i] &= ~other.words_[i];
}

int32_t CoreSet::next(int32_t from) const {
  const auto begin = static_cast<size_t>(from);
  for (size_t i = begin / 64; i < words_.size(); ++i) {
    uint64_t word = words_[i];
    if (i == begin / 64) word &= ~uint64_t{0} << (begin % 64);
    if (word != 0) return static_cast<int32_t>(64 * i) + std::countr_zero(word);
  }
  return -1;
}

bool operator==(const CoreSet& left, const CoreSet& right) {
  const size_t most = std::max(left.words_.size(), right.words_.size());
  const auto word = [](const CoreSet& set, size_t i) {
    return i < set.words_.size() ? set.words_[i] : 0;
  };
  for (size_t i = 0; i < most; ++i) {
    if (word(left, i) != word(right, i)) return false;
  }
  return true;
}

CoreSet parse_cpu_list(std::string_view text) {
  CoreSet cores;
  while (!text.empty()) {
    const int32_t first = take_number(text);
    int32_t last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (first < 0 || last < first || last >= most_cores) return {};
    cores.add(first, last);
    if (text.empty()) break;
    if (!text.starts_with(',')) return {};
    text.remove_prefix(1);
    if (text.empty()) return {};
  }
  return cores;
}

std::string format_cpu_list(const CoreSet& cores) {
  std::string text;
  for (int32_t first = cores.next(0); first >= 0;) {
    int32_t last = first;
    while (cores.next(last + 1) == last + 1) ++last;
    if (!text.empty()) text += ',';
    text += base::format("{}", first);
    if (last > first) text += base::format("-{}", last);
    first = cores.next(last + 1);
  }
  return text;
}

void PinnedCores::sync(const model::ClusterState& state, const model::ContainerInstance& instance) {
  std::vector<Pin> pins;
  pins.reserve(instance.tasks.size());
  auto known = pins_.begin();
  for (const model::TaskArn& arn : instance.tasks) {
    while (known != pins_.end() && known->task < arn) ++known;
    if (known != pins_.end() && known->task == arn) {
      pins.push_back(std::move(*known++));
    } else {
      pins.push_back({arn, pinned_to(state, arn)});
    }
  }
  pins_ = std::move(pins);
  all_.clear();
  for (const Pin& pin : pins_) all_.add(pin.cores);
}

std::string choose_cores(const model::ClusterState& state, const model::ContainerInstance& instance,
                         const model::HeldResources& held, PinnedCores& pinned) {
  if (held.gpus.empty() || held.cpu_units <= 0 || !instance.emulated_instance_type.empty()) {
    return "";
  }
  const std::vector<std::string_view> texts = near_lists(instance, held);
  if (texts.empty()) return "";
  pinned.sync(state, instance);
  std::vector<CoreSet> lists;
  for (const std::string_view text : texts) {
    lists.push_back(parse_cpu_list(text));
    lists.back().remove(pinned.all());
  }
  const int64_t wanted = (held.cpu_units + units_per_core - 1) / units_per_core;
  return format_cpu_list(choose_in_turn(lists, wanted));
}

}  // namespace placement
