// The threads that all asynchronous input and output of the process runs on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.h"

namespace net {

class LoopCore;

enum class TimerId : uint64_t {};

using Work = std::move_only_function<void()>;

// A fixed set of threads, each with its own queue of work. Work must be short and must not throw:
// whatever blocks goes to a thread of its own. Every member may be called from any thread, except
// where said otherwise. Servers, clients and web sockets made from a loop may outlive it: after
// stop() they are closed and do nothing.
class Loop {
 public:
  explicit Loop(int threads);
  ~Loop();  // Does stop().
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs `work` soon on one of the threads. Work posted by one thread is spread over all threads
  // and therefore in no particular order; with Loop(1) it is first in, first out. False, with the
  // work dropped, once stop() has begun.
  bool post(Work work);

  // Runs `work` once after `delay` on a thread of the loop. Never runs after stop().
  TimerId after(base::Milliseconds delay, Work work);
  // Best effort: a timer that is due at this moment may still run. Unknown ids are ignored.
  void cancel(TimerId id);

  // Runs what was posted before, closes every server, connection and web socket of this loop (their
  // on_close and done handlers run), drops the timers and joins the threads. Not to be called on
  // a thread of the loop. The second call does nothing.
  void stop();

  // For the other files of net/.
  const std::shared_ptr<LoopCore>& core() const { return core_; }

 private:
  std::shared_ptr<LoopCore> core_;  // Shared with what was made from the loop and outlives it.
};

}  // namespace net
