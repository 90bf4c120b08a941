// The line of `berth exec` to the control plane: opened once, and made anew when its connection
// breaks, without a message lost or repeated (acs/exec_link.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acs/exec_link.h"
#include "api/generated/ecs.h"
#include "base/queue.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/installation.h"
#include "net/loop.h"
#include "net/websocket.h"

namespace cli {

// Belongs to one thread.
class ExecLine {
 public:
  struct Parts {
    const Credentials& credentials;  // Outlive it.
    api::ecs::Session session;
    bool terminal = true;
    // Called, on another thread, when take() has something.
    std::function<void()> wake;
    // Waits for so long; false: the line is to be given up.
    std::function<bool(base::Milliseconds)> wait;
  };
  explicit ExecLine(Parts parts);
  ~ExecLine();  // Closes the session, for which it waits 2 s at most.
  ExecLine(const ExecLine&) = delete;
  ExecLine& operator=(const ExecLine&) = delete;

  // Before everything else. Errors: the connection's.
  base::Result<void> open();
  void send(std::string message);

  struct News {
    std::vector<std::string> messages;
    std::optional<std::string> closed;  // Why nothing more will come, one sentence.
  };
  // What has come since. A broken connection is made anew here, which takes 25 s at most; the
  // control plane waits for 30 s.
  News take();

 private:
  struct Event {
    uint64_t connection = 0;
    std::optional<std::string> message;  // nullopt: the connection has ended.
    uint16_t code = 0;
    std::string reason;
  };

  base::Result<void> connect();
  void close();
  // nullopt: there is a connection again.
  std::optional<std::string> come_back();
  // False: the session has ended.
  base::Result<bool> resume();
  void receive(std::string message, News& news);

  Parts parts_;
  acs::ExecLink link_;
  uint64_t connection_ = 0;  // The present one.
  bool ended_ = false;       // The last message has come.
  // Of an outage: when it is given up. One lasts until the control plane has spoken again.
  std::optional<std::chrono::steady_clock::time_point> give_up_at_;
  std::shared_ptr<net::WebSocket> socket_;  // Shared with the loop. Null: none.
  base::Queue<Event> events_;
  net::Loop loop_{1};  // Last: its thread uses the rest.
};

}  // namespace cli
