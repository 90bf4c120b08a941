// Listens to Docker's events for as long as the agent lives, and notices whether Docker answers.
#pragma once

#include <string>
#include <thread>

#include "agent/agent.h"
#include "agent/input.h"
#include "base/time.h"

namespace agent {

// Tells the inbox RuntimeReady, ContainerEvent and RuntimeLost. `docker`, `inbox` and `clock`
// outlive it.
class DockerEvents {
 public:
  DockerEvents(DockerAccess docker, std::string agent_name, Inbox& inbox, base::Clock& clock);
  // Any thread; waits for the thread.
  void stop();

 private:
  void run(const std::stop_token& stop);

  DockerAccess docker_;
  std::string agent_name_;
  Inbox& inbox_;
  base::Clock& clock_;
  std::jthread thread_;  // Last: it uses the rest.
};

}  // namespace agent
