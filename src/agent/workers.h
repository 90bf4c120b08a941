// Threads for calls that block.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/queue.h"
#include "base/time.h"

namespace agent {

using Work = std::move_only_function<void()>;

// Runs each piece of work on a thread of its own, as long as there are fewer than `most` under way;
// threads are kept for the next. post() and stop() belong to one thread at a time.
class Workers {
 public:
  explicit Workers(size_t most) : most_(most) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Dropped after stop().
  void post(Work work);
  // Drops what has not begun and waits for what has.
  void stop();

 private:
  void run();

  const size_t most_;
  base::Queue<Work> queue_{size_t{1} << 20};
  std::atomic<size_t> outstanding_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::jthread> threads_;  // Last: joined before the rest goes.
};

// Waits; false, at once, when the token fires.
bool pause(const std::stop_token& stop, base::Milliseconds time);

}  // namespace agent
