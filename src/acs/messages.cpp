#include "acs/messages.h"

#include <algorithm>
#include <array>

#include "acs/envelope.h"
#include "api/describe.h"

namespace acs {

API_DESCRIBE(HeartbeatMessage, API_MEMBER(message_id, "messageId"), API_MEMBER(healthy, "healthy"));
API_DESCRIBE(PayloadMessage, API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(message_id, "messageId"), API_MEMBER(generated_at, "generatedAt"),
             API_MEMBER(seq_num, "seqNum"), API_MEMBER(tasks, "tasks"));
API_DESCRIBE(IAMRoleCredentialsMessage, API_MEMBER(message_id, "messageId"),
             API_MEMBER(task_arn, "taskArn"), API_MEMBER(task_cluster_arn, "taskClusterArn"),
             API_MEMBER(role_type, "roleType"), API_MEMBER(role_credentials, "roleCredentials"));
API_DESCRIBE(TaskIdentifier, API_MEMBER(task_arn, "taskArn"),
             API_MEMBER(task_cluster_arn, "taskClusterArn"),
             API_MEMBER(desired_status, "desiredStatus"));
API_DESCRIBE(TaskManifestMessage, API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(message_id, "messageId"), API_MEMBER(generated_at, "generatedAt"),
             API_MEMBER(timeline, "timeline"), API_MEMBER(tasks, "tasks"));
API_DESCRIBE(TaskStopVerificationAck, API_MEMBER(message_id, "messageId"),
             API_MEMBER(generated_at, "generatedAt"), API_MEMBER(stop_tasks, "stopTasks"));
API_DESCRIBE(AttachTaskNetworkInterfacesMessage, API_MEMBER(message_id, "messageId"),
             API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(task_arn, "taskArn"), API_MEMBER(task_cluster_arn, "taskClusterArn"),
             API_MEMBER(wait_timeout_ms, "waitTimeoutMs"), API_MEMBER(generated_at, "generatedAt"),
             API_MEMBER(elastic_network_interfaces, "elasticNetworkInterfaces"));
API_DESCRIBE(AttachInstanceNetworkInterfacesMessage, API_MEMBER(message_id, "messageId"),
             API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(wait_timeout_ms, "waitTimeoutMs"), API_MEMBER(generated_at, "generatedAt"),
             API_MEMBER(elastic_network_interfaces, "elasticNetworkInterfaces"));
API_DESCRIBE(AttachmentProperty, API_MEMBER(name, "name"), API_MEMBER(value, "value"));
API_DESCRIBE(Attachment, API_MEMBER(attachment_arn, "attachmentArn"),
             API_MEMBER(attachment_type, "attachmentType"),
             API_MEMBER(attachment_properties, "attachmentProperties"));
API_DESCRIBE(ConfirmAttachmentMessage, API_MEMBER(message_id, "messageId"),
             API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(task_arn, "taskArn"), API_MEMBER(task_cluster_arn, "taskClusterArn"),
             API_MEMBER(wait_timeout_ms, "waitTimeoutMs"), API_MEMBER(generated_at, "generatedAt"),
             API_MEMBER(attachment, "attachment"));
API_DESCRIBE(UpdateInfo, API_MEMBER(location, "location"), API_MEMBER(signature, "signature"));
API_DESCRIBE(StageUpdateMessage, API_MEMBER(message_id, "messageId"),
             API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(update_info, "updateInfo"));
API_DESCRIBE(PerformUpdateMessage, API_MEMBER(message_id, "messageId"),
             API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(update_info, "updateInfo"));
API_DESCRIBE(CloseMessage, API_MEMBER(message, "message"));
API_DESCRIBE(ServerError, API_MEMBER(message, "message"));
API_DESCRIBE(HeartbeatAckRequest, API_MEMBER(message_id, "messageId"));
API_DESCRIBE(AckRequest, API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance, "containerInstance"),
             API_MEMBER(message_id, "messageId"));
API_DESCRIBE(NackRequest, API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance, "containerInstance"),
             API_MEMBER(message_id, "messageId"), API_MEMBER(reason, "reason"));
API_DESCRIBE(IAMRoleCredentialsAckRequest, API_MEMBER(credentials_id, "credentialsId"),
             API_MEMBER(expiration, "expiration"), API_MEMBER(message_id, "messageId"));
API_DESCRIBE(TaskStopVerificationMessage, API_MEMBER(message_id, "messageId"),
             API_MEMBER(stop_candidates, "stopCandidates"));

namespace {

// Source: ecs-agent/acs/model/api/api-2.json, the error shapes.
constexpr std::array<std::string_view, 7> error_types{"ErrorMessage",
                                                      "ServerException",
                                                      "BadRequestException",
                                                      "InvalidClusterException",
                                                      "InvalidInstanceException",
                                                      "AccessDeniedException",
                                                      "InactiveInstanceException"};

bool is_error_type(std::string_view type) {
  return std::ranges::find(error_types, type) != error_types.end();
}

}  // namespace

std::string_view type_name(const ServerMessage& message) {
  if (const auto* error = std::get_if<ServerError>(&message)) return error->type;
  return envelope_type(message);
}

std::string_view type_name(const AgentMessage& message) {
  return envelope_type(message);
}

std::string encode(const ServerMessage& message) {
  return seal(type_name(message), print_alternative(message));
}

std::string encode(const AgentMessage& message) {
  return seal(type_name(message), print_alternative(message));
}

base::Result<ServerMessage> decode_server_message(std::string_view frame) {
  const Envelope envelope = TRY(open_envelope(frame));
  if (is_error_type(envelope.type)) {
    ServerError error = TRY(parse_body<ServerError>(envelope));
    error.type = envelope.type;
    return ServerMessage(std::move(error));
  }
  return parse_alternative<ServerMessage>(envelope);
}

base::Result<AgentMessage> decode_agent_message(std::string_view frame) {
  return parse_alternative<AgentMessage>(TRY(open_envelope(frame)));
}

}  // namespace acs
