#include "agent/core/container_body.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/core/container_network.h"
#include "agent/core/container_volumes.h"
#include "agent/core/payload.h"
#include "api/json.h"

namespace agent::core {
namespace {

Config config() {
  Config made;
  made.agent_name = "agent-1";
  made.region = "eu-west-1";
  return made;
}

Task task_of(const std::string& json) {
  auto payload = api::parse<acs::Task>(json);
  EXPECT_TRUE(payload) << payload.error().message;
  base::Random random{1};
  Task task = make_task(std::move(*payload), random, base::Time{});
  const auto complete = complete_task(task);
  EXPECT_TRUE(complete);
  return task;
}

// A task with one container `main`, with more members in it.
std::string with(const std::string& members) {
  return R"({"arn":"arn:aws:ecs:r:1:task/c/0123456789abcdef0123456789abcdef","family":"f",)"
         R"("version":"2","containers":[{"name":"main","image":"i")" +
         (members.empty() ? "" : "," + members) + "}]}";
}

json::Value body_of(const std::string& json, size_t index = 0, Config with_config = config()) {
  const auto request = create_request(with_config, task_of(json), index);
  EXPECT_TRUE(request) << request.error().message;
  return request ? request->body : json::Value();
}

std::string env(const json::Value& body, const std::string& name) {
  for (const json::Value& entry : body["Env"].items()) {
    const std::string text = entry.text_or("");
    if (text.starts_with(name + "=")) return text.substr(name.size() + 1);
  }
  return "(unset)";
}

std::string error_of(const std::string& json) {
  const auto request = create_request(config(), task_of(json), 0);
  return request ? "" : request.error().code + ": " + request.error().message;
}

TEST(container_body, which_log_options_are_secrets_stands_on_the_container) {
  const std::string label(secret_log_options_label);
  EXPECT_EQ(body_of(with(""))["Labels"].find(label), nullptr);
  const json::Value body = body_of(
      with(R"("secrets":[{"name":"A","valueFrom":"a","provider":"ssm","target":"CONTAINER"},)"
           R"({"name":"splunk-token","valueFrom":"b","provider":"ssm","target":"LOG_DRIVER"},)"
           R"({"name":"splunk-url","valueFrom":"c","provider":"ssm","target":"LOG_DRIVER"}])"));
  EXPECT_EQ(body["Labels"][label].text_or(""), "splunk-token,splunk-url");
}

TEST(container_body, a_plain_container_has_the_least_that_docker_needs) {
  EXPECT_EQ(
      json::print(body_of(with(""))),
      R"({"Image":"i","Env":["AWS_DEFAULT_REGION=eu-west-1","AWS_REGION=eu-west-1"],)"
      R"("Labels":{"com.amazonaws.ecs.cluster":"default",)"
      R"("com.amazonaws.ecs.container-name":"main",)"
      R"("com.amazonaws.ecs.task-arn":"arn:aws:ecs:r:1:task/c/0123456789abcdef0123456789abcdef",)"
      R"("com.amazonaws.ecs.task-definition-family":"f",)"
      R"("com.amazonaws.ecs.task-definition-version":"2","berth.agent":"agent-1"},)"
      R"("HostConfig":{"NetworkMode":"bridge","CpuShares":2,"PidsLimit":32768}})");
}

TEST(container_body, processes_are_bounded_as_the_agent_was_told) {
  Config few = config();
  few.pids_limit = 100;
  EXPECT_EQ(create_request(few, task_of(with("")), 0)->body["HostConfig"]["PidsLimit"].as_int64(),
            100);
  few.pids_limit = 0;
  EXPECT_TRUE(create_request(few, task_of(with("")), 0)->body["HostConfig"]["PidsLimit"].is_null());
}

TEST(container_body, command_entry_point_and_limits) {
  const json::Value body = body_of(
      with(R"("command":["a","b"],"entryPoint":["sh"],"cpu":512,"memory":64,"privileged":true)"));
  EXPECT_EQ(json::print(body["Cmd"]), R"(["a","b"])");
  EXPECT_EQ(json::print(body["Entrypoint"]), R"(["sh"])");
  EXPECT_EQ(body["HostConfig"]["CpuShares"].as_int64(), 512);
  EXPECT_EQ(body["HostConfig"]["Memory"].as_int64(), int64_t{64} << 20);
  EXPECT_EQ(body["HostConfig"]["Privileged"].as_bool(), true);
}

TEST(container_body, limits_are_raised_to_what_docker_and_the_kernel_take) {
  const json::Value body = body_of(with(R"("cpu":1,"memory":4)"));
  EXPECT_EQ(body["HostConfig"]["CpuShares"].as_int64(), 2);
  EXPECT_EQ(body["HostConfig"]["Memory"].as_int64(), int64_t{6} << 20);
}

TEST(container_body, an_override_of_the_command_wins) {
  const json::Value body =
      body_of(with(R"("command":["a"],"overrides":"{\"command\":[\"x\",\"y\"]}")"));
  EXPECT_EQ(json::print(body["Cmd"]), R"(["x","y"])");
}

TEST(container_body, the_payloads_docker_config_is_merged_over_what_the_agent_computed) {
  const json::Value body = body_of(
      with(R"("cpu":100,"dockerConfig":{"config":"{\"User\":\"1000\",\"WorkingDir\":\"/w\",)"
           R"(\"Labels\":{\"mine\":\"1\",\"berth.agent\":\"forged\"}}",)"
           R"("hostConfig":"{\"NetworkMode\":\"none\",\"CapAdd\":[\"SYS_PTRACE\"],)"
           R"(\"MemoryReservation\":1048576,\"Memory\":null}"})"));
  EXPECT_EQ(body["User"].text_or(""), "1000");
  EXPECT_EQ(body["WorkingDir"].text_or(""), "/w");
  EXPECT_EQ(body["Labels"]["mine"].text_or(""), "1");
  EXPECT_EQ(body["Labels"]["berth.agent"].text_or(""), "agent-1");
  EXPECT_EQ(body["HostConfig"]["NetworkMode"].text_or(""), "none");
  EXPECT_EQ(body["HostConfig"]["CpuShares"].as_int64(), 100);
  EXPECT_EQ(json::print(body["HostConfig"]["CapAdd"]), R"(["SYS_PTRACE"])");
}

TEST(container_body, docker_config_that_is_no_json_object_is_an_error) {
  EXPECT_TRUE(error_of(with(R"("dockerConfig":{"config":"{"})"))
                  .starts_with("DockerClientConfigError: The payload's dockerConfig.config"));
  EXPECT_TRUE(error_of(with(R"("dockerConfig":{"hostConfig":"[]"})"))
                  .starts_with("DockerClientConfigError: The payload's dockerConfig.hostConfig"));
  EXPECT_EQ(error_of(with(R"("dockerConfig":{"config":"null","hostConfig":""})")), "");
}

TEST(container_body, ports_are_published_in_bridge_mode_only) {
  const std::string ports =
      R"("portMappings":[{"containerPort":80,"hostPort":8080},{"containerPort":53,"hostPort":0,)"
      R"("protocol":"udp"},{"containerPortRange":"100-101"}])";
  const json::Value body = body_of(with(ports));
  EXPECT_EQ(json::print(body["ExposedPorts"]),
            R"({"80/tcp":{},"53/udp":{},"100/tcp":{},"101/tcp":{}})");
  EXPECT_EQ(json::print(body["HostConfig"]["PortBindings"]),
            R"({"80/tcp":[{"HostIp":"","HostPort":"8080"}],"53/udp":[{"HostIp":"","HostPort":""}],)"
            R"("100/tcp":[{"HostIp":"","HostPort":""}],"101/tcp":[{"HostIp":"","HostPort":""}]})");
  std::string host_mode = with(ports);
  host_mode.insert(1, R"("networkMode":"host",)");
  EXPECT_TRUE(body_of(host_mode)["ExposedPorts"].is_null());
  EXPECT_EQ(body_of(host_mode)["HostConfig"]["NetworkMode"].text_or(""), "host");
}

TEST(container_body, one_port_may_be_published_twice) {
  const json::Value body = body_of(with(
      R"("portMappings":[{"containerPort":80,"hostPort":1},{"containerPort":80,"hostPort":2}])"));
  EXPECT_EQ(body["HostConfig"]["PortBindings"]["80/tcp"].items().size(), 2U);
}

TEST(container_body, a_range_that_is_none_is_an_error_that_names_it) {
  for (const char* range : {"x", "80", "80-", "90-80", "0-5", "1-70000", "80-81-82"}) {
    const std::string error =
        error_of(with(std::string(R"("portMappings":[{"containerPortRange":")") + range + "\"}]"));
    EXPECT_NE(error.find(std::string("'") + range + "'"), std::string::npos) << error;
  }
}

TEST(container_body, bindings_are_reported_without_ipv6_and_in_host_mode_from_the_payload) {
  const Task bridge = task_of(with(R"("portMappings":[{"containerPort":80}])"));
  const auto found = network_bindings(bridge.payload, bridge.payload.containers[0],
                                      {{80, "0.0.0.0", 32768, false}, {80, "::", 32768, false}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].host_port, 32768);
  Task host = bridge;
  host.payload.network_mode = "host";
  const auto own = network_bindings(host.payload, host.payload.containers[0], {});
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0].host_port, 80);
  EXPECT_EQ(own[0].protocol, api::ecs::TransportProtocol::Tcp);
}

TEST(container_body, a_range_that_lies_side_by_side_on_the_host_is_one_binding) {
  const Task task =
      task_of(with(R"("portMappings":[{"containerPortRange":"100-102"},{"containerPort":80}])"));
  const auto request = create_request(config(), task, 0);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->port_ranges, (std::vector<PortRange>{{100, 102, false}}));
  const acs::Container& container = task.payload.containers[0];
  const auto side_by_side = network_bindings(task.payload, container,
                                             {{80, "0.0.0.0", 32768, false},
                                              {100, "0.0.0.0", 40000, false},
                                              {101, "0.0.0.0", 40001, false},
                                              {102, "0.0.0.0", 40002, false},
                                              {102, "::", 40002, false}});
  ASSERT_EQ(side_by_side.size(), 2U);
  EXPECT_EQ(side_by_side[0].container_port_range, "100-102");
  EXPECT_EQ(side_by_side[0].host_port_range, "40000-40002");
  EXPECT_EQ(side_by_side[1].container_port, 80);
  const auto scattered = network_bindings(task.payload, container,
                                          {{100, "0.0.0.0", 40000, false},
                                           {101, "0.0.0.0", 50001, false},
                                           {102, "0.0.0.0", 40002, false}});
  EXPECT_EQ(scattered.size(), 3U);
}

// A task whose containers share their network, processes and IPC.
const char* const joined =
    R"({"arn":"arn:aws:ecs:r:1:task/c/0123456789abcdef0123456789abcdef","family":"f","version":"2",)"
    R"("networkMode":"awsvpc","pidMode":"task","ipcMode":"task",)"
    R"("elasticNetworkInterfaces":[{"macAddress":"0a:01:02:03:04:05"}],)"
    R"("containers":[{"name":"a","image":"i","portMappings":[{"containerPort":80}],)"
    R"("dockerConfig":{"config":"{\"Hostname\":\"h\"}","hostConfig":"{\"Dns\":[\"10.0.0.2\"]}"}},)"
    R"({"name":"b","image":"i"}]})";

TEST(container_body, containers_of_a_task_network_join_the_one_that_holds_it) {
  const Task task = task_of(joined);
  ASSERT_EQ(pause_index(task.payload), 2U);
  const std::string holder = "container:" + task.record.containers[2].docker_name;
  EXPECT_TRUE(holder.starts_with("container:ecs-f-2-internalecspause-"));
  const json::Value a = create_request(config(), task, 0)->body;
  EXPECT_EQ(a["HostConfig"]["NetworkMode"].text_or(""), holder);
  EXPECT_EQ(a["HostConfig"]["PidMode"].text_or(""), holder);
  EXPECT_EQ(a["HostConfig"]["IpcMode"].text_or(""), holder);
  // What Docker refuses of a container in another's network.
  EXPECT_TRUE(a["HostConfig"]["Dns"].is_null());
  EXPECT_TRUE(a["Hostname"].is_null());
  EXPECT_TRUE(a["ExposedPorts"].is_null());
  EXPECT_TRUE(a["HostConfig"]["PortBindings"].is_null());
  const json::Value pause = create_request(config(), task, 2)->body;
  EXPECT_EQ(pause["Image"].text_or(""), pause_image);
  EXPECT_EQ(pause["MacAddress"].text_or(""), "0a:01:02:03:04:05");
  EXPECT_EQ(pause["HostConfig"]["NetworkMode"].text_or(""), task_network);
  EXPECT_EQ(pause["HostConfig"]["IpcMode"].text_or(""), "shareable");
  EXPECT_EQ(json::print(pause["HostConfig"]["Dns"]), R"(["10.0.0.2"])");
  EXPECT_EQ(env(pause, "NVIDIA_VISIBLE_DEVICES"), "(unset)");
}

TEST(container_body, the_address_of_the_task_network_is_every_containers_bind_ip) {
  Task task = task_of(joined);
  refresh_task_network(task);
  EXPECT_TRUE(task.record.containers[0].network_bindings.empty());
  task.work[2].ip_addresses = {"172.18.0.2"};
  refresh_task_network(task);
  ASSERT_EQ(task.record.containers[0].network_bindings.size(), 1U);
  EXPECT_EQ(task.record.containers[0].network_bindings[0].bind_ip, "172.18.0.2");
  EXPECT_EQ(task.record.containers[0].network_bindings[0].host_port, 80);
  ASSERT_EQ(task.record.containers[1].network_bindings.size(), 1U);
  EXPECT_FALSE(task.record.containers[1].network_bindings[0].container_port);
  EXPECT_TRUE(task.record.containers[2].network_bindings.empty());
}

TEST(container_body, what_only_the_machine_knows_is_left_to_the_edge) {
  std::string json = with(R"("environmentFiles":[{"type":"s3","value":"s3://b/k.env"}],)"
                          R"("secrets":[{"name":"S","valueFrom":"p","provider":"ssm"}])");
  json.insert(1, R"("cpu":0.5,"memory":128,)");
  const auto request = create_request(config(), task_of(json), 0);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->environment_files, std::vector<std::string>{"s3://b/k.env"});
  ASSERT_EQ(request->secrets.size(), 1U);
  EXPECT_EQ(request->limits, (TaskLimits{"0123456789abcdef0123456789abcdef", 500, 128}));
  EXPECT_FALSE(create_request(config(), task_of(with("")), 0)->limits);
}

