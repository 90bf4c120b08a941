#include "server/shared_keys.h"

#include "base/format.h"

namespace server {

std::vector<std::string> SharedKeys::take_agent_keys(const model::ClusterState& state) {
  auto ring = std::make_shared<auth::KeyRing>(fixed_);
  for (const auto& [id, key] : state.agent_keys) {
    ring->put({.access_key_id = id,
               .secret_access_key = derivation_.agent_secret(id),
               .session_token = {},
               .account = account_.id,
               .arn = base::format("arn:aws:iam::{}:user/berth-agent/{}", account_.id, id),
               .user_id = id,
               .access = auth::AgentAccess{.cluster = key.cluster.str(),
                                           .container_instance = key.instance.str()}});
  }
  std::vector<std::string> gone;
  for (const auto& [id, instance] : agents_) {
    if (ring->find(id) == nullptr && !instance.empty()) gone.push_back(instance);
  }
  agents_.clear();
  for (const auto& [id, key] : state.agent_keys) agents_.emplace(id, key.instance.str());
  ring_.store(std::move(ring));
  return gone;
}

std::vector<std::string> SharedKeys::take_all(const model::ClusterState& state) {
  std::vector<std::string> gone = take_agent_keys(state);
  live_tasks_.take_all(state);
  return gone;
}

base::Result<void> SharedKeys::check(const auth::Caller& caller) const {
  const auto* const access = std::get_if<auth::TaskAccess>(&caller.access);
  if (access == nullptr) return {};
  if (!access->through.empty() && get()->find(access->through) == nullptr) {
    return base::fail("ExpiredTokenException",
                      "The security token included in the request is expired: the key of the agent "
                      "that it was given to was taken back.");
  }
  if (live_tasks_.contains(access->task)) return {};
  return base::fail("ExpiredTokenException",
                    base::format("The security token included in the request is expired: the task "
                                 "{} has stopped.",
                                 access->task));
}

}  // namespace server
