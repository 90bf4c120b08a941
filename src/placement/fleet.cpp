#include "placement/fleet.h"

#include <string_view>

namespace placement {
namespace {

// FNV-1a, eight bytes at a time where there are as many.
class Hash {
 public:
  void add(std::string_view text) {
    add(text.size());
    while (text.size() >= 8) {
      uint64_t word = 0;
      __builtin_memcpy(&word, text.data(), 8);
      add(word);
      text.remove_prefix(8);
    }
    for (const char c : text) add(static_cast<uint8_t>(c));
  }
  void add(uint64_t value) {
    value_ = (value_ ^ value) * 0x9E3779B97F4A7C15ULL;
    value_ ^= value_ >> 32;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xCBF29CE484222325ULL;
};

uint64_t facts_of(const model::ContainerInstance& instance) {
  Hash hash;
  for (const auto& [name, value] : instance.attributes) {
    hash.add(name);
    hash.add(value);
  }
  hash.add(model::agent_answers(instance) ? 1U : 0U);
  hash.add(instance.external ? 1U : 0U);
  hash.add(instance.agent_version);
  hash.add(instance.ec2_instance_id);
  hash.add(instance.capacity_provider);
  hash.add(static_cast<uint64_t>(instance.registered_at.time_since_epoch().count()));
  return hash.value();
}

pack::Hardware hardware_of(const model::ContainerInstance& instance, const Offer& offer) {
  pack::Hardware hardware{
      .cpu_units = instance.cpu_units, .memory_mib = instance.memory_mib, .gpus = offer.whole_gpus};
  for (size_t i = 0; i < offer.cards.size(); ++i) {
    if (offer.cards[i].mig) continue;
    const model::GpuDevice& device = instance.gpus[i].device;
    if (hardware.gpu_memory_mib == 0) hardware.gpu_memory_mib = device.memory_mib;
    hardware.shareable |= device.mps_capable;
  }
  return hardware;
}

template <class Key>
void count_key(std::map<Key, int32_t>& counts, Key key, int by) {
  const auto found = counts.try_emplace(key, 0).first;
  found->second += by;
  if (found->second == 0) counts.erase(found);
}

}  // namespace

uint32_t Fleet::find(const model::InstanceArn& arn) const {
  const auto found = index_of_.find(arn);
  return found == index_of_.end() ? none : found->second;
}

void Fleet::update(const model::ContainerInstance& instance) {
  const auto [found, added] =
      index_of_.try_emplace(instance.arn, static_cast<uint32_t>(entries_.size()));
  const uint32_t index = found->second;
  if (added) {
    entries_.emplace_back();
    entries_[index].arn = instance.arn;
    links_.emplace_back();
  } else {
    count(entries_[index], -1);
  }
  touch(index);
  Entry& entry = entries_[index];
  // Nothing was kept up to date for an entry while it was not known.
  const bool anew = added || !entry.known;
  entry.known = true;
  entry.offer = offer_of(instance);
  entry.summary = pack::summary_of(entry.offer);
  entry.summary_at = 0;
  const uint64_t facts = facts_of(instance);
  const pack::Hardware hardware = hardware_of(instance, entry.offer);
  if (anew || facts != entry.facts || hardware != entry.hardware) {
    entry.facts = facts;
    entry.hardware = hardware;
    entry.facts_changed_at = sequence_;
  }
  count(entry, +1);
}

void Fleet::remove(const model::InstanceArn& arn) {
  const uint32_t index = find(arn);
  if (index == none || !entries_[index].known) return;
  count(entries_[index], -1);
  touch(index);
  Entry& entry = entries_[index];
  entry.known = false;
  entry.offer = {};
  entry.summary = {};
  entry.pinned = {};
  entry.facts_changed_at = sequence_;
}

void Fleet::count(const Entry& entry, int by) {
  if (!entry.known || !entry.offer.active) return;
  count_key(active_by_gpus_, entry.offer.whole_gpus, by);
  count_key(active_by_cpu_, entry.offer.cpu_registered, by);
}

void Fleet::touch(uint32_t index) {
  Link& link = links_[index];
  link.changed_at = ++sequence_;
  if (newest_ == index) return;
  if (link.newer != none) links_[link.newer].older = link.older;
  if (link.older != none) links_[link.older].newer = link.newer;
  link.newer = none;
  link.older = newest_;
  if (newest_ != none) links_[newest_].newer = index;
  newest_ = index;
}

int32_t Fleet::most_whole_gpus() const {
  return active_by_gpus_.empty() ? 0 : active_by_gpus_.rbegin()->first;
}
int64_t Fleet::most_cpu_units() const {
  return active_by_cpu_.empty() ? 0 : active_by_cpu_.rbegin()->first;
}

}  // namespace placement
