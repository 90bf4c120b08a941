#include "agent/metadata.h"

#include <gtest/gtest.h>

#include "api/json.h"
#include "base/format.h"

namespace agent {
namespace {

using core::Core;

const std::string task_arn = "arn:aws:ecs:us-east-1:1:task/default/0123456789abcdef";
const std::string other_arn = "arn:aws:ecs:us-east-1:1:task/default/other";

// A core with two tasks, whose first has a container that runs, on a GPU.
class Metadata : public ::testing::Test {
 protected:
  Metadata() : core_(Core::create(config(), {}, now_).value()) {
    step(core::RuntimeReady{});
    answer(core::Snapshot{});
    send(R"({"arn":")" + task_arn + R"(","desiredStatus":"RUNNING","family":"f","version":"3",
      "taskClusterArn":"cluster-arn","cpu":0.5,"memory":128,"launchType":"EC2",
      "associations":[{"type":"gpu","name":"GPU-1","containers":["main"]}],
      "roleCredentials":{"credentialsId":"mine","roleArn":"arn:role","accessKeyId":"AKIA",
        "secretAccessKey":"sk","sessionToken":"st","expiration":"2030-01-01T00:00:00Z"},
      "executionRoleCredentials":{"credentialsId":"exec","accessKeyId":"AKIB"},
      "containers":[{"name":"main","image":"i","essential":true,"cpu":10,"memory":64,
        "containerArn":"container-arn","dockerConfig":{"config":"{\"Labels\":{\"a\":\"b\"}}",
        "hostConfig":"{\"LogConfig\":{\"Type\":\"json-file\",\"Config\":{\"max-size\":\"1m\"}}}"}}]})");
    answer(core::ImageInfo{"sha256:i", "", {}});
    answer(core::CreatedContainer{"c1"});
    answer(core::Done{});
    send(R"({"arn":")" + other_arn + R"(","desiredStatus":"RUNNING","family":"f","version":"3",
      "roleCredentials":{"credentialsId":"theirs","accessKeyId":"AKIC"},
      "containers":[{"name":"main","image":"i","essential":true}]})");
    gpus_.gpus.push_back({.uuid = "GPU-1", .model = "Tesla V100", .memory_mib = 16384});
  }

  static core::Config config() {
    core::Config made;
    made.agent_name = "agent-1";
    return made;
  }
  void step(core::Input input) {
    core::Output out = core_.step(std::move(input), now_);
    for (const core::Operation& operation : out.operations) last_ = operation.id;
    for (core::CredentialsSet& set : out.credentials) credentials_.set(std::move(set));
  }
  void answer(core::OperationValue value) {
    step(core::OperationDone{last_, core::OperationResult(std::move(value))});
  }
  void send(const std::string& json) {
    acs::PayloadMessage message;
    message.cluster_arn = "default";
    message.container_instance_arn = "instance";
    message.message_id = base::format("m{}", ++messages_);
    message.seq_num = messages_;
    message.tasks.push_back(api::parse<acs::Task>(json).value());
    step(core::SessionMessage{std::move(message)});
  }

