#include "agent/log_shipping.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "agent/docker_calls.h"
#include "agent/workers.h"
#include "api/generated/logs.h"
#include "base/format.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/units.h"
#include "json/utf8.h"

namespace agent {
namespace {

// Half of what PutLogEvents takes: as JSON a text may be six times as long, and a body is limited
// too. Source: CloudWatch Logs API reference, PutLogEvents.
constexpr size_t most_batch_bytes = size_t{512} << 10;
constexpr size_t most_batch_events = 10'000;
constexpr size_t event_overhead = 26;
constexpr int64_t most_span_ms = int64_t{23} * 60 * 60 * 1000;
// How long the first line of a batch waits for more.
constexpr base::Milliseconds linger{100};
constexpr base::Milliseconds retry_min{100};
constexpr base::Milliseconds retry_max{10'000};
constexpr size_t lines_in_memory = 256;
// Docker's lines are in order but for stdout and stderr passing each other, by far less than this.
constexpr int64_t disorder_s = 60;
constexpr int64_t ns_per_s = 1'000'000'000;

struct TimedLine {
  int64_t time_ns = 0;
  std::string text;
  bool delivered = false;  // Before; only counted.
};

// Counts delivered events by the second of their time, to find the place again.
class Place {
 public:
  explicit Place(LogPosition position) : position_(std::move(position)) {}

  void count(const TimedLine& line) {
    position_.newest_ns = std::max(position_.newest_ns, line.time_ns);
    ++seconds_[line.time_ns / ns_per_s];
    if (!line.delivered) ++position_.next_event;
  }

  const LogPosition& position() {
    const int64_t since_s = position_.newest_ns / ns_per_s - disorder_s;
    position_.since_ns = std::max(position_.since_ns, since_s * ns_per_s);
    seconds_.erase(seconds_.begin(), seconds_.lower_bound(position_.since_ns / ns_per_s));
    position_.since_count = 0;
    for (const auto& [second, count] : seconds_) position_.since_count += count;
    return position_;
  }
  int64_t next_event() const { return position_.next_event; }

 private:
  LogPosition position_;
  std::map<int64_t, int64_t> seconds_;
};

LogPosition starting_position(const LogShipping& shipping) {
  LogPosition position = shipping.position;
  if (position.runtime_id == shipping.request.runtime_id) return position;
  // Another container's lines continue the stream's numbers.
  return {.runtime_id = shipping.request.runtime_id, .next_event = position.next_event};
}

class Shipper {
 public:
  explicit Shipper(const LogShipping& shipping)
      : shipping_(shipping),
        start_(starting_position(shipping)),
        place_(start_),
        newest_ms_(start_.newest_ns / base::ns_per_ms),
        numbered_(!shipping.request.options.contains("awslogs-stream")) {}

  core::OperationResult run() {
    docker::Result<void> read;
    std::jthread reader([this, &read] {
      read = read_all();
      lines_.close();
    });
    const bool all = deliver_all();
    if (!all) lines_.close();  // The reader must not wait for room.
    reader.join();
    if (!all) {
      return std::unexpected(core::OperationError{core::Cause::Cancelled, "Cancelled",
                                                  "the shipping of the output was ended"});
    }
    if (!read) return std::unexpected(read.error());
    return core::Done{};
  }

 private:
  // Reads Docker's lines into the queue, all of them; on the reader's thread. dockerd (20.10) ends
  // a log that it follows too early, and without an error, where the container ends while the
  // reader is behind: what is missing is read once the container has ended.
  docker::Result<void> read_all() {
    Place read(start_);
    size_t come = TRY(read_from(start_, true, read));
    do {
      if (shipping_.stop.stop_requested()) return {};
      come = TRY(read_from(read.position(), false, read));
    } while (come > 0);
    return {};
  }

  // Reads on behind the lines that are known by their position, and counts in `read`. How many new
  // ones came.
  docker::Result<size_t> read_from(LogPosition from, bool follow, Place& read) {
    int64_t to_skip = from.since_count;
    size_t come = 0;
    docker::LogsRequest request{
        .id = shipping_.request.runtime_id, .follow = follow, .stop = shipping_.stop};
    if (from.since_ns > 0) request.since_ns = from.since_ns;
    TRY_VOID(shipping_.streams.logs(request, [&](docker::LogLine&& line) {
      if (line.bytes.empty()) return true;
      // Where Docker has dropped lines that are known, the next newer one ends the skipping.
      const bool known = to_skip > 0 && line.time_ns <= from.newest_ns;
      to_skip = known ? to_skip - 1 : 0;
      if (known && !follow) return true;  // Is in the queue, or was.
      TimedLine next{line.time_ns, known ? std::string() : json::valid_utf8(std::move(line.bytes)),
                     known};
      read.count(next);
      come += known ? 0 : 1;
      return lines_.push(std::move(next));
    }));
    return come;
  }

  // False: stopped before the end.
  bool deliver_all() {
    while (std::optional<TimedLine> first = lines_.pop()) {
      pending_.push_back(std::move(*first));
      size_t bytes = pending_.back().text.size();
      const base::Milliseconds deadline = shipping_.clock.monotonic() + linger;
      while (bytes < most_batch_bytes && pending_.size() < most_batch_events) {
        const base::Milliseconds left = deadline - shipping_.clock.monotonic();
        if (left.count() <= 0) break;
        std::vector<TimedLine> more = lines_.pop_batch(lines_in_memory, left);
        if (more.empty()) break;
        for (TimedLine& line : more) {
          bytes += line.text.size();
          pending_.push_back(std::move(line));
        }
      }
      if (!deliver_pending()) return false;
    }
    return !shipping_.stop.stop_requested();
  }

  bool deliver_pending() {
    while (!pending_.empty()) {
      if (pending_.front().delivered) {
        place_.count(pending_.front());
        pending_.pop_front();
        continue;
      }
      const size_t count = batch_size();
      std::vector<api::logs::InputLogEvent> events(count);
      for (size_t i = 0; i < count; ++i) {
        newest_ms_ = std::max(newest_ms_, pending_[i].time_ns / base::ns_per_ms);
        events[i].timestamp = newest_ms_;
        events[i].message = std::move(pending_[i].text);
      }
      if (!put(events, place_.next_event())) return false;
      for (size_t i = 0; i < count; ++i) place_.count(pending_[i]);
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
      shipping_.moved(place_.position());
    }
    return true;
  }

  // How many of the pending lines go into one request: at least one.
  size_t batch_size() const {
    size_t count = 0;
    size_t bytes = 0;
    const int64_t first_ms = std::max(newest_ms_, pending_.front().time_ns / base::ns_per_ms);
    while (count < pending_.size() && count < most_batch_events) {
      const TimedLine& line = pending_[count];
      bytes += line.text.size() + event_overhead;
      const bool fits = bytes <= most_batch_bytes &&
                        line.time_ns / base::ns_per_ms - first_ms <= most_span_ms &&
                        !line.delivered;
      if (count > 0 && !fits) break;
      ++count;
    }
    return count;
  }

  // Until the service has taken them. False: stopped.
  bool put(std::span<api::logs::InputLogEvent> events, int64_t number) {
    api::logs::PutLogEventsRequest request;
    request.log_group_name = shipping_.request.group;
    request.log_stream_name = shipping_.request.stream;
    request.log_events.assign(events.begin(), events.end());
    if (numbered_) request.berth_position = number;
    base::Milliseconds wait = retry_min;
    while (!shipping_.stop.stop_requested()) {
      const auto answer = shipping_.api.call<api::logs::PutLogEventsResponse>(
          api::logs_service(), "PutLogEvents", request, {.repeatable = numbered_});
      if (answer) {
        tell_rejected(*answer);
        return true;
      }
      const ApiError& error = answer.error();
      if (error.code == "InvalidParameterException") return put_one_by_one(events, number, error);
      if (error.code == "ResourceNotFoundException" &&
          make_log_stream(shipping_.api, shipping_.request)) {
        continue;
      }
      if (wait > retry_min) tell_trouble(error);  // A first failure may be a passing one.
      if (!pause(shipping_.stop, wait)) return false;
      wait = std::min(wait * 2, retry_max);
    }
    return false;
  }

  // One of them is not acceptable: it must not hold up the rest.
  bool put_one_by_one(std::span<api::logs::InputLogEvent> events, int64_t number,
                      const ApiError& error) {
    if (events.size() == 1) {
      base::log_warning("An output line of container {} of task {} is dropped: {}",
                        shipping_.request.container_name, shipping_.request.task_arn,
                        error.message);
      return true;
    }
    for (size_t i = 0; i < events.size(); ++i) {
      if (!put(events.subspan(i, 1), number + static_cast<int64_t>(i))) return false;
    }
    return true;
  }

  void tell_rejected(const api::logs::PutLogEventsResponse& answer) {
    if (!answer.rejected_log_events_info) return;
    base::log_warning(
        "Output of container {} of task {} is too old or too new for log group {} and was not "
        "kept.",
        shipping_.request.container_name, shipping_.request.task_arn, shipping_.request.group);
  }

  // Once for each kind of trouble, not at every try.
  void tell_trouble(const ApiError& error) {
    if (error.code == last_trouble_) return;
    last_trouble_ = error.code;
    base::log_warning("The output of container {} of task {} is not delivered yet: {}: {}",
                      shipping_.request.container_name, shipping_.request.task_arn, error.code,
                      error.message);
  }

  const LogShipping& shipping_;
  const LogPosition start_;
  Place place_;
  int64_t newest_ms_;
  const bool numbered_;  // The stream is this container's alone.
  base::Queue<TimedLine> lines_{lines_in_memory};
  std::deque<TimedLine> pending_;
  std::string last_trouble_;
};

}  // namespace

ApiResult<void> make_log_stream(ApiClient& api, const core::ShipLogs& request) {
  const auto make_stream = [&]() -> ApiResult<void> {
    api::logs::CreateLogStreamRequest stream;
    stream.log_group_name = request.group;
    stream.log_stream_name = request.stream;
    const auto made = api.call<api::logs::CreateLogStreamResponse>(api::logs_service(),
                                                                   "CreateLogStream", stream);
    if (made || made.error().code == "ResourceAlreadyExistsException") return {};
    return std::unexpected(made.error());
  };
  const ApiResult<void> made = make_stream();
  if (made || !request.create_group || made.error().code != "ResourceNotFoundException") {
    return made;
  }
  api::logs::CreateLogGroupRequest group;
  group.log_group_name = request.group;
  const auto group_made =
      api.call<api::logs::CreateLogGroupResponse>(api::logs_service(), "CreateLogGroup", group);
  if (!group_made && group_made.error().code != "ResourceAlreadyExistsException") {
    return std::unexpected(group_made.error());
  }
  return make_stream();
}

core::OperationResult ship_logs(const LogShipping& shipping) {
  return Shipper(shipping).run();
}

}  // namespace agent
