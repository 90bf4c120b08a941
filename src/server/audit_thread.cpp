#include "server/audit_thread.h"

#include <utility>
#include <vector>

#include "base/log.h"
#include "server/thread_waits.h"

namespace server {
namespace {

constexpr size_t most_lines_at_once = 1'000;
constexpr base::Milliseconds between_notices{60'000};

}  // namespace

AuditThread::AuditThread(AuditLog log, size_t capacity, base::Clock& clock)
    : log_(std::move(log)),
      clock_(clock),
      queue_(capacity),
      left_out_due_(clock.monotonic() + between_notices),
      failure_told_(clock.monotonic() - between_notices),
      thread_([this] { run(); }) {}

AuditThread::~AuditThread() {
  stop();
}

void AuditThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void AuditThread::record(AuditWork work) {
  const bool refused = !work.result && is_refusal(work.result.error());
  const bool taken =
      pace_.pass(work.call, refused, clock_.monotonic()) && queue_.try_push(std::move(work));
  // NOLINTNEXTLINE(bugprone-use-after-move): the queue takes nothing where it says no.
  if (!taken && work.answered) work.answered(std::move(work.result));
}

void AuditThread::write(const std::string& lines, uint64_t count) {
  const auto written = log_.append(lines, count, clock_.now());
  if (written || clock_.monotonic() - failure_told_ < between_notices) return;
  failure_told_ = clock_.monotonic();
  base::log_error("{} Calls go on without it; {} lines are missing so far. Make room on its disk.",
                  written.error().message, log_.not_written());
}

void AuditThread::tell_of_left_out() {
  left_out_due_ = clock_.monotonic() + between_notices;
  const LeftOut left_out = pace_.take_left_out();
  if (left_out.any()) write(left_out_line(clock_.now(), left_out), 1);
}

void AuditThread::run() {
  while (true) {
    std::vector<AuditWork> works = queue_.pop_batch(most_lines_at_once, longest_wait);
    const bool over = works.empty() && queue_.closed();
    if (over || clock_.monotonic() >= left_out_due_) tell_of_left_out();
    if (over) return;
    if (works.empty()) continue;
    std::string lines;
    for (const AuditWork& work : works) lines += audit_line(work.call, work.result);
    write(lines, works.size());
    for (AuditWork& work : works) {
      if (work.answered) work.answered(std::move(work.result));
    }
  }
}

}  // namespace server
