#include "api/berth.h"

#include "api/describe.h"
#include "api/service.h"

namespace api::berth {

API_DESCRIBE(CreateJoinTokenRequest, API_MEMBER(cluster, "cluster"),
             API_RANGED(ttl_seconds, "ttlSeconds", (::api::Range{.min = 60, .max = 31'536'000})),
             API_RANGED(uses, "uses", (::api::Range{.min = 1, .max = 10'000})),
             API_MEMBER(container_instance, "containerInstance"));
API_DESCRIBE(CreateJoinTokenResponse, API_MEMBER(token_id, "tokenId"), API_MEMBER(token, "token"),
             API_MEMBER(cluster, "cluster"), API_MEMBER(expires_at, "expiresAt"),
             API_MEMBER(uses, "uses"));
API_DESCRIBE(JoinClusterRequest, API_REQUIRED(token, "token"),
             API_REQUIRED_RANGED(agent_name, "agentName", (::api::Range{.min = 16, .max = 128})));
API_DESCRIBE(JoinClusterResponse, API_MEMBER(access_key_id, "accessKeyId"),
             API_MEMBER(secret_access_key, "secretAccessKey"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(region, "region"));
API_DESCRIBE(CreateAgentKeyRequest, API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance, "containerInstance"));
API_DESCRIBE(CreateAgentKeyResponse, API_MEMBER(access_key_id, "accessKeyId"),
             API_MEMBER(secret_access_key, "secretAccessKey"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(region, "region"));
API_DESCRIBE(AgentKeySummary, API_MEMBER(access_key_id, "accessKeyId"),
             API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(created_at, "createdAt"));
API_DESCRIBE(JoinTokenSummary, API_MEMBER(token_id, "tokenId"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(expires_at, "expiresAt"),
             API_MEMBER(uses, "uses"), API_MEMBER(used, "used"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"));
API_DESCRIBE(ListAgentKeysRequest, API_MEMBER(cluster, "cluster"));
API_DESCRIBE(ListAgentKeysResponse, API_MEMBER(agent_keys, "agentKeys"),
             API_MEMBER(join_tokens, "joinTokens"));
API_DESCRIBE(DeleteAgentKeyRequest, API_REQUIRED(id, "id"));
API_DESCRIBE(DeleteAgentKeyResponse);
API_DESCRIBE(RebindAgentKeyRequest, API_REQUIRED(id, "id"), API_MEMBER(cluster, "cluster"),
             API_REQUIRED(container_instance, "containerInstance"));
API_DESCRIBE(RebindAgentKeyResponse);

namespace {

constexpr ::api::Operation operations[] = {
    {"CreateAgentKey", &api_shape_CreateAgentKeyRequest, &api_shape_CreateAgentKeyResponse},
    {"CreateJoinToken", &api_shape_CreateJoinTokenRequest, &api_shape_CreateJoinTokenResponse},
    {"DeleteAgentKey", &api_shape_DeleteAgentKeyRequest, &api_shape_DeleteAgentKeyResponse},
    {"JoinCluster", &api_shape_JoinClusterRequest, &api_shape_JoinClusterResponse},
    {"ListAgentKeys", &api_shape_ListAgentKeysRequest, &api_shape_ListAgentKeysResponse},
    {"RebindAgentKey", &api_shape_RebindAgentKeyRequest, &api_shape_RebindAgentKeyResponse},
};

constexpr ::api::ErrorType errors[] = {
    {"AccessDeniedException", "AccessDenied", 400, false},
    {"ServerException", "ServerException", 500, true},
};

constexpr ::api::Service service{
    .name = "berth",
    .target_prefix = "BerthV20260101",
    .api_version = "2026-01-01",
    .xml_namespace = "",
    .protocol = ::api::Protocol::Json11,
    .operations = operations,
    .errors = errors,
};

}  // namespace
}  // namespace api::berth

namespace api {

const Service& berth_service() {
  return berth::service;
}

}  // namespace api