  std::string id() const { return core_.tasks().at(task_arn).record.containers[0].metadata_id; }
  net::HttpResponse get(const std::string& target, const std::string& in = task_arn) {
    const auto answer = answer_metadata({core_, credentials_, gpus_, zone_}, in, target);
    const auto* response = std::get_if<net::HttpResponse>(&answer);
    EXPECT_NE(response, nullptr) << target;
    return response == nullptr ? net::HttpResponse{} : *response;
  }
  json::Value body(const std::string& target, const std::string& in = task_arn) {
    const net::HttpResponse response = get(target, in);
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body).value_or(json::Value());
  }

  base::Time now_{std::chrono::seconds(1'750'000'000)};
  Core core_;
  TaskCredentials credentials_;
  gpu::Inventory gpus_;
  std::string zone_ = "us-east-1a";
  core::OperationId last_ = 0;
  int messages_ = 0;
};

TEST_F(Metadata, a_container_is_told_of_itself) {
  const json::Value container = body("/v4/" + id());
  EXPECT_EQ(container["DockerId"].text_or(""), "c1");
  EXPECT_EQ(container["Name"].text_or(""), "main");
  EXPECT_TRUE(container["DockerName"].text_or("").starts_with("ecs-f-3-main-"));
  EXPECT_EQ(container["ImageID"].text_or(""), "sha256:i");
  EXPECT_EQ(container["KnownStatus"].text_or(""), "RUNNING");
  EXPECT_EQ(container["DesiredStatus"].text_or(""), "RUNNING");
  EXPECT_EQ(container["Limits"]["CPU"].as_int64(), 10);
  EXPECT_EQ(container["Labels"]["a"].text_or(""), "b");
  EXPECT_EQ(container["Labels"]["com.amazonaws.ecs.task-arn"].text_or(""), task_arn);
  EXPECT_EQ(container["LogDriver"].text_or(""), "json-file");
  EXPECT_EQ(container["LogOptions"]["max-size"].text_or(""), "1m");
  EXPECT_EQ(container["ContainerARN"].text_or(""), "container-arn");
  EXPECT_EQ(container["Networks"].at(0)["NetworkMode"].text_or(""), "bridge");
  EXPECT_EQ(container["Type"].text_or(""), "NORMAL");
  EXPECT_EQ(container["StartedAt"].text_or(""), "2025-06-15T15:06:40.000Z");
  EXPECT_TRUE(container["ExitCode"].is_null());
}

TEST_F(Metadata, a_container_is_told_of_its_gpus) {
  const json::Value gpus = body("/v4/" + id())["Gpus"];
  ASSERT_EQ(gpus.items().size(), 1U);
  EXPECT_EQ(gpus.at(0)["UUID"].text_or(""), "GPU-1");
  EXPECT_EQ(gpus.at(0)["Model"].text_or(""), "Tesla V100");
  EXPECT_EQ(gpus.at(0)["MemoryMiB"].as_int64(), 16384);
  EXPECT_EQ(json::print(body("/v4/" + id() + "/associations/gpu")),
            R"({"Associations":["GPU-1"]})");
  EXPECT_EQ(get("/v4/" + id() + "/associations/gpu/GPU-1").status, 200);
  EXPECT_EQ(get("/v4/" + id() + "/associations/gpu/GPU-2").status, 404);
}

TEST_F(Metadata, the_task_is_told_in_every_version) {
  for (const std::string& target :
       {"/v4/" + id() + "/task", "/v3/" + id() + "/task", std::string("/v2/metadata")}) {
    const json::Value task = body(target);
    EXPECT_EQ(task["TaskARN"].text_or(""), task_arn) << target;
    EXPECT_EQ(task["Cluster"].text_or(""), "cluster-arn");
    EXPECT_EQ(task["Revision"].text_or(""), "3");
    EXPECT_EQ(task["KnownStatus"].text_or(""), "RUNNING");
    EXPECT_EQ(task["Limits"]["CPU"].as_double(), 0.5);
    EXPECT_EQ(task["AvailabilityZone"].text_or(""), "us-east-1a");
    EXPECT_EQ(task["Containers"].items().size(), 1U);
  }
  EXPECT_EQ(body("/v2/metadata/c1")["Name"].text_or(""), "main");
}

TEST_F(Metadata, figures_are_asked_of_docker) {
  const auto of_container =
      answer_metadata({core_, credentials_, gpus_, zone_}, task_arn, "/v4/" + id() + "/stats");
  const auto* wanted = std::get_if<StatsWanted>(&of_container);
  ASSERT_NE(wanted, nullptr);
  ASSERT_EQ(wanted->containers.size(), 1U);
  EXPECT_EQ(wanted->containers[0].runtime_id, "c1");
  EXPECT_EQ(wanted->containers[0].gpus, std::vector<std::string>{"GPU-1"});
  EXPECT_FALSE(wanted->as_map);
  const auto of_task =
      answer_metadata({core_, credentials_, gpus_, zone_}, task_arn, "/v4/" + id() + "/task/stats");
  EXPECT_TRUE(std::get<StatsWanted>(of_task).as_map);
  docker::ContainerStats stats;
  stats.raw = json::Value::object({{"id", "c1"}});
  gpu::DeviceUse use;
  use.utilisation_percent = 7;
  use.used_mib = 100;
  const json::Value document = stats_document(stats, {{"GPU-1", use}});
  EXPECT_EQ(document["id"].text_or(""), "c1");
  EXPECT_EQ(document["gpu_stats"].at(0)["utilization_percent"].as_int64(), 7);
}

TEST_F(Metadata, a_task_has_its_own_roles_keys_and_nobody_elses) {
  const json::Value keys = body("/v2/credentials/mine");
  EXPECT_EQ(keys["AccessKeyId"].text_or(""), "AKIA");
  EXPECT_EQ(keys["SecretAccessKey"].text_or(""), "sk");
  EXPECT_EQ(keys["Token"].text_or(""), "st");
  EXPECT_EQ(keys["RoleArn"].text_or(""), "arn:role");
  EXPECT_EQ(keys["Expiration"].text_or(""), "2030-01-01T00:00:00Z");
  EXPECT_EQ(body("/v1/credentials?id=mine")["AccessKeyId"].text_or(""), "AKIA");
  for (const char* target : {"/v2/credentials/theirs", "/v2/credentials/unknown"}) {
    const net::HttpResponse refused = get(target);
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_NE(refused.body.find("InvalidIdInRequest"), std::string::npos);
  }
  EXPECT_EQ(body("/v2/credentials/theirs", "")["AccessKeyId"].text_or(""), "AKIC")
      << "on the machine's own loopback interface the id is what counts";
}

TEST_F(Metadata, the_execution_roles_keys_are_in_no_answer) {
  EXPECT_EQ(get("/v2/credentials/exec").status, 400);
  EXPECT_EQ(get("/v2/credentials/exec", "").status, 400);
}

TEST_F(Metadata, keys_that_have_not_come_yet_are_told_apart_from_unknown_ones) {
  credentials_.retain([](const std::string&) { return false; });
  const net::HttpResponse waiting = get("/v2/credentials/mine");
  EXPECT_EQ(waiting.status, 503);
  EXPECT_NE(waiting.body.find("CredentialsUninitialized"), std::string::npos);
}

TEST_F(Metadata, another_tasks_container_is_not_told_of) {
  const std::string theirs = core_.tasks().at(other_arn).record.containers[0].metadata_id;
  EXPECT_EQ(get("/v4/" + theirs).status, 404);
  EXPECT_EQ(get("/v4/" + theirs, "").status, 200);
  EXPECT_EQ(get("/v4/unknown").status, 404);
  EXPECT_EQ(get("/v2/metadata", "").status, 404);
  for (const char* target : {"/", "", "/v5/x", "/v4/", "/v4", "/v2/nothing"}) {
    EXPECT_EQ(get(target).status, 404) << target;
  }
}

}  // namespace
}  // namespace agent
