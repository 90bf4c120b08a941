#include <limits>
#include <map>

#include "logs/event_merge.h"
#include "logs/filter_pattern.h"
#include "logs/operations/operations.h"
#include "logs/rules.h"

namespace logs {
namespace {

// One call does so much at most, since it keeps other requests waiting; its nextToken then leads
// on, with a page that may be short or empty, as the API allows. The unit is an event that is read,
// some microseconds; so many bytes of messages cost as much, read, looked through for a term, or
// parsed for a field of JSON.
constexpr int64_t max_cost = 50'000;
constexpr int64_t bytes_read_a_unit = 1'280;
constexpr int64_t bytes_looked_through_a_unit = 4'096;
constexpr int64_t bytes_parsed_a_unit = 512;
constexpr size_t max_filtered_streams = 100;

// Which streams to search. More than max_filtered_streams of one prefix are found among all of the
// group's.
struct Selection {
  std::vector<EventMerge::Source> sources = {};
  std::string prefix = {};
};

base::Result<Selection> select(Context& context, const Group& group,
                               const api::logs::FilterLogEventsRequest& request) {
  Selection selection{.prefix = request.log_stream_name_prefix.value_or("")};
  if (request.log_stream_names.present()) {
    if (request.log_stream_names.empty() ||
        request.log_stream_names.size() > max_filtered_streams) {
      return invalid_parameter("logStreamNames takes 1 to 100 names.");
    }
    std::map<int64_t, EventMerge::Source> streams;  // A name may be given twice.
    for (const std::string& name : request.log_stream_names) {
      const Stream stream = TRY(existing_stream(context, group, std::optional(name)));
      streams[stream.id] = {.scope = Scope::Stream, .id = stream.id};
    }
    for (const auto& [id, source] : streams) selection.sources.push_back(source);
    return selection;
  }
  if (request.log_stream_name_prefix) {
    TRY_VOID(context.streams.visit_by_name(
        group.id, selection.prefix, Order::Ascending, std::nullopt, [&](const Stream& stream) {
          selection.sources.push_back({.scope = Scope::Stream, .id = stream.id});
          return selection.sources.size() <= max_filtered_streams;
        }));
    if (selection.sources.size() <= max_filtered_streams) return selection;
  }
  selection.sources = {{.scope = Scope::Group, .id = group.id}};
  return selection;
}

// Names by id, each read once a call. A deleted stream has an empty one.
class StreamNames {
 public:
  explicit StreamNames(Streams& streams) : streams_(streams) {}

  base::Result<std::string> of(int64_t id) {
    const auto known = names_.find(id);
    if (known != names_.end()) return known->second;
    const auto stream = TRY(streams_.find(id));
    return names_[id] = stream ? stream->name : "";
  }

 private:
  Streams& streams_;
  std::map<int64_t, std::string> names_;
};

base::Result<void> check(const api::logs::FilterLogEventsRequest& request) {
  TRY_VOID(check_time(request.start_time, "startTime"));
  TRY_VOID(check_time(request.end_time, "endTime"));
  if (request.log_stream_names.present() && request.log_stream_name_prefix) {
    return invalid_parameter(
        "logStreamNames and logStreamNamePrefix are mutually exclusive parameters.");
  }
  if (request.log_stream_name_prefix) {
    TRY_VOID(check_stream_name(*request.log_stream_name_prefix, "logStreamNamePrefix"));
  }
  return {};
}

base::Result<Range> range_of(const api::logs::FilterLogEventsRequest& request) {
  Range range;
  range.lower = {.timestamp = request.start_time.value_or(0), .id = 0};
  // Other than in GetLogEvents, events at endTime itself are included.
  if (request.end_time) {
    range.upper = {.timestamp = *request.end_time, .id = std::numeric_limits<int64_t>::max()};
  }
  if (!request.next_token) return range;
  const auto last = parse_event_id(*request.next_token);
  if (!last) return invalid_next_token();
  range.lower = std::max(range.lower, *last);
  return range;
}

// Fills one page.
class Search {
 public:
  Search(Context& context, FilterPattern pattern, std::string prefix)
      : context_(context),
        pattern_(std::move(pattern)),
        prefix_(std::move(prefix)),
        names_(context.streams) {
    response_.events.set_present();
    response_.searched_log_streams.set_present();
  }

  base::Result<api::logs::FilterLogEventsResponse> run(EventMerge& merge, int64_t limit) {
    const ReadField read_field = [this](std::string_view message, const std::string& path) {
      cost_ += 1 + std::ssize(message) / bytes_parsed_a_unit;
      return context_.json_fields.read(message, path);
    };
    std::optional<Position> last;
    while (true) {
      const auto key = TRY(merge.next());
      if (!key) return std::move(response_);
      const bool enough = std::ssize(response_.events) == limit || cost_ >= max_cost;
      if (enough || !TRY(look_at(*key, read_field))) {
        response_.next_token = event_id(*last);
        return std::move(response_);
      }
      last = key->position;
    }
  }

 private:
  // False when the event belongs to the result and the page is full.
  base::Result<bool> look_at(const EventKey& key, const ReadField& read_field) {
    ++cost_;
    const std::string name = TRY(names_.of(key.stream_id));
    if (name.empty() || !name.starts_with(prefix_)) return true;
    Event event = TRY(context_.events.read(key));
    const int64_t bytes = static_cast<int64_t>(event.message.size()) + event_overhead_bytes;
    cost_ += bytes / bytes_read_a_unit +
             static_cast<int64_t>(pattern_.terms()) * bytes / bytes_looked_through_a_unit;
    if (!TRY(pattern_.matches(event.message, read_field))) return true;
    if (page_bytes_ + bytes > max_page_bytes && !response_.events.empty()) return false;
    page_bytes_ += bytes;
    response_.events.push_back({.log_stream_name = name,
                                .timestamp = event.position.timestamp,
                                .message = std::move(event.message),
                                .ingestion_time = event.ingestion_time,
                                .event_id = event_id(event.position)});
    return true;
  }

  Context& context_;
  FilterPattern pattern_;
  std::string prefix_;
  StreamNames names_;
  api::logs::FilterLogEventsResponse response_;
  int64_t page_bytes_ = 0;
  int64_t cost_ = 0;
};

}  // namespace

base::Result<api::logs::FilterLogEventsResponse> filter_log_events(
    Context& context, const api::logs::FilterLogEventsRequest& request) {
  const int64_t limit = TRY(limit_or_max(request.limit, max_events_a_page));
  TRY_VOID(check(request));
  FilterPattern pattern = TRY(FilterPattern::parse(request.filter_pattern.value_or("")));
  const Range range = TRY(range_of(request));
  const Group group =
      TRY(existing_group(context, request.log_group_name, request.log_group_identifier));
  Selection selection = TRY(select(context, group, request));
  EventMerge merge(context.events, selection.sources, range);
  Search search(context, std::move(pattern), std::move(selection.prefix));
  return search.run(merge, limit);
}

}  // namespace logs
