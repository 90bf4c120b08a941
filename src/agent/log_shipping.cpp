#include "agent/log_shipping.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "agent/docker_calls.h"
#include "agent/workers.h"
#include "api/generated/logs.h"
#include "base/hash.h"
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

struct TimedLine {
  LineMark mark;
  std::string text;
};

int64_t ms_of(const TimedLine& line) {
  return std::max<int64_t>(line.mark.time_ns / base::ns_per_ms, 0);  // A time has to be positive.
}

LogPosition starting_position(const LogShipping& shipping) {
  LogPosition position = shipping.position;
  if (position.runtime_id == shipping.request.runtime_id) return position;
  // Another container's lines continue the stream's numbers.
  return {.runtime_id = shipping.request.runtime_id, .next_event = position.next_event};
}

// Docker's log, read on from a line that is known; on the reader's thread.
class Reader {
 public:
  Reader(const LogShipping& shipping, std::optional<LineMark> known, base::Queue<TimedLine>& lines)
      : shipping_(shipping), known_(known), lines_(lines) {}

  // Into the queue until the container has ended. dockerd (20.10) ends a log that it follows too
  // early, and without an error, where the container ends while the reader is behind: what is
  // missing is read once the container has ended.
  docker::Result<void> read_all() {
    const bool lost = known_ && !TRY(search(Take::Nothing)).found;
    if (lost && !stopped()) lose_place();
    docker::LogsRequest followed = whole_log();
    followed.follow = true;
    TRY(read(followed, Take::Rest));
    Reading rest;
    do {
      if (stopped()) return {};
      rest = TRY(search(Take::Rest));
      if (!rest.found && !stopped()) {
        lose_place();
        rest = TRY(read(whole_log(), Take::Rest));
      }
    } while (rest.come > 0);
    return {};
  }

 private:
  enum class Take : uint8_t { Nothing, Rest };
  struct Reading {
    bool found = false;  // The known line.
    size_t come = 0;     // Lines behind it.
  };

  bool stopped() const { return shipping_.stop.stop_requested(); }

  // Docker has dropped the known line: all that it still has came later.
  void lose_place() {
    known_.reset();
    base::log_warning(
        "Docker has dropped output of container {} of task {} before it was delivered: it keeps "
        "500 MB of a container's output.",
        shipping_.request.container_name, shipping_.request.task_arn);
  }

  // Looks for the known line from the end of the log, where it most often is.
  docker::Result<Reading> search(Take take) {
    for (const int64_t tail : {1'000, 16'000, 256'000}) {
      if (!known_) break;
      docker::LogsRequest end = whole_log();
      end.tail = tail;
      const Reading reading = TRY(read(end, take));
      if (reading.found || stopped()) return reading;
    }
    return read(whole_log(), take);
  }

  docker::LogsRequest whole_log() const {
    return {.id = shipping_.request.runtime_id, .stop = shipping_.stop};
  }

  docker::Result<Reading> read(const docker::LogsRequest& request, Take take) {
    Reading reading{.found = !known_};
    TRY_VOID(shipping_.streams.logs(request, [&](docker::LogLine&& line) {
      if (!reading.found) {
        reading.found = is_known(line);
        return !reading.found || take == Take::Rest;
      }
      known_ = LineMark{.time_ns = line.time_ns, .hash = base::fnv1a(line.bytes)};
      if (line.bytes.empty()) return true;
      ++reading.come;
      return lines_.push({*known_, json::valid_utf8(std::move(line.bytes))});
    }));
    return reading;
  }

  bool is_known(const docker::LogLine& line) const {
    if (line.time_ns != known_->time_ns) return false;
    return !known_->hash || *known_->hash == base::fnv1a(line.bytes);
  }

  const LogShipping& shipping_;
  std::optional<LineMark> known_;  // The last line that was read; absent before the first.
  base::Queue<TimedLine>& lines_;
};

class Shipper {
 public:
  explicit Shipper(const LogShipping& shipping)
      : shipping_(shipping),
        place_(starting_position(shipping)),
        numbered_(!shipping.request.options.contains("awslogs-stream")) {}

  core::OperationResult run() {
    docker::Result<void> read;
    std::jthread reader([this, &read, known = place_.last] {
      read = Reader(shipping_, known, lines_).read_all();
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
      const size_t count = batch_size();
      std::vector<api::logs::InputLogEvent> events(count);
      int64_t newest_ms = 0;  // PutLogEvents wants a request's events in the order of their times.
      for (size_t i = 0; i < count; ++i) {
        newest_ms = std::max(newest_ms, ms_of(pending_[i]));
        events[i].timestamp = newest_ms;
        events[i].message = std::move(pending_[i].text);
      }
      if (!put(events, place_.next_event)) return false;
      place_.next_event += static_cast<int64_t>(count);
      place_.last = pending_[count - 1].mark;
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
      shipping_.moved(place_);
    }
    return true;
  }

  // How many of the pending lines go into one request: at least one.
  size_t batch_size() const {
    size_t count = 0;
    size_t bytes = 0;
    const int64_t first_ms = ms_of(pending_.front());
    while (count < pending_.size() && count < most_batch_events) {
      const TimedLine& line = pending_[count];
      bytes += line.text.size() + event_overhead;
      const bool fits = bytes <= most_batch_bytes && ms_of(line) - first_ms <= most_span_ms;
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
  LogPosition place_;
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