TEST(container_body, volumes_links_and_volumes_from_use_dockers_names) {
  const std::string json =
      R"({"arn":"arn:aws:ecs:r:1:task/c/0123456789abcdef0123456789abcdef","family":"f","version":"2",)"
      R"("volumes":[{"name":"host","host":{"sourcePath":"/srv"}},{"name":"scratch"},)"
      R"({"name":"shared","type":"docker","dockerVolumeConfiguration":{"scope":"shared"}},)"
      R"({"name":"own","type":"docker","dockerVolumeConfiguration":{"scope":"task","driver":"d"}}],)"
      R"("containers":[{"name":"main","image":"i","links":["db:base","db"],)"
      R"("volumesFrom":[{"sourceContainer":"db","readOnly":true}],"mountPoints":[)"
      R"({"sourceVolume":"host","containerPath":"/h","readOnly":true},)"
      R"({"sourceVolume":"scratch","containerPath":"/s"},)"
      R"({"sourceVolume":"shared","containerPath":"/x"},{"sourceVolume":"own","containerPath":"/o"}]},)"
      R"({"name":"db","image":"i"}]})";
  const Task task = task_of(json);
  const std::string db = task.record.containers[1].docker_name;
  EXPECT_TRUE(db.starts_with("ecs-f-2-db-"));
  EXPECT_EQ(db.size(), std::string("ecs-f-2-db-").size() + 20);
  const json::Value host = create_request(config(), task, 0)->body["HostConfig"];
  EXPECT_EQ(json::print(host["Binds"]),
            R"(["/srv:/h:ro","ecs-f-2-scratch-0123456789abcdef0123:/s","shared:/x",)"
            R"("ecs-f-2-own-0123456789abcdef0123:/o"])");
  EXPECT_EQ(json::print(host["Links"]), "[\"" + db + ":base\",\"" + db + ":db\"]");
  EXPECT_EQ(json::print(host["VolumesFrom"]), "[\"" + db + ":ro\"]");
  ASSERT_EQ(task.volumes.size(), 3U);
  EXPECT_TRUE(task.volumes[0].of_the_task);
  EXPECT_FALSE(task.volumes[1].of_the_task);
  EXPECT_TRUE(create_volume_request(task.payload, task.volumes[1]).must_exist);
  EXPECT_EQ(create_volume_request(task.payload, task.volumes[2]).driver, "d");
}

