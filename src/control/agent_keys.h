// Keys of agents: one agent acts with one key as one container instance.
#pragma once

#include <string>
#include <string_view>

#include "auth/access.h"
#include "base/result.h"
#include "control/step.h"
#include "model/state.h"

namespace control {

// What the caller may do now: an agent's key may have been bound, or taken back, since the request
// was verified. Errors: UnrecognizedClientException.
base::Result<auth::Access> current_access(const Step& step);

// Whether the caller may register a new instance. A key that is bound already may do so when its
// instance is gone or has nothing left on it: the machine has lost its data directory.
// Errors: AccessDeniedException.
base::Result<void> check_new_instance(const Step& step);
// Binds the caller's key, where it is an agent's, to the instance that it has registered. An
// instance that it has left behind is deregistered.
void bind_agent_key(Step& step, const model::InstanceArn& arn);

// A new key, not yet of any instance. `join_token` is the id of the token it is given for.
model::AgentKey make_agent_key(Step& step, const model::ClusterName& cluster,
                               std::string join_token);

}  // namespace control
