// Keys of agents: one agent acts with one key as one container instance.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/access.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

// What the caller may do now: an agent's key may have been bound, or taken back, since the request
// was verified. Errors: UnrecognizedClientException.
base::Result<auth::Access> current_access(const Step& step);

// Whether the caller's word goes before what instances say of themselves: its key may do
// everything.
bool may_overrule(const Step& step);
// Whether the caller is the instance's own agent, or may overrule it.
bool acts_for(const Step& step, const model::InstanceArn& arn);

// Whether the caller may register a new instance. A key that is bound already may do so when its
// instance is gone or has nothing left on it: the machine has lost its data directory.
// Errors: AccessDeniedException.
base::Result<void> check_new_instance(const Step& step);
// Binds the caller's key, where it is an agent's, to the instance that it has registered. An
// instance that it has left behind is deregistered.
void bind_agent_key(Step& step, const model::InstanceArn& arn);

// Whose the key is to be that somebody asks for.
struct KeyOwner {
  model::ClusterName cluster;
  model::InstanceArn instance;  // Empty: of one that is yet to register.
};
// Errors: ClusterNotFoundException; InvalidParameterException for an instance that is not there, or
// INACTIVE.
base::Result<KeyOwner> key_owner(const Step& step, const std::optional<std::string>& cluster,
                                 const std::optional<std::string>& container_instance);

// A new key. `join_token` is the id of the token it is given for.
model::AgentKey make_agent_key(Step& step, const KeyOwner& owner, std::string join_token);

}  // namespace control
