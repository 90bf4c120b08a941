// The inside of Loop; for the files of net/ only.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "net/loop.h"

namespace net {

using SteadyTime = std::chrono::steady_clock::time_point;
using Executor = boost::asio::io_context::executor_type;
using SteadyTimer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

// Something that lives on one thread of the loop: a connection, a web socket, a listener. While it
// is registered the loop keeps it alive. Both calls come on that thread.
class Resident {
 public:
  virtual ~Resident() = default;
  // The loop or the owner stops: close everything now and unregister.
  virtual void on_stop() = 0;
  // From time to time, where the owner keeps a tick.
  virtual void on_tick(SteadyTime) {}
};

// One io_context per thread, so that whatever lives on a thread needs no lock and no strand.
// Members may be called from any thread where nothing else is said.
class LoopCore {
 public:
  explicit LoopCore(size_t threads);
  ~LoopCore();
  void stop();

  size_t threads() const { return threads_.size(); }
  // A thread for the next newcomer, in turn.
  size_t pick_thread() { return next_thread_.fetch_add(1) % threads_.size(); }
  bool on_thread(size_t thread) const;
  bool on_any_thread() const;

  // Runs `work` on that thread; work from one caller to one thread stays in order. False, with the
  // work dropped, once stop() has begun; what was taken before is run.
  bool post(size_t thread, Work work);
  // The same, but at once when the caller is on that thread.
  bool dispatch(size_t thread, Work work);
  // Runs `work` on that thread and waits for it; when the loop has stopped, only waits until no
  // thread is running any more. Not to be called on a thread of the loop.
  void run_and_wait(size_t thread, Work work);

  TimerId after(base::Milliseconds delay, Work work);
  void cancel(TimerId id);

  // Only on that thread:
  boost::asio::io_context& context(size_t thread) { return threads_[thread]->context; }
  // False when the loop is stopping: then the caller closes what it wanted to register.
  bool add_resident(size_t thread, const void* owner, std::shared_ptr<Resident> resident);
  void remove_resident(size_t thread, Resident* resident);
  void stop_residents(size_t thread, const void* owner);
  void tick_residents(size_t thread, const void* owner, SteadyTime now);

 private:
  // Makes the protected shutdown() callable: it destroys what still waits in the context.
  struct Context : boost::asio::io_context {
    Context() : boost::asio::io_context(1) {}
    using boost::asio::execution_context::shutdown;
  };
  struct Entry {
    const void* owner = nullptr;
    std::shared_ptr<Resident> resident;
  };
  struct Thread {
    Context context;
    std::unordered_map<Resident*, Entry> residents;
    std::unordered_map<uint64_t, std::unique_ptr<SteadyTimer>> timers;
    bool stopping = false;
    std::thread thread;
  };

  void start_timer(size_t thread, uint64_t id, SteadyTime due, Work work);

  std::vector<std::unique_ptr<Thread>> threads_;
  std::atomic<size_t> next_thread_{0};
  std::atomic<uint64_t> next_timer_{0};
  std::atomic<size_t> posting_{0};  // Callers inside of post(), for whom stop() waits.
  std::atomic<bool> stopping_{false};
  std::atomic<bool> stopped_{false};
};

}  // namespace net
