// The messages of the ECS agent protocol's control stream (ACS), both directions, and their
// envelope {"type":"<name>","message":{...}} in text frames. The telemetry stream is telemetry.h.
// Pure values. Source: amazon-ecs-agent, ecs-agent/acs/model/api/api-2.json, ecs-agent/wsclient.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acs/payload.h"
#include "api/shape.h"
#include "base/result.h"

namespace acs {

// Server to agent, at least every 60 s when nothing else is sent.
struct HeartbeatMessage {
  std::string message_id;
  bool healthy = true;
  friend bool operator==(const HeartbeatMessage&, const HeartbeatMessage&) = default;
};
API_DESCRIBED(HeartbeatMessage);

// One task per message: an agent acknowledges only when it could handle every task in it.
struct PayloadMessage {
  std::string cluster_arn;
  std::string container_instance_arn;
  std::string message_id;
  int64_t generated_at = 0;  // Milliseconds since 1970.
  int64_t seq_num = 0;       // Grows; shared with the timeline of TaskManifestMessage.
  std::vector<Task> tasks;
  friend bool operator==(const PayloadMessage&, const PayloadMessage&) = default;
};
API_DESCRIBED(PayloadMessage);

struct IAMRoleCredentialsMessage {
  std::string message_id;
  std::string task_arn;
  std::string task_cluster_arn;
  std::string role_type;  // "TaskApplication" or "TaskExecution".
  std::optional<IAMRoleCredentials> role_credentials;
  friend bool operator==(const IAMRoleCredentialsMessage&,
                         const IAMRoleCredentialsMessage&) = default;
};
API_DESCRIBED(IAMRoleCredentialsMessage);

struct TaskIdentifier {
  std::string task_arn;
  std::string task_cluster_arn;
  std::string desired_status;  // "RUNNING" or "STOPPED".
  friend bool operator==(const TaskIdentifier&, const TaskIdentifier&) = default;
};
API_DESCRIBED(TaskIdentifier);

// All tasks that the server wants on the instance. It never starts a task; tasks that are absent or
// not RUNNING in it become the agent's stop candidates.
struct TaskManifestMessage {
  std::string cluster_arn;
  std::string container_instance_arn;
  std::string message_id;
  int64_t generated_at = 0;  // Milliseconds since 1970.
  int64_t timeline = 0;      // An agent ignores a manifest that is not above all it has seen.
  std::vector<TaskIdentifier> tasks;
  friend bool operator==(const TaskManifestMessage&, const TaskManifestMessage&) = default;
};
API_DESCRIBED(TaskManifestMessage);

// `message_id` is that of the manifest. Only `stop_tasks` are stopped.
struct TaskStopVerificationAck {
  std::string message_id;
  int64_t generated_at = 0;  // Milliseconds since 1970.
  std::vector<TaskIdentifier> stop_tasks;
  friend bool operator==(const TaskStopVerificationAck&, const TaskStopVerificationAck&) = default;
};
API_DESCRIBED(TaskStopVerificationAck);

struct AttachTaskNetworkInterfacesMessage {
  std::string message_id;
  std::string cluster_arn;
  std::string container_instance_arn;
  std::string task_arn;
  std::string task_cluster_arn;
  int64_t wait_timeout_ms = 0;
  int64_t generated_at = 0;
  std::vector<ElasticNetworkInterface> elastic_network_interfaces;
  friend bool operator==(const AttachTaskNetworkInterfacesMessage&,
                         const AttachTaskNetworkInterfacesMessage&) = default;
};
API_DESCRIBED(AttachTaskNetworkInterfacesMessage);

struct AttachInstanceNetworkInterfacesMessage {
  std::string message_id;
  std::string cluster_arn;
  std::string container_instance_arn;
  int64_t wait_timeout_ms = 0;
  int64_t generated_at = 0;
  std::vector<ElasticNetworkInterface> elastic_network_interfaces;
  friend bool operator==(const AttachInstanceNetworkInterfacesMessage&,
                         const AttachInstanceNetworkInterfacesMessage&) = default;
};
API_DESCRIBED(AttachInstanceNetworkInterfacesMessage);

struct AttachmentProperty {
  std::string name;
  std::string value;
  friend bool operator==(const AttachmentProperty&, const AttachmentProperty&) = default;
};
API_DESCRIBED(AttachmentProperty);

struct Attachment {
  std::string attachment_arn;
  std::string attachment_type;
  std::vector<AttachmentProperty> attachment_properties;
  friend bool operator==(const Attachment&, const Attachment&) = default;
};
API_DESCRIBED(Attachment);

struct ConfirmAttachmentMessage {
  std::string message_id;
  std::string cluster_arn;
  std::string container_instance_arn;
  std::string task_arn;
  std::string task_cluster_arn;
  int64_t wait_timeout_ms = 0;
  int64_t generated_at = 0;
  std::optional<Attachment> attachment;
  friend bool operator==(const ConfirmAttachmentMessage&,
                         const ConfirmAttachmentMessage&) = default;
};
API_DESCRIBED(ConfirmAttachmentMessage);

struct UpdateInfo {
  std::string location;
  std::string signature;
  friend bool operator==(const UpdateInfo&, const UpdateInfo&) = default;
};
API_DESCRIBED(UpdateInfo);

struct StageUpdateMessage {
  std::string message_id;
  std::string cluster_arn;
  std::string container_instance_arn;
  std::optional<UpdateInfo> update_info;
  friend bool operator==(const StageUpdateMessage&, const StageUpdateMessage&) = default;
};
API_DESCRIBED(StageUpdateMessage);

struct PerformUpdateMessage {
  std::string message_id;
  std::string cluster_arn;
  std::string container_instance_arn;
  std::optional<UpdateInfo> update_info;
  friend bool operator==(const PerformUpdateMessage&, const PerformUpdateMessage&) = default;
};
API_DESCRIBED(PerformUpdateMessage);

// The server closes the connection next; the agent comes back at once.
struct CloseMessage {
  std::string message;
  friend bool operator==(const CloseMessage&, const CloseMessage&) = default;
};
API_DESCRIBED(CloseMessage);

// ErrorMessage, or one of the exceptions: ServerException, BadRequestException,
// InvalidClusterException, InvalidInstanceException, AccessDeniedException,
// InactiveInstanceException. `type` is that name; it stands in the envelope.
struct ServerError {
  std::string type = "ErrorMessage";
  std::string message;
  friend bool operator==(const ServerError&, const ServerError&) = default;
};
API_DESCRIBED(ServerError);

using ServerMessage =
    std::variant<HeartbeatMessage, PayloadMessage, IAMRoleCredentialsMessage, TaskManifestMessage,
                 TaskStopVerificationAck, AttachTaskNetworkInterfacesMessage,
                 AttachInstanceNetworkInterfacesMessage, ConfirmAttachmentMessage,
                 StageUpdateMessage, PerformUpdateMessage, CloseMessage, ServerError>;

struct HeartbeatAckRequest {
  std::string message_id;
  friend bool operator==(const HeartbeatAckRequest&, const HeartbeatAckRequest&) = default;
};
API_DESCRIBED(HeartbeatAckRequest);

// "Kept for running", not "started". Acks of different messages may come in any order.
struct AckRequest {
  std::string cluster;
  std::string container_instance;
  std::string message_id;
  friend bool operator==(const AckRequest&, const AckRequest&) = default;
};
API_DESCRIBED(AckRequest);

// Of updates only.
struct NackRequest {
  std::string cluster;
  std::string container_instance;
  std::string message_id;
  std::string reason;
  friend bool operator==(const NackRequest&, const NackRequest&) = default;
};
API_DESCRIBED(NackRequest);

struct IAMRoleCredentialsAckRequest {
  std::string credentials_id;
  std::string expiration;
  std::string message_id;  // Of the IAMRoleCredentialsMessage, or of the payload they came in.
  friend bool operator==(const IAMRoleCredentialsAckRequest&,
                         const IAMRoleCredentialsAckRequest&) = default;
};
API_DESCRIBED(IAMRoleCredentialsAckRequest);

// `message_id` is that of the manifest which made the tasks candidates.
struct TaskStopVerificationMessage {
  std::string message_id;
  std::vector<TaskIdentifier> stop_candidates;
  friend bool operator==(const TaskStopVerificationMessage&,
                         const TaskStopVerificationMessage&) = default;
};
API_DESCRIBED(TaskStopVerificationMessage);

using AgentMessage = std::variant<HeartbeatAckRequest, AckRequest, NackRequest,
                                  IAMRoleCredentialsAckRequest, TaskStopVerificationMessage>;

// One text frame.
std::string encode(const ServerMessage& message);
std::string encode(const AgentMessage& message);

// Reads one text frame; unknown members are ignored. A refusal in the form {"<Name>":"<text>"},
// with or without a handshake's HTTP error around it, is read as ServerError, too.
// Errors: "UnknownMessageType" (to be logged and dropped), SerializationException with the member's
// path (likewise).
base::Result<ServerMessage> decode_server_message(std::string_view frame);
base::Result<AgentMessage> decode_agent_message(std::string_view frame);

// "PayloadMessage".
std::string_view type_name(const ServerMessage& message);
std::string_view type_name(const AgentMessage& message);

}  // namespace acs
