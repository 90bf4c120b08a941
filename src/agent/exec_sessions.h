// Runs commands of ExecuteCommand in containers: for each order of the control plane one process
// and one websocket (exec_session.h).
#pragma once

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/exec_session.h"
#include "base/queue.h"
#include "net/loop.h"
#include "net/tls.h"

namespace agent {

// The words of a command line: blanks part them, quotes and backslashes keep them together, as in a
// POSIX shell; nothing else is special.
std::vector<std::string> split_command(std::string_view text);

class ExecSessions {
 public:
  // `loop` outlives it. `docker_host` as for DockerClient.
  ExecSessions(net::Loop& loop, net::TlsClientOptions tls, std::string docker_host);
  ~ExecSessions();  // Does stop().
  ExecSessions(const ExecSessions&) = delete;
  ExecSessions& operator=(const ExecSessions&) = delete;

  // Takes a frame of the control stream that is an order, and says whether it was one. Any thread.
  bool take(std::string_view frame);
  // Ends the sessions; the processes get a hang-up of their terminals.
  void stop();

 private:
  void run();

  net::Loop& loop_;
  const net::TlsClientOptions tls_;
  const std::string docker_host_;
  base::Queue<ExecOrder> orders_{64};
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace agent
