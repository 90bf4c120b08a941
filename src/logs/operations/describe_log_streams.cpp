#include <charconv>

#include "base/format.h"
#include "logs/operations/operations.h"
#include "logs/rules.h"
#include "logs/sequence_token.h"

namespace logs {
namespace {

constexpr int32_t max_streams_a_page = 50;

api::logs::LogStream describe_stream(const Owner& owner, const Group& group, const Stream& stream) {
  const auto time = [](int64_t ms) { return ms < 0 ? std::nullopt : std::optional(ms); };
  return {.log_stream_name = stream.name,
          .creation_time = stream.creation_time,
          .first_event_timestamp = time(stream.first_event_timestamp),
          .last_event_timestamp = time(stream.last_event_timestamp),
          .last_ingestion_time = time(stream.last_ingestion_time),
          .upload_sequence_token = sequence_token(stream.last_ingestion_time + 1),
          .arn = base::format("{}:log-stream:{}", group_arn(owner, group.name), stream.name),
          // "As of June 17, 2019, this parameter is no longer supported for log streams, and is
          // always reported as zero."
          .stored_bytes = 0,
          .berth_next_position = stream.next_position};
}

// Tokens: "n/NAME" in the order of names, "t/TIMESTAMP/NAME" in that of last events; the last
// stream that was given.
std::string token_of(const Stream& last, api::logs::OrderBy order_by) {
  if (order_by == api::logs::OrderBy::LogStreamName) return base::format("n/{}", last.name);
  return base::format("t/{}/{}", last.last_event_timestamp, last.name);
}

std::optional<StreamPlace> parse_token(std::string_view token, api::logs::OrderBy order_by) {
  if (order_by == api::logs::OrderBy::LogStreamName) {
    if (!token.starts_with("n/")) return std::nullopt;
    return StreamPlace{.name = std::string(token.substr(2))};
  }
  if (!token.starts_with("t/")) return std::nullopt;
  token.remove_prefix(2);
  StreamPlace place;
  const char* end = token.data() + token.size();
  const auto parsed = std::from_chars(token.data(), end, place.last_event_timestamp);
  if (parsed.ec != std::errc{} || parsed.ptr == end || *parsed.ptr != '/') return std::nullopt;
  place.name.assign(parsed.ptr + 1, end);
  return place;
}

}  // namespace

base::Result<api::logs::DescribeLogStreamsResponse> describe_log_streams(
    Context& context, const api::logs::DescribeLogStreamsRequest& request) {
  using api::logs::OrderBy;
  const int64_t limit = TRY(limit_or_max(request.limit, max_streams_a_page));
  const OrderBy order_by = request.order_by.value_or(OrderBy::LogStreamName);
  if (request.log_stream_name_prefix) {
    TRY_VOID(check_stream_name(*request.log_stream_name_prefix, "logStreamNamePrefix"));
    if (order_by == OrderBy::LastEventTime) {
      return invalid_parameter("Cannot order by LastEventTime with a logStreamNamePrefix.");
    }
  }
  std::optional<StreamPlace> after;
  if (request.next_token) {
    after = parse_token(*request.next_token, order_by);
    if (!after) return invalid_next_token();
  }
  const Group group =
      TRY(existing_group(context, request.log_group_name, request.log_group_identifier));

  api::logs::DescribeLogStreamsResponse response;
  response.log_streams.set_present();
  Stream last;
  const auto take = [&](const Stream& stream) {
    if (std::ssize(response.log_streams) == limit) {
      response.next_token = token_of(last, order_by);
      return false;
    }
    response.log_streams.push_back(describe_stream(context.owner, group, stream));
    last = stream;
    return true;
  };
  const Order order = request.descending.value_or(false) ? Order::Descending : Order::Ascending;
  if (order_by == OrderBy::LastEventTime) {
    TRY_VOID(context.streams.visit_by_last_event(group.id, order, after, take));
  } else {
    TRY_VOID(context.streams.visit_by_name(group.id, request.log_stream_name_prefix.value_or(""),
                                           order, after, take));
  }
  return response;
}

}  // namespace logs
