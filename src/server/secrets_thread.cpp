#include "server/secrets_thread.h"

#include "base/log.h"
#include "server/thread_waits.h"

namespace server {

SecretsThread::SecretsThread(std::unique_ptr<secrets::Service> service, base::Clock& clock)
    : service_(std::move(service)),
      clock_(clock),
      next_sweep_(clock.now()),
      thread_([this] { run(); }) {}

SecretsThread::~SecretsThread() {
  stop();
}

void SecretsThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void SecretsThread::sweep_when_due() {
  const base::Time now = clock_.now();
  if (now < next_sweep_) return;
  next_sweep_ = now + sweep_interval;
  const auto swept = service_->sweep(now);
  if (!swept) {
    base::log_error("secrets to be deleted could not be removed: {}", swept.error().message);
  }
}

void SecretsThread::run() {
  while (true) {
    auto works = queue_.pop_batch(most_per_batch, longest_wait);
    if (works.empty() && queue_.closed()) return;
    for (SecretsWork& work : works) {
      work.answered(service_->handle(
          {work.service, work.operation, &work.input, std::move(work.reach)}, clock_.now()));
    }
    sweep_when_due();
  }
}

}  // namespace server
