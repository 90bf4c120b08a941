#include "api/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/any.h"
#include "api/generated/ecs.h"
#include "api/generated/secretsmanager.h"
#include "api/service.h"

namespace api {
namespace {

using ecs::LaunchType;
using ecs::RunTaskRequest;
using ::testing::HasSubstr;

struct Refusal {
  std::string_view json;
  std::string_view code;
  std::string_view message;
};

template <class T>
void expect_refusals(std::initializer_list<Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    const auto result = parse<T>(refusal.json);
    ASSERT_FALSE(result) << refusal.json;
    EXPECT_EQ(result.error().code, refusal.code) << refusal.json;
    EXPECT_EQ(result.error().message, refusal.message) << refusal.json;
  }
}

TEST(api_json, a_request_is_read_into_its_struct) {
  const auto request = parse<RunTaskRequest>(R"({
    "cluster": "default", "taskDefinition": "train:3", "count": 2, "launchType": "EC2",
    "placementConstraints": [{"type": "memberOf", "expression": "attribute:ecs.instance-type == p3.2xlarge"}],
    "overrides": {"containerOverrides": [{"name": "main", "environment": [{"name": "A", "value": "1"}]}]},
    "enableECSManagedTags": true, "tags": []})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->cluster, "default");
  EXPECT_EQ(request->task_definition, "train:3");
  EXPECT_EQ(request->count, 2);
  EXPECT_EQ(request->launch_type, LaunchType::Ec2);
  ASSERT_EQ(request->placement_constraints.size(), 1U);
  EXPECT_EQ(request->placement_constraints[0].type, ecs::PlacementConstraintType::MemberOf);
  EXPECT_EQ(request->overrides->container_overrides[0].environment[0].value, "1");
  EXPECT_EQ(request->enable_ecs_managed_tags, true);
  EXPECT_TRUE(request->tags.present());
  EXPECT_TRUE(request->tags.empty());
  EXPECT_FALSE(request->placement_strategy.present());
  EXPECT_FALSE(request->group.has_value());
}

TEST(api_json, unknown_members_are_ignored_whatever_they_hold) {
  const auto request = parse<RunTaskRequest>(
      R"({"future": {"a": [1, {"cluster": "x"}], "b": null}, "more": [[]], "taskDefinition": "t", "x": 1.5})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(*request, (RunTaskRequest{.task_definition = "t"}));
}

TEST(api_json, unknown_members_are_refused_on_request_and_named_by_their_path) {
  const auto request = parse<RunTaskRequest>(
      R"({"taskDefinition": "t", "overrides": {"containerOverrides": [{"name": "m", "future": {}}]}})",
      {.refuse_unknown = true});
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().message,
            "The member overrides.containerOverrides[0].future is not known.");
}

