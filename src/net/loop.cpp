#include "net/loop.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <latch>
#include <utility>

#include "base/result.h"
#include "net/loop_core.h"

namespace net {
namespace {

// Counts down when it is destroyed, run or not.
class Signal {
 public:
  explicit Signal(std::shared_ptr<std::latch> latch) : latch_(std::move(latch)) {}
  Signal(Signal&&) = default;
  Signal& operator=(Signal&&) = delete;
  ~Signal() {
    if (latch_ != nullptr) latch_->count_down();
  }

 private:
  std::shared_ptr<std::latch> latch_;  // Shared with the one who waits.
};

}  // namespace

LoopCore::LoopCore(size_t threads) {
  CHECK(threads > 0);
  for (size_t i = 0; i < threads; ++i) threads_.push_back(std::make_unique<Thread>());
  for (const auto& thread : threads_) {
    thread->thread = std::thread([context = &thread->context] {
      const auto guard = boost::asio::make_work_guard(*context);
      context->run();
    });
  }
}

LoopCore::~LoopCore() {
  CHECK(stopped_);
}

void LoopCore::stop() {
  CHECK(!on_any_thread());
  if (stopping_.exchange(true)) {
    stopped_.wait(false);
    return;
  }
  while (posting_ != 0) std::this_thread::yield();
  for (size_t i = 0; i < threads_.size(); ++i) {
    boost::asio::post(threads_[i]->context, [this, i] {
      threads_[i]->stopping = true;
      stop_residents(i, nullptr);
      threads_[i]->timers.clear();
      // What this very thread posted just before may still stand behind us in the queue.
      boost::asio::post(threads_[i]->context, [this, i] { threads_[i]->context.stop(); });
    });
  }
  for (const auto& thread : threads_) thread->thread.join();
  // Only now: what is destroyed here may hold things that live on another thread.
  for (const auto& thread : threads_) thread->context.shutdown();
  stopped_ = true;
  stopped_.notify_all();
}

bool LoopCore::on_thread(size_t thread) const {
  return threads_[thread]->context.get_executor().running_in_this_thread();
}

bool LoopCore::on_any_thread() const {
  for (size_t i = 0; i < threads_.size(); ++i) {
    if (on_thread(i)) return true;
  }
  return false;
}

bool LoopCore::post(size_t thread, Work work) {
  posting_.fetch_add(1);
  const bool taken = !stopping_;
  if (taken) boost::asio::post(threads_[thread]->context, std::move(work));
  posting_.fetch_sub(1);
  return taken;
}

bool LoopCore::dispatch(size_t thread, Work work) {
  if (!on_thread(thread)) return post(thread, std::move(work));
  work();
  return true;
}

void LoopCore::run_and_wait(size_t thread, Work work) {
  CHECK(!on_any_thread());
  const auto latch = std::make_shared<std::latch>(1);
  if (post(thread, [signal = Signal(latch), run = std::move(work)]() mutable { run(); })) {
    latch->wait();
  } else {
    stopped_.wait(false);
  }
}

TimerId LoopCore::after(base::Milliseconds delay, Work work) {
  const uint64_t id = next_timer_.fetch_add(1);
  const size_t thread = id % threads_.size();
  const SteadyTime due = std::chrono::steady_clock::now() + delay;
  post(thread, [this, thread, id, due, run = std::move(work)]() mutable {
    start_timer(thread, id, due, std::move(run));
  });
  return TimerId{id};
}

void LoopCore::start_timer(size_t thread, uint64_t id, SteadyTime due, Work work) {
  if (threads_[thread]->stopping) return;
  auto timer = std::make_unique<SteadyTimer>(context(thread).get_executor(), due);
  timer->async_wait(
      [this, thread, id, run = std::move(work)](const boost::system::error_code& error) mutable {
        // Cancelled in the moment in which it was due: no longer in the table.
        if (error || threads_[thread]->timers.erase(id) == 0) return;
        run();
      });
  threads_[thread]->timers.emplace(id, std::move(timer));
}

void LoopCore::cancel(TimerId id) {
  const auto number = static_cast<uint64_t>(id);
  const size_t thread = number % threads_.size();
  // Behind the after() that made it, which went the same way.
  post(thread, [this, thread, number] { threads_[thread]->timers.erase(number); });
}

bool LoopCore::add_resident(size_t thread, const void* owner, std::shared_ptr<Resident> resident) {
  if (threads_[thread]->stopping) return false;
  Resident* key = resident.get();
  threads_[thread]->residents.emplace(key, Entry{owner, std::move(resident)});
  return true;
}

void LoopCore::remove_resident(size_t thread, Resident* resident) {
  threads_[thread]->residents.erase(resident);
}

void LoopCore::stop_residents(size_t thread, const void* owner) {
  std::vector<std::shared_ptr<Resident>> found;
  for (const auto& [key, entry] : threads_[thread]->residents) {
    if (owner == nullptr || entry.owner == owner) found.push_back(entry.resident);
  }
  for (const auto& resident : found) resident->on_stop();
}

void LoopCore::tick_residents(size_t thread, const void* owner, SteadyTime now) {
  std::vector<std::shared_ptr<Resident>> found;
  for (const auto& [key, entry] : threads_[thread]->residents) {
    if (entry.owner == owner) found.push_back(entry.resident);
  }
  for (const auto& resident : found) resident->on_tick(now);
}

Loop::Loop(int threads) : core_(std::make_shared<LoopCore>(static_cast<size_t>(threads))) {}
Loop::~Loop() {
  stop();
}

bool Loop::post(Work work) {
  return core_->post(core_->pick_thread(), std::move(work));
}
TimerId Loop::after(base::Milliseconds delay, Work work) {
  return core_->after(delay, std::move(work));
}
void Loop::cancel(TimerId id) {
  core_->cancel(id);
}
void Loop::stop() {
  core_->stop();
}

}  // namespace net