TEST(container_body, a_mount_of_an_unknown_volume_is_an_error) {
  EXPECT_NE(error_of(with(R"("mountPoints":[{"sourceVolume":"v","containerPath":"/p"}])"))
                .find("the volume 'v', which the task does not have"),
            std::string::npos);
}

// A task whose container `main` has two GPUs and `side` has none.
std::string gpu_task(const std::string& main, const std::string& side) {
  return R"({"arn":"arn:t/1","family":"f","version":"1","associations":[)"
         R"({"type":"gpu","name":"GPU-2","containers":["main"]},)"
         R"({"type":"gpu","name":"GPU-1","containers":["main"]}],"containers":[)"
         R"({"name":"main","image":"i")" +
         main + R"(},{"name":"side","image":"i")" + side + "}]}";
}

TEST(container_body, a_container_sees_exactly_its_gpus_in_the_order_of_the_associations) {
  const Task task = task_of(gpu_task("", ""));
  const auto request = create_request(config(), task, 0);
  EXPECT_EQ(request->gpus, (GpuAccess{{"GPU-2", "GPU-1"}, std::nullopt}));
  EXPECT_EQ(env(request->body, "NVIDIA_VISIBLE_DEVICES"), "GPU-2,GPU-1");
  EXPECT_EQ(create_request(config(), task, 1)->gpus, GpuAccess{});
}