TEST(api_json, null_is_absent) {
  const auto request = parse<RunTaskRequest>(
      R"({"taskDefinition": "t", "cluster": null, "tags": null, "overrides": null, "count": null})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(*request, (RunTaskRequest{.task_definition = "t"}));
}

TEST(api_json, absent_and_empty_lists_print_differently) {
  RunTaskRequest request{.task_definition = "t"};
  EXPECT_EQ(print(request), R"({"taskDefinition":"t"})");
  request.tags = {};
  EXPECT_EQ(print(request), R"({"taskDefinition":"t","tags":[]})");
  EXPECT_NE(request, (RunTaskRequest{.task_definition = "t"}));
  request.tags.set_absent();
  EXPECT_EQ(request, (RunTaskRequest{.task_definition = "t"}));
  request.tags.push_back({.key = "team", .value = "ml"});
  EXPECT_EQ(print(request), R"({"taskDefinition":"t","tags":[{"key":"team","value":"ml"}]})");
}

TEST(api_json, maps_keep_presence_too) {
  ecs::LogConfiguration configuration{.log_driver = ecs::LogDriver::Awslogs};
  EXPECT_EQ(print(configuration), R"({"logDriver":"awslogs"})");
  configuration.options = {};
  EXPECT_EQ(print(configuration), R"({"logDriver":"awslogs","options":{}})");
  configuration.options["awslogs-region"] = "us-east-1";
  configuration.options["awslogs-group"] = "g";
  EXPECT_EQ(
      print(configuration),
      R"({"logDriver":"awslogs","options":{"awslogs-group":"g","awslogs-region":"us-east-1"}})");
}

TEST(api_json, a_wrong_type_names_the_member_what_was_expected_and_what_was_given) {
  expect_refusals<ecs::RegisterTaskDefinitionRequest>({
      {R"({"family": "f", "containerDefinitions": [{"name": "a"}, {"memory": "80"}]})",
       "SerializationException",
       "The member containerDefinitions[1].memory must be an integer from -2147483648 to "
       "2147483647, but the string \"80\" was given."},
      {R"({"family": 5})", "SerializationException",
       "The member family must be a string, but the number 5 was given."},
      {R"({"family": "f", "containerDefinitions": {}})", "SerializationException",
       "The member containerDefinitions must be a list, but an object was given."},
      {R"({"family": "f", "containerDefinitions": [[]]})", "SerializationException",
       "The member containerDefinitions[0] must be an object, but a list was given."},
      {R"({"family": "f", "containerDefinitions": [null]})", "SerializationException",
       "The member containerDefinitions[0] must be an object, but null was given."},
      {R"({"containerDefinitions": [{"essential": "true"}]})", "SerializationException",
       "The member containerDefinitions[0].essential must be true or false, but the string "
       "\"true\" was given."},
      {R"({"containerDefinitions": [{"essential": true, "command": "ls"}]})",
       "SerializationException",
       "The member containerDefinitions[0].command must be a list, but the string \"ls\" was "
       "given."},
      {R"({"containerDefinitions": [{"command": ["a", true]}]})", "SerializationException",
       "The member containerDefinitions[0].command[1] must be a string, but true was given."},
      {R"({"containerDefinitions": [{"dockerLabels": {"a": "b", "c": 1.5}}]})",
       "SerializationException",
       "The member containerDefinitions[0].dockerLabels.c must be a string, but the number 1.5 "
       "was given."},
      {R"([])", "SerializationException",
       "The JSON document must be an object, but a list was given."},
      {R"(null)", "SerializationException",
       "The JSON document must be an object, but null was given."},
      {R"("x")", "SerializationException",
       "The JSON document must be an object, but the string \"x\" was given."},
  });
}

TEST(api_json, broken_json_is_a_serialization_exception) {
  for (const char* text : {"", "{", R"({"family": )", R"({"family": "f"}})", "\xFF", "{'a':1}",
                           R"({"family": "f",})"}) {
    const auto result = parse<ecs::RegisterTaskDefinitionRequest>(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, "SerializationException") << text;
  }
}

TEST(api_json, nesting_is_limited_also_in_members_that_are_ignored) {
  const std::string deep = "{\"x\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  const auto result = parse<RunTaskRequest>(deep);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "SerializationException");
  EXPECT_THAT(result.error().message, HasSubstr("deeper than 64"));
}

TEST(api_json, integers_may_be_written_as_whole_doubles_and_must_fit) {
  EXPECT_EQ(parse<ecs::RunTaskRequest>(R"({"taskDefinition":"t","count":1.0})")->count, 1);
  EXPECT_EQ(parse<ecs::RunTaskRequest>(R"({"taskDefinition":"t","count":2e1})")->count, 20);
  EXPECT_EQ(parse<ecs::Resource>(R"({"longValue":9223372036854775807})")->long_value, INT64_MAX);
  EXPECT_EQ(parse<ecs::Resource>(R"({"doubleValue":3})")->double_value, 3.0);
  for (const char* count :
       {"2147483648", "-2147483649", "9223372036854775808", "1.5", "1e10", "1e400"}) {
    const auto result =
        parse<RunTaskRequest>(std::string(R"({"taskDefinition":"t","count":)") + count + "}");
    ASSERT_FALSE(result) << count;
    EXPECT_EQ(result.error().code, "SerializationException");
  }
  EXPECT_FALSE(parse<ecs::Resource>(R"({"longValue":9223372036854775808})"));
}

TEST(api_json, what_is_readable_but_not_allowed_is_an_invalid_parameter) {
  expect_refusals<RunTaskRequest>({
      {"{}", "InvalidParameterException",
       "The member taskDefinition is required, but it is missing."},
      {R"({"taskDefinition": null})", "InvalidParameterException",
       "The member taskDefinition is required, but it is missing."},
      {R"({"taskDefinition": "t", "launchType": "ec2"})", "InvalidParameterException",
       "The member launchType must be one of EC2, EXTERNAL, FARGATE, MANAGED_INSTANCES, but "
       "\"ec2\" was given."},
      {R"({"taskDefinition": "t", "capacityProviderStrategy": [{"capacityProvider": "c", "weight": 1001}]})",
       "InvalidParameterException",
       "The member capacityProviderStrategy[0].weight must be between 0 and 1000, but 1001 was "
       "given."},
      {R"({"taskDefinition": "t", "tags": [{"key": ""}]})", "InvalidParameterException",
       "The member tags[0].key must have a length of between 1 and 128, but its length is 0."},
      {R"({"taskDefinition": "t", "networkConfiguration": {"awsvpcConfiguration": {}}})",
       "InvalidParameterException",
       "The member networkConfiguration.awsvpcConfiguration.subnets is required, but it is "
       "missing."},
  });
}

TEST(api_json, a_value_that_cannot_be_read_is_reported_before_one_that_is_not_allowed) {
  const auto result = parse<RunTaskRequest>(R"({"launchType": "ec2", "count": "x"})");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "SerializationException");
  EXPECT_EQ(parse<RunTaskRequest>(R"({"launchType": "ec2", )").error().code,
            "SerializationException");
}

