// Calls of ExecuteCommand: what has to be known of the task is asked of the core, as a client would
// ask for it, and a session is made of it.
#pragma once

#include <string>

#include "auth/access.h"
#include "server/core_thread.h"
#include "server/exec_relay.h"
#include "server/execute_command.h"

namespace server {

class ExecCalls {
 public:
  // `core` and `relay` outlive it. `url` is where clients and agents reach this server.
  ExecCalls(CoreThread& core, ExecRelay& relay, std::string url);

  // `caller` may do it. `answer` is called once, on the core thread or on this one. Any thread.
  void execute_command(api::ecs::ExecuteCommandRequest request, auth::Caller caller,
                       Answered answer);

 private:
  // One call, on its way through what it has to know.
  struct Asking {
    api::ecs::ExecuteCommandRequest request;
    auth::Caller caller;
    ExecSubject subject;
    Answered answer;
  };
  // On the core thread.
  void look_at_cluster(Asking asking);
  void look_at_definition(Asking asking);
  void start(Asking asking);

  void ask_core(std::string_view operation, api::Any request, const auth::Caller& caller,
                Answered answered);

  CoreThread& core_;
  ExecRelay& relay_;
  const std::string url_;
};

}  // namespace server
