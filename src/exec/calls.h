// Calls of ExecuteCommand: what has to be known of the task is asked of the core, as a client would
// ask for it, and a session is made of it.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "api/any.h"
#include "api/service.h"
#include "auth/access.h"
#include "base/result.h"
#include "exec/plan.h"
#include "exec/relay.h"

namespace exec {

// Called once; hand it on, do not work there.
using Answered = std::move_only_function<void(std::expected<api::Any, base::Error>)>;

// The way to the core, from any thread.
struct CoreAccess {
  // Makes a call of ECS for `caller`; the answer comes on the core thread, or at once where there
  // is no room for the call.
  std::function<void(std::string_view operation, api::Any input, const auth::Caller& caller,
                     Answered answered)>
      ask;
  // Sends to the agent of the instance, if it is connected. False: no room.
  std::function<bool(Order order)> give_order;
  base::Error busy;  // What a client is told for whom there is no room.
};

class Calls {
 public:
  // `relay` outlives it. `url` is where clients and agents reach this server.
  Calls(CoreAccess core, Relay& relay, std::string url);

  // `caller` may do it. `answer` is called once, on the core thread or on this one. Any thread.
  void execute_command(api::ecs::ExecuteCommandRequest request, const auth::Caller& caller,
                       Answered answer);

 private:
  // One call, on its way through what it has to know.
  struct Asking {
    api::ecs::ExecuteCommandRequest request;
    auth::Caller caller;
    Subject subject;
    Answered answer;
  };
  // On the core thread.
  void look_at_cluster(Asking asking);
  void look_at_definition(Asking asking);
  void start(Asking asking);

  const CoreAccess core_;
  Relay& relay_;
  const std::string url_;
};

}  // namespace exec