TEST(api_json, lengths_count_characters_not_bytes) {
  const auto with_key = [](std::string_view character, size_t count) {
    std::string key;
    for (size_t index = 0; index < count; ++index) key += character;
    return parse<ecs::Tag>("{\"key\":\"" + key + "\"}").has_value();
  };
  EXPECT_TRUE(with_key("你", 128));
  EXPECT_FALSE(with_key("你", 129));
}

TEST(api_json, the_codes_of_errors_are_chosen_by_the_caller) {
  const ParseOptions options{.serialization_code = "MalformedInput",
                             .validation_code = "ValidationError"};
  EXPECT_EQ(parse<RunTaskRequest>("{}", options).error().code, "ValidationError");
  EXPECT_EQ(parse<RunTaskRequest>("[]", options).error().code, "MalformedInput");
  EXPECT_EQ(parse<RunTaskRequest>("x", options).error().code, "MalformedInput");
}

TEST(api_json, without_validation_newer_values_are_left_out) {
  const ParseOptions options{.validate = false};
  const auto task = parse<ecs::TaskDefinition>(
      R"({"networkMode": "quantum", "compatibilities": ["EC2", "MOON", "FARGATE"],
          "placementConstraints": [{"type": "new"}], "tags": 1})",
      options);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_FALSE(task->network_mode);
  EXPECT_THAT(task->compatibilities,
              ::testing::ElementsAre(ecs::Compatibility::Ec2, ecs::Compatibility::Fargate));
  EXPECT_TRUE(parse<RunTaskRequest>("{}", options));
  EXPECT_FALSE(parse<RunTaskRequest>(R"({"count": "x"})", options));
}

TEST(api_json, a_union_has_exactly_one_member) {
  const auto requirement = parse<ecs::ResourceRequirement>(
      R"({"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 1024}}})");
  ASSERT_TRUE(requirement) << requirement.error().message;
  EXPECT_EQ(requirement->sharing_strategy->nvidia_mps->memory, 1024);
  expect_refusals<ecs::ResourceRequirement>(
      {{R"({"type": "GPU", "sharingStrategy": {}})", "InvalidParameterException",
        "The member sharingStrategy must have exactly one of its members (nvidiaMps), but it has "
        "0."}});
}