TEST(container_body, the_tasks_author_cannot_choose_the_gpus) {
  const std::string all = R"(,"environment":{"NVIDIA_VISIBLE_DEVICES":"all"})";
  EXPECT_EQ(env(body_of(gpu_task(all, all), 0), "NVIDIA_VISIBLE_DEVICES"), "GPU-2,GPU-1");
  EXPECT_EQ(env(body_of(gpu_task(all, all), 1), "NVIDIA_VISIBLE_DEVICES"), "void");
  const std::string by_config =
      R"(,"dockerConfig":{"config":"{\"Env\":[\"NVIDIA_VISIBLE_DEVICES=all\"]}"})";
  EXPECT_EQ(env(body_of(gpu_task("", by_config), 1), "NVIDIA_VISIBLE_DEVICES"), "void");
}

TEST(container_body, an_image_that_asks_for_gpus_gets_none_either) {
  Task task = task_of(gpu_task("", ""));
  EXPECT_EQ(env(create_request(config(), task, 1)->body, "NVIDIA_VISIBLE_DEVICES"), "(unset)");
  task.work[1].image_asks_for_gpus = true;
  EXPECT_EQ(env(create_request(config(), task, 1)->body, "NVIDIA_VISIBLE_DEVICES"), "void");
}

TEST(container_body, the_other_doors_to_gpus_are_shut) {
  const json::Value body = body_of(
      gpu_task(
          "",
          R"(,"dockerConfig":{"hostConfig":"{\"Runtime\":\"nvidia\",\"DeviceRequests\":[{}]}"})"),
      1);
  EXPECT_TRUE(body["HostConfig"]["Runtime"].is_null());
  EXPECT_TRUE(body["HostConfig"]["DeviceRequests"].is_null());
  EXPECT_NE(error_of(with(R"("dockerConfig":{"hostConfig":"{\"Devices\":[{\"PathOnHost\":)"
                          R"(\"/dev/nvidia0\",\"PathInContainer\":\"/dev/x\"}]}"})"))
                .find("/dev/nvidia0"),
            std::string::npos);
  EXPECT_NE(error_of(with(R"("dockerConfig":{"hostConfig":"{\"Devices\":[{\"PathOnHost\":)"
                          R"(\"//dev/./nvidia0\",\"PathInContainer\":\"/dev/x\"}]}"})")),
            "");
  EXPECT_NE(
      error_of(R"({"arn":"t/1","volumes":[{"name":"v","host":{"sourcePath":"/dev/null"}}],)"
               R"("containers":[{"name":"main","image":"i","mountPoints":[{"sourceVolume":"v",)"
               R"("containerPath":"/var/run/nvidia-container-devices/all"}]}]})"),
      "");
}

TEST(container_body, a_share_of_a_gpu_sets_the_variables_of_mps) {
  const std::string share =
      R"(,"resourceRequirements":[{"type":"GPU","sharingStrategy":{"nvidiaMps":{"memory":4096,)"
      R"("maxComputePercent":25}}}])";
  const auto request = create_request(config(), task_of(gpu_task(share, "")), 0);
  EXPECT_EQ(request->gpus.sharing, (GpuSharing{4096, 25}));
  EXPECT_EQ(env(request->body, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=4096M");
  EXPECT_EQ(env(request->body, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "25");
  EXPECT_EQ(env(request->body, "CUDA_MPS_PIPE_DIRECTORY"), "/run/mps-ecs");
  EXPECT_EQ(env(request->body, "CUDA_MPS_LOG_DIRECTORY"), "/var/log/mps-ecs");
  EXPECT_EQ(json::print(request->body["HostConfig"]["Binds"]), R"(["/run/mps-ecs:/run/mps-ecs"])");
  EXPECT_EQ(request->body["HostConfig"]["IpcMode"].text_or(""), "host");
  const auto without_percent = create_request(
      config(),
      task_of(gpu_task(
          R"(,"resourceRequirements":[{"type":"GPU","sharingStrategy":{"nvidiaMps":{"memory":1}}}])",
          "")),
      0);
  EXPECT_EQ(env(without_percent->body, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "(unset)");
}

TEST(container_body, a_share_of_a_gpu_needs_the_machine_s_ipc_namespace) {
  const std::string share =
      R"(,"resourceRequirements":[{"type":"GPU","sharingStrategy":{"nvidiaMps":{"memory":4096}}}])";
  Task task = task_of(gpu_task(share, ""));
  task.payload.ipc_mode = "none";
  const auto refused = create_request(config(), task, 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("ipcMode 'none'"), std::string::npos);
}

constexpr const char* awslogs =
    R"("dockerConfig":{"hostConfig":"{\"LogConfig\":{\"Type\":\"awslogs\",\"Config\":)"
    R"({\"awslogs-group\":\"g\",\"awslogs-stream-prefix\":\"p\",\"awslogs-create-group\":\"true\"}}}"})";

TEST(container_body, awslogs_is_shipped_by_the_agent_from_docker_s_own_files) {
  Task task = task_of(with(awslogs));
  const json::Value host = create_request(config(), task, 0)->body["HostConfig"];
  EXPECT_EQ(host["LogConfig"]["Type"].text_or(""), "json-file");
  EXPECT_TRUE(host["LogConfig"]["Config"]["awslogs-group"].is_null());
  task.record.containers[0].runtime_id = "c1";
  const auto shipping = log_shipping(config(), task, 0);
  ASSERT_TRUE(shipping);
  EXPECT_EQ(shipping->group, "g");
  EXPECT_EQ(shipping->stream, "p/main/0123456789abcdef0123456789abcdef");
  EXPECT_EQ(shipping->region, "eu-west-1");
  EXPECT_TRUE(shipping->create_group);
}

TEST(container_body, other_log_drivers_are_passed_through) {
  const std::string journald =
      with(R"("dockerConfig":{"hostConfig":"{\"LogConfig\":{\"Type\":\"journald\"}}"})");
  EXPECT_EQ(body_of(journald)["HostConfig"]["LogConfig"]["Type"].text_or(""), "journald");
  EXPECT_FALSE(log_shipping(config(), task_of(journald), 0));
}

TEST(container_body, the_metadata_variables_come_with_the_endpoint_only) {
  Config with_metadata = config();
  with_metadata.metadata_uri = "http://169.254.170.2";
  std::string json = with("");
  json.insert(1, R"("roleCredentials":{"credentialsId":"secret-id"},)");
  const Task task = task_of(json);
  const json::Value body = create_request(with_metadata, task, 0)->body;
  EXPECT_EQ(env(body, "ECS_CONTAINER_METADATA_URI_V4"),
            "http://169.254.170.2/v4/" + task.record.containers[0].metadata_id);
  EXPECT_EQ(env(body, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), "/v2/credentials/secret-id");
  EXPECT_EQ(env(body_of(json), "ECS_CONTAINER_METADATA_URI_V4"), "(unset)");
  EXPECT_EQ(env(body_of(json), "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), "(unset)");
}

TEST(container_body, in_the_machines_network_the_endpoints_have_a_port_of_its_loopback_interface) {
  Config with_metadata = config();
  with_metadata.metadata_uri = "http://169.254.170.2";
  with_metadata.host_metadata_uri = "http://127.0.0.1:4711";
  std::string json = with("");
  json.insert(1, R"("networkMode":"host","roleCredentials":{"credentialsId":"secret-id"},)");
  const Task task = task_of(json);
  const json::Value body = create_request(with_metadata, task, 0)->body;
  EXPECT_EQ(env(body, "ECS_CONTAINER_METADATA_URI_V4"),
            "http://127.0.0.1:4711/v4/" + task.record.containers[0].metadata_id);
  EXPECT_EQ(env(body, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), "(unset)");
  EXPECT_EQ(env(body, "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
            "http://127.0.0.1:4711/v2/credentials/secret-id");
}

TEST(container_body, the_authors_region_wins) {
  EXPECT_EQ(env(body_of(with(R"("environment":{"AWS_REGION":"mars-1"})")), "AWS_REGION"), "mars-1");
}

TEST(container_body, a_task_is_pinned_to_its_cores) {
  std::string json = with("");
  json.insert(1, R"("berthCpuset":"0-7","memory":128,"pidMode":"host","ipcMode":"none",)");
  const json::Value host = body_of(json)["HostConfig"];
  EXPECT_EQ(host["CpusetCpus"].text_or(""), "0-7");
  EXPECT_EQ(host["Memory"].as_int64(), int64_t{128} << 20);
  EXPECT_EQ(host["PidMode"].text_or(""), "host");
  EXPECT_EQ(host["IpcMode"].text_or(""), "none");
}

TEST(container_body, output_that_docker_keeps_in_files_has_a_bound) {
  Config bounded = config();
  bounded.log_max_size = "100m";
  bounded.default_log_driver = "json-file";
  const auto log_of = [&](const std::string& log) {
    const std::string host =
        log.empty() ? "" : R"("dockerConfig":{"hostConfig":"{\"LogConfig\":)" + log + "}\"}";
    return json::print(body_of(with(host), 0, bounded)["HostConfig"]["LogConfig"]);
  };
  const std::string whole = R"({"Type":"json-file","Config":{"max-size":"100m","max-file":"5"}})";
  EXPECT_EQ(log_of(""), whole);
  EXPECT_EQ(log_of(R"({\"Type\":\"json-file\"})"), whole);
  EXPECT_EQ(log_of(R"({\"Type\":\"json-file\",\"Config\":{\"max-file\":\"2\"}})"),
            R"({"Type":"json-file","Config":{"max-file":"2","max-size":"100m"}})");
  for (const char* own : {R"({\"Type\":\"json-file\",\"Config\":{\"max-size\":\"1g\"}})",
                          R"({\"Type\":\"journald\"})"}) {
    EXPECT_EQ(log_of(own).find("100m"), std::string::npos) << own;
  }
  bounded.default_log_driver = "journald";
  EXPECT_EQ(log_of(""), "null");
  bounded.default_log_driver = "json-file";
  bounded.log_max_size.clear();
  EXPECT_EQ(log_of(""), "null");
}

TEST(container_body, names_are_made_of_letters_that_docker_takes) {
  acs::Task payload;
  payload.family = "a b/c";
  payload.version = "1";
  EXPECT_EQ(docker_name(payload, "m", "00"), "ecs-a-b-c-1-m-00");
}

}  // namespace
}  // namespace agent::core
