#include "acs/exec_link.h"

#include <utility>

#include "acs/exec.h"
#include "base/format.h"
#include "base/text.h"

namespace acs {
namespace {

// How much is taken before the far end is told: it keeps as much.
constexpr uint64_t most_untold = 64;
constexpr size_t most_untold_bytes = exec_window / 4;
constexpr size_t overhead = 64;  // What an empty message takes, about.

bool is_last(ExecKind kind) {
  return kind == ExecKind::ExitCode || kind == ExecKind::Failure;
}

}  // namespace

const std::string& ExecLink::send(std::string message) {
  kept_bytes_ += message.size() + overhead;
  kept_.push_back(std::move(message));
  return kept_.back();
}

bool ExecLink::drop_taken(uint64_t taken_by_far_end) {
  if (taken_by_far_end < dropped_ || taken_by_far_end - dropped_ > kept_.size()) return false;
  for (; dropped_ < taken_by_far_end; ++dropped_) {
    kept_bytes_ -= kept_.front().size() + overhead;
    kept_.pop_front();
  }
  return true;
}

std::optional<std::vector<std::string>> ExecLink::resume(uint64_t taken_by_client) {
  if (!drop_taken(taken_by_client)) return std::nullopt;
  return std::vector<std::string>(kept_.begin(), kept_.end());
}

std::string ExecLink::taken_message() const {
  return encode_exec(ExecKind::Taken, base::format("{}", taken_));
}

ExecLink::Received ExecLink::receive(std::string_view message) {
  Received received;
  const auto read = decode_exec(message);
  if (read && read->kind == ExecKind::Taken) {
    const auto count = base::parse_number<uint64_t>(read->bytes);
    received.broken = !count || !drop_taken(*count);
    if (!received.broken && std::exchange(waits_for_count_, false)) {
      received.answers.assign(kept_.begin(), kept_.end());
    }
    return received;
  }
  if (waits_for_count_) {
    received.broken = true;
    return received;
  }
  ++taken_;
  untold_bytes_ += message.size();
  received.for_caller = true;
  if (taken_ - told_ >= most_untold || untold_bytes_ >= most_untold_bytes ||
      (read && is_last(read->kind))) {
    told_ = taken_;
    untold_bytes_ = 0;
    received.answers.push_back(taken_message());
  }
  return received;
}

}  // namespace acs
