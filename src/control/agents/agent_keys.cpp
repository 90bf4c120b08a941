#include "control/agents/agent_keys.h"

#include "base/format.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control {
namespace {

const model::AgentKey* key_of_caller(const Step& step) {
  if (!std::holds_alternative<auth::AgentAccess>(step.caller.access)) return nullptr;
  const auto found = step.state().agent_keys.find(step.caller.access_key_id);
  return found == step.state().agent_keys.end() ? nullptr : &found->second;
}

// Null: no such instance, or one that is INACTIVE.
const model::ContainerInstance* live_instance(const Step& step, const model::InstanceArn& arn) {
  const auto* const instance = model::find_instance(step.state(), arn);
  return instance == nullptr || instance->status == model::InstanceStatus::Inactive ? nullptr
                                                                                    : instance;
}

}  // namespace

base::Result<auth::Access> current_access(const Step& step) {
  if (!std::holds_alternative<auth::AgentAccess>(step.caller.access)) return step.caller.access;
  const model::AgentKey* const key = key_of_caller(step);
  if (key == nullptr) {
    return base::fail("UnrecognizedClientException",
                      "The security token included in the request is invalid: this agent's key was "
                      "taken back.");
  }
  return auth::AgentAccess{.cluster = key->cluster.str(),
                           .container_instance = key->instance.str()};
}

bool may_overrule(const Step& step) {
  return std::holds_alternative<auth::FullAccess>(step.caller.access);
}

bool acts_for(const Step& step, const model::InstanceArn& arn) {
  if (may_overrule(step)) return true;
  const model::AgentKey* const key = key_of_caller(step);
  return key != nullptr && key->instance == arn;
}

base::Result<void> check_new_instance(const Step& step) {
  const model::AgentKey* const key = key_of_caller(step);
  if (key == nullptr) return {};
  const auto* const before = live_instance(step, key->instance);
  if (before == nullptr || before->tasks.empty()) return {};
  return base::fail(
      "AccessDeniedException",
      base::format("This agent's key is for the container instance {}, which still has {} task(s). "
                   "If its machine has lost its data directory, deregister that instance with "
                   "--force; another machine needs a key of its own.",
                   before->arn.str(), before->tasks.size()));
}

void bind_agent_key(Step& step, const model::InstanceArn& arn) {
  const model::AgentKey* const key = key_of_caller(step);
  if (key == nullptr || key->instance == arn) return;
  const auto* const before = live_instance(step, key->instance);
  if (before != nullptr) step.change(model::InstanceDeregistered{before->arn, step.now});
  model::AgentKey bound = *key_of_caller(step);
  bound.instance = arn;
  step.change(model::AgentKeyPut{std::move(bound)});
}

base::Result<KeyOwner> key_owner(const Step& step, const std::optional<std::string>& cluster,
                                 const std::optional<std::string>& container_instance) {
  KeyOwner owner{.cluster = TRY(require_cluster(step, cluster))->name, .instance = {}};
  if (container_instance.value_or("").empty()) return owner;
  const auto* const instance = TRY(require_instance(step, owner.cluster, *container_instance));
  if (instance->status == model::InstanceStatus::Inactive) {
    return invalid_parameter(
        base::format("The container instance {} has been deregistered: nobody can be its agent.",
                     instance->arn.str()));
  }
  owner.instance = instance->arn;
  return owner;
}

model::AgentKey make_agent_key(Step& step, const KeyOwner& owner, std::string join_token) {
  std::string id = step.random.hex(14);
  for (char& c : id) {
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
  }
  model::AgentKey key{.id = "BERTHA" + id,
                      .cluster = owner.cluster,
                      .instance = owner.instance,
                      .created_at = step.now,
                      .join_token = std::move(join_token)};
  step.change(model::AgentKeyPut{key});
  return key;
}

}  // namespace control
