#include "exec/log.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace exec {
namespace {

const api::Operation* logs_operation(std::string_view name) {
  return api::find(api::logs_service(), name);
}

// The call may go better later; every other error is of the call itself.
bool may_pass(const base::Error& error) {
  return error.code == "ServiceUnavailableException" || error.code == "ThrottlingException";
}

}  // namespace

Log::Log(std::string group, Beginning beginning, bool terminal, base::Time now)
    : group_(std::move(group)),
      session_(beginning.session),
      transcript_(std::move(beginning), terminal, now),
      retry_at_(now) {}

void Log::output(acs::ExecKind kind, std::string_view bytes, size_t room, base::Time now) {
  // A gap goes on until there is room again for more than a moment.
  const size_t most = transcript_.in_gap() ? most_kept_bytes / 2 : most_kept_bytes;
  const size_t own = most - std::min(kept_bytes(), most);
  transcript_.output(kind, bytes, std::min(room, own), now);
}

void Log::end_with_exit_code(std::string_view code, base::Time now) {
  transcript_.end_with_exit_code(code, now);
  ended_at_ = ended_at_.value_or(now);
}

void Log::end_without(std::string_view why, base::Time now) {
  transcript_.end_without(why, now);
  ended_at_ = ended_at_.value_or(now);
}

bool Log::is_due(base::Time now) const {
  const auto oldest = transcript_.oldest();
  if (!oldest) return false;
  const bool first = position_ == 0;  // That a session has begun is told at once.
  return first || transcript_.ended() || transcript_.kept_bytes() >= batch_bytes ||
         *oldest + longest_wait <= now;
}

void Log::take_batch() {
  const size_t before = transcript_.kept_bytes();
  batch_ = transcript_.take(batch_bytes, batch_events);
  batch_kept_bytes_ = before - transcript_.kept_bytes();
}

LogCall Log::make_stream() const {
  api::logs::CreateLogStreamRequest request;
  request.log_group_name = group_;
  request.log_stream_name = session_;
  return {logs_operation("CreateLogStream"), api::Any::make(std::move(request))};
}

LogCall Log::put_batch() const {
  api::logs::PutLogEventsRequest request;
  request.log_group_name = group_;
  request.log_stream_name = session_;
  request.log_events.assign(batch_.begin(), batch_.end());
  request.berth_position = position_;
  return {logs_operation("PutLogEvents"), api::Any::make(std::move(request))};
}

std::optional<LogCall> Log::next(base::Time now) {
  if (stage_ == Stage::GivenUp || under_way_ || now < retry_at_) return std::nullopt;
  if (trouble_ && ended_at_ && *ended_at_ + patience <= now) {
    give_up("The log store did not take the rest within a minute of the session's end.");
    return std::nullopt;
  }
  if (stage_ == Stage::Unmade) {
    under_way_ = true;
    return make_stream();
  }
  if (batch_.empty()) {
    transcript_.tick(now);
    if (!is_due(now)) return std::nullopt;
    take_batch();
  }
  under_way_ = true;
  return put_batch();
}

void Log::answered(const base::Result<void>& answer, base::Time now) {
  under_way_ = false;
  const bool made = answer || (stage_ == Stage::Unmade &&
                               answer.error().code == "ResourceAlreadyExistsException");
  if (made) {
    trouble_ = false;
    if (std::exchange(stage_, Stage::Writing) == Stage::Unmade) return;
    position_ += std::ssize(batch_);
    batch_.clear();
    batch_kept_bytes_ = 0;
    return;
  }
  const base::Error& error = answer.error();
  if (may_pass(error)) return fail_for_now(error, now);
  if (stage_ == Stage::Unmade || error.code == "ResourceNotFoundException") {
    return give_up(error.message);
  }
  // Some event of the batch is not acceptable: it must not hold up the rest.
  size_t bytes = 0;
  for (const auto& event : batch_) bytes += event.message->size();
  transcript_.lose(bytes, error.message);
  batch_.clear();
  batch_kept_bytes_ = 0;
}

void Log::fail_for_now(const base::Error& error, base::Time now) {
  trouble_ = true;
  retry_at_ = now + retry_after;
  if (std::exchange(complained_, true)) return;
  complaint_ = base::format(
      "The session {} of ExecuteCommand is not logged in the log group {} for now, and goes on: {}",
      session_, group_, error.message);
}

void Log::give_up(std::string_view why) {
  const bool begun = std::exchange(stage_, Stage::GivenUp) == Stage::Writing;
  trouble_ = true;
  complaint_ = base::format("The session {} of ExecuteCommand is {} in the log group {}: {}",
                            session_, begun ? "logged no further" : "not logged", group_, why);
  batch_.clear();
  batch_kept_bytes_ = 0;
  transcript_.forget();
}

std::vector<LogCall> Log::rest() {
  std::vector<LogCall> calls;
  if (stage_ == Stage::GivenUp) return calls;
  if (stage_ == Stage::Unmade && !under_way_) calls.push_back(make_stream());
  if (stage_ == Stage::Writing && !batch_.empty() && !under_way_) calls.push_back(put_batch());
  while (true) {
    position_ += std::ssize(batch_);
    take_batch();
    if (batch_.empty()) return calls;
    calls.push_back(put_batch());
  }
}

base::Time Log::next_due() const {
  if (stage_ == Stage::GivenUp || under_way_) return base::Time::max();
  if (stage_ == Stage::Unmade || !batch_.empty()) return retry_at_;
  base::Time due = transcript_.next_due().value_or(base::Time::max());
  if (const auto oldest = transcript_.oldest()) due = std::min(due, *oldest + longest_wait);
  return std::max(due, retry_at_);
}

std::optional<std::string> Log::take_complaint() {
  return std::exchange(complaint_, std::nullopt);
}

bool Log::settled() const {
  if (stage_ == Stage::GivenUp) return ended_at_.has_value();
  return ended_at_ && stage_ == Stage::Writing && !under_way_ && batch_.empty() &&
         transcript_.empty();
}

}  // namespace exec
