#include "placement/cores.h"

#include <algorithm>
#include <charconv>
#include <set>

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

std::set<int32_t> pinned_cores(const model::ClusterState& state,
                               const model::ContainerInstance& instance) {
  std::set<int32_t> cores;
  for (const model::TaskArn& arn : instance.tasks) {
    const model::Task* task = model::find_task(state, arn);
    if (task == nullptr || task->held.cpuset.empty()) continue;
    for (const int32_t core : parse_cpu_list(task->held.cpuset)) cores.insert(core);
  }
  return cores;
}

// Of each GPU held, in the order of assignment, without repeating a list.
std::vector<std::vector<int32_t>> near_cores(const model::ContainerInstance& instance,
                                             const model::HeldResources& held,
                                             const std::set<int32_t>& taken) {
  std::vector<std::vector<int32_t>> lists;
  for (const model::GpuAssignment& assignment : held.gpus) {
    const model::GpuSlot* slot = model::find_gpu(instance, assignment.gpu);
    if (slot == nullptr) continue;
    std::vector<int32_t> cores = parse_cpu_list(slot->device.cpu_list);
    std::erase_if(cores, [&](int32_t core) { return taken.contains(core); });
    if (std::ranges::find(lists, cores) == lists.end()) lists.push_back(std::move(cores));
  }
  return lists;
}

}  // namespace

std::vector<int32_t> parse_cpu_list(std::string_view text) {
  std::set<int32_t> cores;
  while (!text.empty()) {
    const int32_t first = take_number(text);
    int32_t last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (first < 0 || last < first || last >= most_cores) return {};
    for (int32_t core = first; core <= last; ++core) cores.insert(core);
    if (text.empty()) break;
    if (!text.starts_with(',')) return {};
    text.remove_prefix(1);
    if (text.empty()) return {};
  }
  return {cores.begin(), cores.end()};
}

std::string format_cpu_list(const std::vector<int32_t>& cores) {
  std::string text;
  for (size_t i = 0; i < cores.size();) {
    size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += base::format("{}", cores[i]);
    if (end - i > 1) text += base::format("-{}", cores[end - 1]);
    i = end;
  }
  return text;
}

std::string choose_cores(const model::ClusterState& state, const model::ContainerInstance& instance,
                         const model::HeldResources& held) {
  if (held.gpus.empty() || held.cpu_units <= 0 || !instance.emulated_instance_type.empty()) {
    return "";
  }
  const auto wanted = static_cast<size_t>((held.cpu_units + units_per_core - 1) / units_per_core);
  const auto lists = near_cores(instance, held, pinned_cores(state, instance));
  std::set<int32_t> chosen;
  size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  for (size_t i = 0; i < longest && chosen.size() < wanted; ++i) {
    for (const auto& list : lists) {
      if (i < list.size() && chosen.size() < wanted) chosen.insert(list[i]);
    }
  }
  if (chosen.size() < wanted) return "";
  return format_cpu_list({chosen.begin(), chosen.end()});
}

}  // namespace placement
