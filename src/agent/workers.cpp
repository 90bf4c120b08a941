#include "agent/workers.h"

#include <utility>
#include <variant>

namespace agent {

void Workers::post(Work work) {
  if (stopping_) return;
  const size_t outstanding = ++outstanding_;
  queue_.push(std::move(work));
  if (outstanding > threads_.size() && threads_.size() < most_) {
    threads_.emplace_back([this] { run(); });
  }
}

void Workers::run() {
  while (std::optional<Work> work = queue_.pop()) {
    if (!stopping_) (*work)();
    work.reset();  // What it holds goes before it counts as done.
    --outstanding_;
  }
}

void Workers::stop() {
  stopping_ = true;
  queue_.close();
  threads_.clear();
}

bool pause(const std::stop_token& stop, base::Milliseconds time) {
  base::Queue<std::monostate> never(1);
  const std::stop_callback wake(stop, [&never] { never.close(); });
  never.pop_batch(1, time);
  return !stop.stop_requested();
}

}  // namespace agent
