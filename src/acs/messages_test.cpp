#include "acs/messages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/json.h"
#include "json/value.h"

namespace acs {
namespace {

Task gpu_task() {
  Task task;
  task.arn = "arn:aws:ecs:us-east-1:123456789012:task/default/0123";
  task.family = "train";
  task.version = "3";
  task.desired_status = "RUNNING";
  Container container;
  container.name = "main";
  container.image = "busybox:test";
  container.command = {"sh", "-c", "nvidia-smi"};
  container.environment = {{"A", "1"}};
  container.cpu = 100;
  container.memory = 80;
  container.essential = true;
  container.docker_config =
      DockerConfig{.config = "{}", .host_config = R"({"NetworkMode":"bridge"})", .version = "1.24"};
  ResourceRequirement& share = container.resource_requirements.emplace_back();
  share.type = "GPU";
  share.sharing_strategy = SharingStrategy{NvidiaMps{20480, 50}};
  task.containers.push_back(container);
  Association& gpu = task.associations.emplace_back();
  gpu.type = "gpu";
  gpu.name = "GPU-1";
  gpu.containers = {"main"};
  gpu.content = AssociationContent{"base64", ""};
  return task;
}

TEST(messages, the_payload_has_the_names_of_the_protocol) {
  PayloadMessage message;
  message.cluster_arn = "default";
  message.container_instance_arn = "ci";
  message.message_id = "m1";
  message.generated_at = 1700000000000;
  message.seq_num = 7;
  message.tasks.push_back(gpu_task());
  const json::Value frame = *json::parse(encode(ServerMessage(message)));
  EXPECT_EQ(frame["type"], json::Value("PayloadMessage"));
  const json::Value& body = frame["message"];
  EXPECT_EQ(body["clusterArn"], json::Value("default"));
  EXPECT_EQ(body["containerInstanceArn"], json::Value("ci"));
  EXPECT_EQ(body["generatedAt"], json::Value(int64_t{1700000000000}));
  EXPECT_EQ(body["seqNum"], json::Value(int64_t{7}));
  const json::Value& container = body["tasks"].at(0)["containers"].at(0);
  EXPECT_EQ(container["dockerConfig"]["hostConfig"], json::Value(R"({"NetworkMode":"bridge"})"));
  EXPECT_EQ(container["overrides"], json::Value("{}"));
  EXPECT_EQ(container["resourceRequirements"].at(0)["sharingStrategy"]["nvidiaMps"]["memory"],
            json::Value(int64_t{20480}));
  EXPECT_EQ(body["tasks"].at(0)["associations"].at(0)["name"], json::Value("GPU-1"));
  EXPECT_EQ(body["tasks"].at(0).find("cpu"), nullptr);
}

TEST(messages, every_server_message_reads_back_as_it_was_written) {
  PayloadMessage payload;
  payload.message_id = "m1";
  payload.tasks.push_back(gpu_task());
  TaskManifestMessage manifest;
  manifest.timeline = int64_t{1} << 40;
  manifest.tasks.push_back({"t", "c", "RUNNING"});
  IAMRoleCredentialsMessage credentials;
  credentials.role_credentials = IAMRoleCredentials{};
  credentials.role_credentials->credentials_id = "id";
  ConfirmAttachmentMessage attachment;
  attachment.attachment = Attachment{"arn", "amazonebs", {{"name", "value"}}};
  const std::vector<ServerMessage> messages{
      HeartbeatMessage{"m", true},
      payload,
      credentials,
      manifest,
      TaskStopVerificationAck{"m", 5, {{"t", "c", "STOPPED"}}},
      AttachTaskNetworkInterfacesMessage{},
      AttachInstanceNetworkInterfacesMessage{},
      attachment,
      StageUpdateMessage{"m", "c", "i", UpdateInfo{"l", "s"}},
      PerformUpdateMessage{},
      CloseMessage{"bye"},
      ServerError{"InactiveInstanceException", "gone"}};
  EXPECT_EQ(messages.size(), std::variant_size_v<ServerMessage>);
  for (const ServerMessage& message : messages) {
    const auto decoded = decode_server_message(encode(message));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, message) << encode(message);
  }
}

TEST(messages, every_agent_message_reads_back_as_it_was_written) {
  const std::vector<AgentMessage> messages{
      HeartbeatAckRequest{"m"}, AckRequest{"default", "ci", "m"},
      NackRequest{"default", "ci", "m", "no"}, IAMRoleCredentialsAckRequest{"id", "2030", "m"},
      TaskStopVerificationMessage{"m", {{"t", "c", "STOPPED"}}}};
  EXPECT_EQ(messages.size(), std::variant_size_v<AgentMessage>);
  for (const AgentMessage& message : messages) {
    const auto decoded = decode_agent_message(encode(message));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, message) << encode(message);
  }
}

TEST(messages, an_ack_as_the_official_agent_sends_it_is_read) {
  const auto decoded = decode_agent_message(
      R"({"type":"AckRequest","message":{"cluster":"default","containerInstance":"arn:ci","messageId":"m-7"}})");
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<AckRequest>(*decoded).message_id, "m-7");
}

TEST(messages, an_unknown_type_is_named_so_that_the_caller_can_drop_it) {
  const auto decoded = decode_agent_message(R"({"type":"Surprise","message":{}})");
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, "UnknownMessageType");
  EXPECT_NE(decoded.error().message.find("Surprise"), std::string::npos);
}

TEST(messages, unknown_members_are_ignored) {
  const auto decoded = decode_server_message(
      R"({"type":"HeartbeatMessage","message":{"messageId":"m","healthy":true,"new":[1]}})");
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<HeartbeatMessage>(*decoded).message_id, "m");
}

TEST(messages, a_refusal_without_envelope_is_a_server_error) {
  const auto decoded = decode_server_message(R"({"InactiveInstanceException":"deregistered"})");
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, ServerMessage(ServerError{"InactiveInstanceException", "deregistered"}));
}

TEST(messages, what_is_no_message_is_an_error_that_says_so) {
  for (const char* frame : {"", "{", "[]", "42", "\"text\"", R"({"message":{}})",
                            R"({"type":5,"message":{}})", R"({"type":"AckRequest","message":[]})",
                            R"({"type":"AckRequest","message":{"messageId":5}})", "\xff\xfe\x00"}) {
    EXPECT_FALSE(decode_agent_message(frame)) << frame;
    EXPECT_FALSE(decode_server_message(frame)) << frame;
  }
  EXPECT_EQ(decode_agent_message(R"({"type":"AckRequest","message":{"messageId":5}})").error().code,
            "SerializationException");
}

TEST(messages, a_message_that_is_absent_is_empty) {
  const auto decoded = decode_server_message(R"({"type":"CloseMessage"})");
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, ServerMessage(CloseMessage{}));
}

}  // namespace
}  // namespace acs
