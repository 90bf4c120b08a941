#include "logs/event_merge.h"

#include <algorithm>

namespace logs {
namespace {

// The first read of a source is short, since few of many sources may be needed for a page.
constexpr int64_t first_read = 16;
constexpr int64_t later_read = 1024;

}  // namespace

EventMerge::EventMerge(Events& events, const std::vector<Source>& sources, const Range& range)
    : events_(&events) {
  inputs_.reserve(sources.size());
  for (const Source& source : sources) inputs_.push_back({.source = source, .rest = range});
}

base::Result<void> EventMerge::refill(Input& input) {
  const int64_t limit = input.keys.empty() ? first_read : later_read;
  input.keys = TRY(events_->keys(input.source.scope, input.source.id, input.rest, limit));
  input.taken = 0;
  input.ended = std::ssize(input.keys) < limit;
  if (!input.keys.empty()) input.rest.lower = input.keys.back().position;
  return {};
}

bool EventMerge::later(size_t left, size_t right) const {
  const Input& a = inputs_[left];
  const Input& b = inputs_[right];
  return a.keys[a.taken].position > b.keys[b.taken].position;
}

base::Result<std::optional<EventKey>> EventMerge::next() {
  const auto order = [this](size_t left, size_t right) { return later(left, right); };
  if (!started_) {
    started_ = true;
    for (size_t index = 0; index < inputs_.size(); ++index) {
      TRY_VOID(refill(inputs_[index]));
      if (!inputs_[index].keys.empty()) heap_.push_back(index);
    }
    std::ranges::make_heap(heap_, order);
  }
  if (heap_.empty()) return std::nullopt;
  std::ranges::pop_heap(heap_, order);
  Input& input = inputs_[heap_.back()];
  const EventKey key = input.keys[input.taken++];
  if (input.taken == input.keys.size() && !input.ended) TRY_VOID(refill(input));
  if (input.taken == input.keys.size()) {
    heap_.pop_back();
  } else {
    std::ranges::push_heap(heap_, order);
  }
  return key;
}

}  // namespace logs