TEST(api_json, timestamps_are_seconds_with_a_fraction_and_may_come_as_text) {
  const auto created = [](std::string_view value) {
    const auto task = parse<ecs::Task>("{\"createdAt\":" + std::string(value) + "}");
    EXPECT_TRUE(task) << value << task.error().message;
    return task->created_at->time_since_epoch().count();
  };
  EXPECT_EQ(created("1700000000"), 1'700'000'000'000);
  EXPECT_EQ(created("1700000000.25"), 1'700'000'000'250);
  EXPECT_EQ(created("1.700000000123E9"), 1'700'000'000'123);
  EXPECT_EQ(created("-1.5"), -1'500);
  EXPECT_EQ(created("\"2023-11-14T22:13:20Z\""), 1'700'000'000'000);
  EXPECT_EQ(created("\"2023-11-14T22:13:20.5Z\""), 1'700'000'000'500);
  for (const char* wrong :
       {"\"yesterday\"", "true", "1e30", "-1e30", "{}", "18446744073709551615"}) {
    const auto task = parse<ecs::Task>("{\"createdAt\":" + std::string(wrong) + "}");
    ASSERT_FALSE(task) << wrong;
    EXPECT_EQ(task.error().code, "SerializationException");
  }
}

TEST(api_json, timestamps_print_up_to_three_decimals) {
  const auto printed = [](int64_t milliseconds) {
    return print(ecs::Task{.created_at = base::Time(base::Milliseconds(milliseconds))});
  };
  EXPECT_EQ(printed(1'700'000'000'000), R"({"createdAt":1700000000})");
  EXPECT_EQ(printed(1'700'000'000'250), R"({"createdAt":1700000000.25})");
  EXPECT_EQ(printed(1'700'000'000'007), R"({"createdAt":1700000000.007})");
  EXPECT_EQ(printed(0), R"({"createdAt":0})");
  EXPECT_EQ(printed(-1'500), R"({"createdAt":-1.5})");
}

TEST(api_json, blobs_are_base64) {
  using secretsmanager::GetSecretValueResponse;
  const auto secret = parse<GetSecretValueResponse>(R"({"SecretBinary":"AP9h"})");
  ASSERT_TRUE(secret) << secret.error().message;
  EXPECT_EQ(secret->secret_binary->bytes, std::string("\0\xFF\x61", 3));
  EXPECT_EQ(print(*secret), R"({"SecretBinary":"AP9h"})");
  for (const char* wrong : {"AP9", "AP9h=", "A===", "AP9*", "AB=="}) {
    EXPECT_FALSE(parse<GetSecretValueResponse>("{\"SecretBinary\":\"" + std::string(wrong) + "\"}"))
        << wrong;
  }
}

TEST(api_json, documents_hold_any_json) {
  const auto hook = parse<ecs::DeploymentLifecycleHook>(
      R"({"hookDetails": {"a": [1, 2.5, null, {"b": "x\n"}]}, "roleArn": "r"})");
  ASSERT_TRUE(hook) << hook.error().message;
  EXPECT_EQ(hook->hook_details->json, R"({"a":[1,2.5,null,{"b":"x\n"}]})");
  EXPECT_EQ(hook->role_arn, "r");
  EXPECT_THAT(print(*hook), HasSubstr(R"("hookDetails":{"a":[1,2.5,null,{"b":"x\n"}]})"));
  EXPECT_EQ(parse<ecs::DeploymentLifecycleHook>(R"({"hookDetails": "s"})")->hook_details->json,
            "\"s\"");
}

TEST(api_json, doubles_and_text_come_back_exactly) {
  const double third = 1.0 / 3.0;
  EXPECT_EQ(parse<ecs::Resource>(print(ecs::Resource{.double_value = third}))->double_value, third);
  const std::string text = std::string("quote\" back\\ nul") + '\0' + "tab\t Ünï 😀";
  EXPECT_EQ(parse<ecs::Resource>(print(ecs::Resource{.name = text}))->name, text);
}

TEST(api_json, the_last_of_two_equal_members_counts) {
  const auto request = parse<RunTaskRequest>(
      R"({"taskDefinition":"a","tags":[{"key":"x"}],"taskDefinition":"b","tags":[{"key":"y"}]})");
  EXPECT_EQ(request->task_definition, "b");
  ASSERT_EQ(request->tags.size(), 1U);
  EXPECT_EQ(request->tags[0].key, "y");
}

TEST(api_json, our_own_members_are_part_of_the_shapes) {
  const auto request = parse<ecs::RegisterContainerInstanceRequest>(R"({
    "berthGpuDriverVersion": "535.1", "platformDevices": [{"id": "GPU-1", "type": "GPU",
      "gpuInfo": {"memoryInMiB": 16160},
      "berthGpu": {"uuid": "GPU-1", "memoryMiB": 16160, "numaNode": 1, "emulated": true,
                   "nvLinks": [{"peer": "GPU-2", "lanes": 2}]}}]})");
  ASSERT_TRUE(request) << request.error().message;
  const ecs::BerthGpu& gpu = *request->platform_devices[0].berth_gpu;
  EXPECT_EQ(gpu.memory_mib, int64_t{16160});
  EXPECT_EQ(gpu.nv_links[0].lanes, 2);
  EXPECT_EQ(request->platform_devices[0].gpu_info->memory_in_mib, 16160);
}

TEST(api_json, a_hint_follows_what_is_not_allowed) {
  const auto task = parse<ecs::RegisterTaskDefinitionRequest>(
      R"({"family": "f", "containerDefinitions": [
          {"resourceRequirements": [{"type": "gpu", "count": 2}]}]})");
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, "InvalidParameterException");
  EXPECT_THAT(task.error().message,
              HasSubstr("containerDefinitions[0].resourceRequirements[0].type must be one of GPU"));
  EXPECT_THAT(task.error().message, HasSubstr(R"([{"type": "GPU", "value": "2"}].)"));
}

