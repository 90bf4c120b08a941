// What is due, and when: one time for each key.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"

namespace base {

// Setting, erasing and the next time cost O(log keys). Keys that are due at one time are in their
// own order.
template <class Key>
class DueTable {
 public:
  bool empty() const { return at_.empty(); }
  bool contains(const Key& key) const { return at_.contains(key); }

  // Due at that time, whatever was said before.
  void set(const Key& key, Time at) {
    const auto [entry, is_new] = at_.emplace(key, at);
    if (!is_new) {
      ordered_.erase({entry->second, key});
      entry->second = at;
    }
    ordered_.emplace(at, key);
  }
  // Due at that time, or earlier where that was said before.
  void set_no_later(const Key& key, Time at) {
    const auto entry = at_.find(key);
    if (entry == at_.end() || entry->second > at) set(key, at);
  }
  void erase(const Key& key) {
    const auto entry = at_.find(key);
    if (entry == at_.end()) return;
    ordered_.erase({entry->second, key});
    at_.erase(entry);
  }

  // Time::max(): nothing will be due.
  Time next() const { return ordered_.empty() ? Time::max() : ordered_.begin()->first; }
  // The one that has been due for longest; there is one when next() has come.
  const Key& first() const { return ordered_.begin()->second; }
  // All that are due, the longest first.
  std::vector<Key> due(Time now) const {
    std::vector<Key> keys;
    for (const auto& [at, key] : ordered_) {
      if (at > now) break;
      keys.push_back(key);
    }
    return keys;
  }

 private:
  std::map<Key, Time> at_;
  std::set<std::pair<Time, Key>> ordered_;
};

}  // namespace base
