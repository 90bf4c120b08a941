// The one thread that owns the driver and so the cluster's state: takes what the I/O threads hand
// it, runs turns, and gives the answers and messages back to them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/onward_clock.h"
#include "base/queue.h"
#include "base/time.h"
#include "control/step/input.h"
#include "driver/driver.h"
#include "exec/plan.h"
#include "net/websocket.h"
#include "server/shared_keys.h"

namespace server {

// Called once with the answer, on the core thread: hand it on, do not work there.
using Answered = std::move_only_function<void(std::expected<api::Any, base::Error>)>;

// The answer to a call for which there was no room.
base::Error too_busy();

struct CallWork {
  control::ApiCall call;  // Its id is set by the core thread.
  Answered answered;
};
// A telemetry stream, which the core knows nothing of: it is cut with the key that opened it.
struct StreamOpenedWork {
  uint64_t stream = 0;
  std::string access_key_id;
  std::shared_ptr<net::WebSocket> socket;  // Shared with the connection.
};
struct StreamClosedWork {
  uint64_t stream = 0;
};
struct SessionOpenedWork {
  control::SessionOpened opened;
  std::shared_ptr<net::WebSocket> socket;  // Shared with the connection.
};
// Whether a task on an instance writes to a log stream (control/log_streams.h).
struct LogQuestion {
  model::InstanceArn instance;
  std::string group;
  std::string stream;
  std::move_only_function<void(bool)> answered;  // As a call's.
};
using Work =
    std::variant<CallWork, SessionOpenedWork, StreamOpenedWork, StreamClosedWork,
                 control::SessionMessage, control::SessionClosed, control::TelemetryReceived,
                 control::MachineReport, exec::Order, LogQuestion>;

class CoreThread {
 public:
  // Called on the core thread: hand the order on, do not work there.
  using MachineOrdered = std::function<void(control::MachineOrder)>;

  // The key of the instance's agent was taken back: what it has opened elsewhere has to end. Called
  // on the core thread.
  using KeyGone = std::function<void(const std::string& instance)>;

  // `keys` and `clock` outlive it.
  CoreThread(std::unique_ptr<driver::Driver> driver, SharedKeys& keys, base::Clock& clock,
             MachineOrdered machine_ordered, KeyGone key_gone);
  ~CoreThread();  // Does stop().
  CoreThread(const CoreThread&) = delete;
  CoreThread& operator=(const CoreThread&) = delete;

  // False when too much is waiting already; `work` is untouched then. Calls leave some room to what
  // agents send. Any thread.
  bool try_push(Work&& work) {
    if (std::holds_alternative<CallWork>(work) && queue_.size() >= most_calls) return false;
    return queue_.try_push(std::move(work));
  }
  // Waits for room: for what must not be lost, such as the end of a session. Any thread.
  void push(Work work) { queue_.push(std::move(work)); }

  // Finishes what was pushed before and joins the thread.
  void stop();

 private:
  void run();
  std::vector<control::Input> take_inputs(std::vector<Work> works);
  void give_order(const exec::Order& order);
  void release(driver::Released released);
  void end_with_keys(const std::vector<std::string>& instances);

  static constexpr size_t capacity = 20'000;
  static constexpr size_t most_calls = 16'000;
  static constexpr size_t most_per_turn = 2'000;

  std::unique_ptr<driver::Driver> driver_;
  SharedKeys& keys_;
  const MachineOrdered machine_ordered_;
  const KeyGone key_gone_;
  base::OnwardClock clock_;              // Of the thread.
  std::atomic<int64_t> closes_due_ = 0;  // Of the pace at which closed sessions are told.
  base::Queue<Work> queue_{capacity};
  // Owned by the thread.
  control::RequestId last_request_ = 0;
  std::map<control::RequestId, Answered> answers_;
  std::map<control::SessionId, std::shared_ptr<net::WebSocket>> sockets_;
  std::map<uint64_t, StreamOpenedWork> streams_;
  std::map<model::InstanceArn, control::SessionId> newest_;  // Of those that are or were open.
  std::thread thread_;                                       // Last: it uses all of the above.
};

}  // namespace server
