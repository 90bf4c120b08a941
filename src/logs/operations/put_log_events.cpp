#include <algorithm>
#include <chrono>

#include "base/format.h"
#include "logs/operations/operations.h"
#include "logs/rules.h"
#include "logs/sequence_token.h"
#include "logs/stream_writers.h"

namespace logs {
namespace {

using InputEvents = api::List<api::logs::InputLogEvent>;

constexpr size_t max_events_a_call = 10'000;
constexpr int64_t max_batch_bytes = 1'048'576;
constexpr int64_t max_event_bytes = 1'048'576;
constexpr int64_t hour_ms = int64_t{60} * 60 * 1000;
constexpr int64_t day_ms = 24 * hour_ms;
constexpr int64_t max_age_ms = 14 * day_ms;
constexpr int64_t max_future_ms = 2 * hour_ms;
constexpr int64_t max_span_ms = day_ms;

int64_t bytes_of(const api::logs::InputLogEvent& event) {
  return static_cast<int64_t>(event.message->size()) + event_overhead_bytes;
}

base::Result<void> check_events(const InputEvents& events) {
  if (events.empty() || events.size() > max_events_a_call) {
    return violation(base::format("{} events", events.size()), "logEvents",
                     events.empty() ? "Member must have length greater than or equal to 1"
                                    : "Member must have length less than or equal to 10000");
  }
  int64_t total = 0;
  for (size_t index = 0; index < events.size(); ++index) {
    const auto member = [&](std::string_view name) {
      return base::format("logEvents.{}.member.{}", index + 1, name);
    };
    if (!events[index].timestamp) {
      return violation("null", member("timestamp"), "Member must not be null");
    }
    TRY_VOID(check_time(events[index].timestamp, member("timestamp")));
    if (events[index].message.value_or("").empty()) {
      return violation("", member("message"), "Member must have length greater than or equal to 1");
    }
    const int64_t bytes = bytes_of(events[index]);
    if (bytes > max_event_bytes + event_overhead_bytes) {
      return invalid_parameter(base::format("Log event too large: {} bytes exceeds limit of {}",
                                            bytes, max_event_bytes));
    }
    total += bytes;
    if (index > 0 && events[index].timestamp < events[index - 1].timestamp) {
      return invalid_parameter(
          "Log events in a single PutLogEvents request must be in chronological order.");
    }
  }
  if (total > max_batch_bytes) {
    return invalid_parameter(
        base::format("Upload too large: {} bytes exceeds limit of {}", total, max_batch_bytes));
  }
  return {};
}

// The times under which an agent's events are kept. It cannot be asked again, and its clock or
// this one may have been wrong when a line was written: a time that is too new becomes the present,
// one that is too old the oldest that is kept, with half of the group's retention left to be read
// in. The order stays: a numbered event never stands before the stream's last one, not even where
// that one came under a clock that was ahead.
std::vector<int64_t> kept_times(const InputEvents& events, const Group& group, const Stream& stream,
                                bool numbered, int64_t now) {
  int64_t oldest = now - max_age_ms;
  if (group.retention_in_days) {
    oldest = std::max(oldest, now - day_ms * *group.retention_in_days / 2);
  }
  int64_t last = numbered ? stream.last_event_timestamp : 0;
  std::vector<int64_t> times;
  times.reserve(events.size());
  for (const api::logs::InputLogEvent& event : events) {
    const int64_t own = *event.timestamp > now + max_future_ms ? now : *event.timestamp;
    last = std::max({last, own, oldest});
    times.push_back(last);
  }
  return times;
}

std::vector<int64_t> own_times(const InputEvents& events) {
  std::vector<int64_t> times;
  times.reserve(events.size());
  for (const api::logs::InputLogEvent& event : events) times.push_back(*event.timestamp);
  return times;
}

// Which of the events, that are in order, are neither too old nor too new: [first, end).
struct Accepted {
  size_t first = 0;
  size_t end = 0;
  std::optional<api::logs::RejectedLogEventsInfo> rejected = {};
};

Accepted accept(const InputEvents& events, const Group& group, int64_t now) {
  const auto first_from = [&](int64_t timestamp) {
    const auto at = std::ranges::lower_bound(
        events, timestamp, {},
        [](const api::logs::InputLogEvent& each) { return *each.timestamp; });
    return static_cast<size_t>(at - events.begin());
  };
  const size_t old_end = first_from(now - max_age_ms);
  size_t expired_end = 0;
  if (group.retention_in_days) {
    expired_end = first_from(now - day_ms * static_cast<int64_t>(*group.retention_in_days));
  }
  const size_t new_start = first_from(now + max_future_ms + 1);

  Accepted accepted{.first = std::max(old_end, expired_end), .end = new_start};
  accepted.first = std::min(accepted.first, accepted.end);
  if (accepted.first == 0 && accepted.end == events.size()) return accepted;
  api::logs::RejectedLogEventsInfo& info = accepted.rejected.emplace();
  if (old_end > 0) info.too_old_log_event_end_index = static_cast<int32_t>(old_end);
  if (expired_end > old_end) info.expired_log_event_end_index = static_cast<int32_t>(expired_end);
  if (new_start < events.size()) {
    info.too_new_log_event_start_index = static_cast<int32_t>(new_start);
  }
  return accepted;
}

// How many events at the start of the batch the stream has seen already; moves its position behind
// the batch. A rejected event counts as seen: sent again, it would be rejected again. A gap is
// accepted: only the agent knows whether its stream was deleted and made anew meanwhile.
size_t advance_position(Stream& stream, int64_t position, size_t count) {
  const int64_t end = position + static_cast<int64_t>(count);
  const int64_t next = stream.next_position.value_or(0);
  stream.next_position = std::max(next, end);
  return static_cast<size_t>(std::clamp<int64_t>(next - position, 0, end - position));
}

// `times` are those under which the events are kept.
base::Result<void> store(Context& context, const Group& group, Stream& stream,
                         std::span<const api::logs::InputLogEvent> events,
                         std::span<const int64_t> times) {
  const int64_t first_id = TRY(context.events.reserve_ids(std::ssize(events)));
  const int64_t now = now_ms(context);
  int64_t bytes = 0;
  for (size_t index = 0; index < events.size(); ++index) {
    const api::logs::InputLogEvent& event = events[index];
    const EventKey key{
        .position = {.timestamp = times[index], .id = first_id + static_cast<int64_t>(index)},
        .stream_id = stream.id};
    TRY_VOID(context.events.insert(key, group.id, now, *event.message));
    bytes += bytes_of(event);
  }
  const int64_t first = times.front();
  stream.first_event_timestamp =
      stream.first_event_timestamp < 0 ? first : std::min(stream.first_event_timestamp, first);
  stream.last_event_timestamp = std::max(stream.last_event_timestamp, times.back());
  stream.last_ingestion_time = now;
  stream.stored_bytes += bytes;
  return context.groups.add_stored_bytes(group.id, bytes);
}

}  // namespace

base::Result<api::logs::PutLogEventsResponse> put_log_events(
    Context& context, const api::logs::PutLogEventsRequest& request) {
  TRY_VOID(check_events(request.log_events));
  constexpr int64_t max_position = int64_t{1} << 62;
  const int64_t position = request.berth_position.value_or(0);
  if (position < 0 || position > max_position) {
    return violation(base::format("{}", position), "berthPosition",
                     "Member must have value between 0 and 2^62");
  }
  const Group group = TRY(existing_group(context, request.log_group_name));
  Stream stream = TRY(existing_stream(context, group, request.log_stream_name));
  const bool numbered = request.berth_position.has_value();
  TRY_VOID(check_may_write(context, stream, numbered));

  const std::span<const api::logs::InputLogEvent> events(request.log_events);
  const bool any_time = numbered || context.writer.kind == Writer::Kind::Agent;
  const Accepted accepted = any_time ? Accepted{.end = events.size()}
                                     : accept(request.log_events, group, now_ms(context));
  if (!any_time && accepted.first < accepted.end &&
      *events[accepted.end - 1].timestamp - *events[accepted.first].timestamp > max_span_ms) {
    return invalid_parameter(
        "The batch of log events in a single PutLogEvents request cannot span more than 24 hours.");
  }
  const std::vector<int64_t> times =
      any_time ? kept_times(request.log_events, group, stream, numbered, now_ms(context))
               : own_times(request.log_events);

  size_t first = accepted.first;
  if (numbered) first = std::max(first, advance_position(stream, position, events.size()));
  if (first < accepted.end) {
    const size_t count = accepted.end - first;
    TRY_VOID(store(context, group, stream, events.subspan(first, count),
                   std::span(times).subspan(first, count)));
  }
  TRY_VOID(context.streams.update(stream));

  api::logs::PutLogEventsResponse response;
  response.next_sequence_token = sequence_token(TRY(context.events.next_id()));
  response.rejected_log_events_info = accepted.rejected;
  if (request.berth_position) response.berth_next_position = stream.next_position;
  return response;
}

}  // namespace logs