TEST(api_json, members_that_people_write_by_mistake_are_kept_to_be_refused) {
  const auto container =
      parse<ecs::ContainerDefinition>(R"({"name": "a", "gpuCount": 2, "gpus": "all"})");
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ(container->gpu_count->json, "2");
  EXPECT_EQ(container->gpus->json, "\"all\"");
  EXPECT_FALSE(container->gpu);
}

TEST(api_service, operations_are_found_by_name) {
  const Operation* run_task = find(ecs_service(), "RunTask");
  ASSERT_NE(run_task, nullptr);
  EXPECT_EQ(run_task->input, &shape_of<RunTaskRequest>());
  EXPECT_EQ(run_task->output, &shape_of<ecs::RunTaskResponse>());
  EXPECT_EQ(find(ecs_service(), "runTask"), nullptr);
  EXPECT_EQ(find(ecs_service(), ""), nullptr);
  EXPECT_EQ(find(logs_service(), "RunTask"), nullptr);
  EXPECT_EQ(find_error(ecs_service(), "ClusterNotFoundException")->http_status, 400);
  EXPECT_TRUE(find_error(ecs_service(), "ServerException")->server_fault);
  EXPECT_EQ(find_error(ecs_service(), "NoSuchException"), nullptr);
  for (const Service* service : {&ecs_service(), &logs_service(), &sts_service()}) {
    for (const Operation& operation : service->operations) {
      EXPECT_EQ(find(*service, operation.name), &operation);
    }
  }
}

TEST(api_any, holds_a_value_of_a_described_type) {
  Any any = Any::make(RunTaskRequest{.cluster = "c"});
  EXPECT_EQ(any.as<RunTaskRequest>().cluster, "c");
  EXPECT_EQ(any.get_if<ecs::StartTaskRequest>(), nullptr);
  EXPECT_EQ(&any.shape(), &shape_of<RunTaskRequest>());
  Any moved = std::move(any);
  EXPECT_EQ(moved.as<RunTaskRequest>().cluster, "c");
  moved = Any::make(ecs::Tag{.key = "k"});
  EXPECT_EQ(moved.as<ecs::Tag>().key, "k");
  Any made = Any::create(*find(ecs_service(), "StopTask")->input);
  ASSERT_TRUE(parse_into(R"({"task":"t"})", made.shape(), made.data()));
  EXPECT_EQ(made.as<ecs::StopTaskRequest>().task, "t");
  EXPECT_TRUE(Any().empty());
  EXPECT_EQ(Any().get_if<ecs::Tag>(), nullptr);
}

TEST(api_any, another_type_is_a_broken_invariant) {
  Any any = Any::make(RunTaskRequest{});
  EXPECT_DEATH(any.as<ecs::Tag>(), "CHECK");
  EXPECT_DEATH(Any().shape(), "CHECK");
}

}  // namespace
}  // namespace api
