// One session of ExecuteCommand: a process in a container and a websocket, between which bytes pass
// until either ends. The messages: acs/exec.h.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "net/loop.h"
#include "net/tls.h"

namespace agent {

struct ExecOrder {
  std::string container;             // Its id.
  std::vector<std::string> command;  // Its words.
  std::string url;                   // Of the websocket.
};

struct ExecTools {
  net::Loop& loop;
  const net::TlsClientOptions& tls;
  const std::string& docker_host;
};

// Returns when the session is over, which it is soon after `stopping` is set: the process gets a
// hang-up then, as when its client goes away. A thread of its own.
void serve_exec(const ExecTools& tools, const ExecOrder& order, const std::atomic<bool>& stopping);

}  // namespace agent
