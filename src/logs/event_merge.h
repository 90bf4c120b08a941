// The events of several streams, or of a group, as one sorted sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "logs/tables/events.h"

namespace logs {

// Yields the keys of all sources in rising order; each source is read some keys at a time, so the
// cost is O(keys taken + sources), however many events there are. A stream may be a source once.
// `events` must outlive it and nothing may write events in between. Errors: sqlite's.
class EventMerge {
 public:
  struct Source {
    Scope scope = Scope::Stream;
    int64_t id = 0;
  };
  EventMerge(Events& events, const std::vector<Source>& sources, const Range& range);

  // nullopt at the end.
  base::Result<std::optional<EventKey>> next();

 private:
  struct Input {
    Source source = {};
    Range rest = {};                  // What was not read yet.
    std::vector<EventKey> keys = {};  // Read, the next one at `taken`.
    size_t taken = 0;
    bool ended = false;  // Nothing in `rest`.
  };
  base::Result<void> refill(Input& input);
  // Heap order: the input with the least next key on top.
  bool later(size_t left, size_t right) const;

  Events* events_;
  std::vector<Input> inputs_;
  std::vector<size_t> heap_;  // Of places in inputs_, those with a key to give.
  bool started_ = false;
};

}  // namespace logs
