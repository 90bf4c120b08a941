// The operations that AWS has no counterpart of: how machines get keys of their own. The same wire
// as ECS (AWS JSON 1.1, scope "berth"); JoinCluster is called without a signature, its token is the
// proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/types.h"

namespace api::berth {

// A join token makes agents members of a cluster, `uses` of them, until it expires.
struct CreateJoinTokenRequest {
  std::optional<std::string> cluster = {};  // Name or ARN; without it "default".
  std::optional<int64_t> ttl_seconds = {};  // 60 to 31,536,000; without it 3600.
  std::optional<int32_t> uses = {};         // 1 to 10,000; without it 1.
  // Id or ARN: who joins becomes the agent of this instance, which is there already.
  std::optional<std::string> container_instance = {};
  friend bool operator==(const CreateJoinTokenRequest&, const CreateJoinTokenRequest&) = default;
};
API_DESCRIBED(CreateJoinTokenRequest);

struct CreateJoinTokenResponse {
  std::optional<std::string> token_id = {};
  std::optional<std::string> token = {};
  std::optional<std::string> cluster = {};
  std::optional<base::Time> expires_at = {};
  std::optional<int32_t> uses = {};
  friend bool operator==(const CreateJoinTokenResponse&, const CreateJoinTokenResponse&) = default;
};
API_DESCRIBED(CreateJoinTokenResponse);

// The same token with the same agentName gets the same key again: the first answer may get lost.
struct JoinClusterRequest {
  std::optional<std::string> token = {};
  std::optional<std::string> agent_name = {};  // The agent's own, unguessable name of itself.
  friend bool operator==(const JoinClusterRequest&, const JoinClusterRequest&) = default;
};
API_DESCRIBED(JoinClusterRequest);

struct JoinClusterResponse {
  std::optional<std::string> access_key_id = {};
  std::optional<std::string> secret_access_key = {};
  std::optional<std::string> cluster = {};
  std::optional<std::string> region = {};
  friend bool operator==(const JoinClusterResponse&, const JoinClusterResponse&) = default;
};
API_DESCRIBED(JoinClusterResponse);

// A key for the environment of one official agent.
struct CreateAgentKeyRequest {
  std::optional<std::string> cluster = {};
  std::optional<std::string> container_instance = {};  // As of CreateJoinToken.
  friend bool operator==(const CreateAgentKeyRequest&, const CreateAgentKeyRequest&) = default;
};
API_DESCRIBED(CreateAgentKeyRequest);

struct CreateAgentKeyResponse {
  std::optional<std::string> access_key_id = {};
  std::optional<std::string> secret_access_key = {};
  std::optional<std::string> cluster = {};
  std::optional<std::string> region = {};
  friend bool operator==(const CreateAgentKeyResponse&, const CreateAgentKeyResponse&) = default;
};
API_DESCRIBED(CreateAgentKeyResponse);

struct AgentKeySummary {
  std::optional<std::string> access_key_id = {};
  std::optional<std::string> cluster = {};
  std::optional<std::string> container_instance_arn = {};
  std::optional<base::Time> created_at = {};
  friend bool operator==(const AgentKeySummary&, const AgentKeySummary&) = default;
};
API_DESCRIBED(AgentKeySummary);

struct JoinTokenSummary {
  std::optional<std::string> token_id = {};
  std::optional<std::string> cluster = {};
  std::optional<base::Time> created_at = {};
  std::optional<base::Time> expires_at = {};
  std::optional<int32_t> uses = {};
  std::optional<int32_t> used = {};
  std::optional<std::string> container_instance_arn = {};
  friend bool operator==(const JoinTokenSummary&, const JoinTokenSummary&) = default;
};
API_DESCRIBED(JoinTokenSummary);

struct ListAgentKeysRequest {
  std::optional<std::string> cluster = {};
  friend bool operator==(const ListAgentKeysRequest&, const ListAgentKeysRequest&) = default;
};
API_DESCRIBED(ListAgentKeysRequest);

struct ListAgentKeysResponse {
  List<AgentKeySummary> agent_keys = {};
  List<JoinTokenSummary> join_tokens = {};
  friend bool operator==(const ListAgentKeysResponse&, const ListAgentKeysResponse&) = default;
};
API_DESCRIBED(ListAgentKeysResponse);

// Takes an agent's key, or a join token, back.
struct DeleteAgentKeyRequest {
  std::optional<std::string> id = {};  // An access key id, or a token's id.
  friend bool operator==(const DeleteAgentKeyRequest&, const DeleteAgentKeyRequest&) = default;
};
API_DESCRIBED(DeleteAgentKeyRequest);

struct DeleteAgentKeyResponse {
  friend bool operator==(const DeleteAgentKeyResponse&, const DeleteAgentKeyResponse&) = default;
};
API_DESCRIBED(DeleteAgentKeyResponse);

// The machine of a container instance was installed anew and has joined with a new key: the key
// may take over what the instance holds, its GPUs and its instance id, when it registers. The
// instance's other keys are taken back.
struct RebindAgentKeyRequest {
  std::optional<std::string> id = {};                  // Of the new key.
  std::optional<std::string> cluster = {};             // Of the instance; without it "default".
  std::optional<std::string> container_instance = {};  // Id or ARN; one that is INACTIVE too.
  friend bool operator==(const RebindAgentKeyRequest&, const RebindAgentKeyRequest&) = default;
};
API_DESCRIBED(RebindAgentKeyRequest);

struct RebindAgentKeyResponse {
  friend bool operator==(const RebindAgentKeyResponse&, const RebindAgentKeyResponse&) = default;
};
API_DESCRIBED(RebindAgentKeyResponse);

}  // namespace api::berth
