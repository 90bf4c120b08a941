// The one way threads talk: a bounded queue of values. No mutex stands anywhere else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace base {

// Many producers, many consumers, first in first out. After close() pushes are refused and pops
// drain what is left. Whoever has popped the last value may destroy the queue: its producer is told
// under the lock, and does not touch it any more.
template <class T>
class Queue {
 public:
  explicit Queue(size_t capacity) : capacity_(capacity) {}

  // False when the queue is full or closed; the value is untouched then. Never blocks.
  bool try_push(T&& value) {
    const std::lock_guard lock(mutex_);
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(value));
    not_empty_.notify_one();
    return true;
  }

  // Waits while the queue is full. False when it is closed.
  bool push(T value) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(value));
    not_empty_.notify_one();
    return true;
  }

  // Waits up to `timeout` for a first value, then takes up to `most` at once. Empty on time-out
  // or when closed and drained.
  std::vector<T> pop_batch(size_t most, std::chrono::milliseconds timeout) {
    std::vector<T> batch;
    std::unique_lock lock(mutex_);
    not_empty_.wait_for(lock, timeout, [this] { return closed_ || !items_.empty(); });
    while (!items_.empty() && batch.size() < most) {
      batch.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    if (!batch.empty()) not_full_.notify_all();
    return batch;
  }

  // Waits for one value. nullopt when closed and drained.
  std::optional<T> pop() {
    std::optional<T> value;
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    value.emplace(std::move(items_.front()));
    items_.pop_front();
    not_full_.notify_one();
    return value;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace base
