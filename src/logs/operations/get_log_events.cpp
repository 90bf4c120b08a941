#include <algorithm>

#include "logs/operations/operations.h"
#include "logs/rules.h"

namespace logs {
namespace {

// The range and direction that the request's times and token make.
struct Wanted {
  Range range;
  Direction direction = Direction::Backward;
};

Wanted wanted_of(const api::logs::GetLogEventsRequest& request,
                 const std::optional<Cursor>& cursor) {
  Wanted wanted;
  wanted.range.lower = {.timestamp = request.start_time.value_or(0), .id = 0};
  // Events at endTime itself are not included; every id is above 0.
  if (request.end_time) wanted.range.upper = {.timestamp = *request.end_time, .id = 0};
  if (cursor) {
    wanted.direction = cursor->direction;
    if (cursor->direction == Direction::Forward) {
      wanted.range.lower = std::max(wanted.range.lower, cursor->position);
    } else {
      wanted.range.upper = std::min(wanted.range.upper, cursor->position);
    }
  } else if (request.start_from_head.value_or(false)) {
    wanted.direction = Direction::Forward;
  }
  return wanted;
}

// The tokens that continue on both sides of a page.
void set_tokens(api::logs::GetLogEventsResponse& response, const std::vector<Position>& page,
                const Wanted& wanted, const std::optional<Cursor>& cursor) {
  Cursor forward{.direction = Direction::Forward};
  Cursor backward{.direction = Direction::Backward};
  if (!page.empty()) {
    forward.position = page.back();
    backward.position = page.front();
  } else if (cursor && cursor->direction == Direction::Forward) {
    // Nothing new: the same token again. Backward goes on with what is at the place or before it.
    forward.position = cursor->position;
    backward.position = {.timestamp = cursor->position.timestamp, .id = cursor->position.id + 1};
  } else if (cursor) {
    backward.position = cursor->position;
    forward.position = {.timestamp = cursor->position.timestamp,
                        .id = std::max<int64_t>(cursor->position.id - 1, 0)};
  } else {
    forward.position = wanted.range.lower;
    backward.position = wanted.range.lower;
  }
  response.next_forward_token = cursor_token(forward);
  response.next_backward_token = cursor_token(backward);
}

}  // namespace

base::Result<api::logs::GetLogEventsResponse> get_log_events(
    Context& context, const api::logs::GetLogEventsRequest& request) {
  const int64_t limit = TRY(limit_or_max(request.limit, max_events_a_page));
  TRY_VOID(check_time(request.start_time, "startTime"));
  TRY_VOID(check_time(request.end_time, "endTime"));
  std::optional<Cursor> cursor;
  if (request.next_token) {
    cursor = parse_cursor_token(*request.next_token);
    if (!cursor) return invalid_next_token();
  }
  const Group group =
      TRY(existing_group(context, request.log_group_name, request.log_group_identifier));
  const Stream stream = TRY(existing_stream(context, group, request.log_stream_name));

  api::logs::GetLogEventsResponse response;
  response.events.set_present();
  std::vector<Position> page;
  int64_t bytes = 0;
  const Wanted wanted = wanted_of(request, cursor);
  TRY_VOID(context.events.visit(stream.id, wanted.range, wanted.direction, [&](Event& event) {
    bytes += static_cast<int64_t>(event.message.size()) + event_overhead_bytes;
    if (bytes > max_page_bytes && !page.empty()) return false;
    page.push_back(event.position);
    response.events.push_back({.timestamp = event.position.timestamp,
                               .message = std::move(event.message),
                               .ingestion_time = event.ingestion_time});
    return std::ssize(page) < limit;
  }));
  if (wanted.direction == Direction::Backward) {
    std::ranges::reverse(response.events);
    std::ranges::reverse(page);
  }
  set_tokens(response, page, wanted, cursor);
  return response;
}

}  // namespace logs
