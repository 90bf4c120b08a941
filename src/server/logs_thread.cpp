#include "server/logs_thread.h"

#include <vector>

#include "base/log.h"
#include "server/thread_waits.h"

namespace server {

LogsThread::LogsThread(std::unique_ptr<logs::Service> service, base::Clock& clock)
    : service_(std::move(service)),
      clock_(clock),
      next_sweep_(clock.now()),
      thread_([this] { run(); }) {}

LogsThread::~LogsThread() {
  stop();
}

void LogsThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void LogsThread::sweep_when_due() {
  const base::Time now = clock_.now();
  if (now < next_sweep_) return;
  const auto more = service_->sweep(now);
  if (!more) {
    base::log_error("log events that expired could not be removed: {}", more.error().message);
  }
  next_sweep_ = now + (more && *more ? base::Milliseconds{0} : sweep_interval);
}

void LogsThread::run() {
  while (true) {
    auto works = queue_.pop_batch(most_per_batch, longest_wait);
    if (works.empty() && queue_.closed()) return;
    std::vector<logs::Call> calls;
    calls.reserve(works.size());
    for (const LogsWork& work : works) calls.push_back({work.operation, &work.input});
    auto answers = service_->handle_batch(calls, clock_.now());
    for (size_t i = 0; i < works.size(); ++i) works[i].answered(std::move(answers[i]));
    sweep_when_due();
  }
}

}  // namespace server
