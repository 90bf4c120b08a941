// Bytes of JSON per second, of a small request and of a large reply.
#include <benchmark/benchmark.h>

#include "api/generated/ecs.h"
#include "api/json.h"
#include "base/format.h"
#include "base/result.h"
#include "json/value.h"

namespace {

std::string run_task_text() {
  return R"({"cluster":"default","taskDefinition":"train:3","count":1,"launchType":"EC2",)"
         R"("group":"family:train","startedBy":"bench","enableECSManagedTags":false,)"
         R"("overrides":{"containerOverrides":[{"name":"main","command":["sh","-c","nvidia-smi"],)"
         R"("environment":[{"name":"A","value":"1"},{"name":"B","value":"two"}]}]},)"
         R"("placementConstraints":[{"type":"memberOf","expression":"attribute:ecs.os-type == linux"}],)"
         R"("placementStrategy":[{"type":"binpack","field":"memory"}],)"
         R"("tags":[{"key":"team","value":"ml"}],"clientToken":"0123456789abcdef"})";
}

api::ecs::DescribeTasksResponse hundred_tasks() {
  api::ecs::DescribeTasksResponse response;
  const base::Time now(base::Milliseconds(1'700'000'000'250));
  for (int index = 0; index < 100; ++index) {
    const std::string arn =
        base::format("arn:aws:ecs:us-east-1:123456789012:task/default/{:032x}", index);
    response.tasks.push_back(
        {.cluster_arn = "arn:aws:ecs:us-east-1:123456789012:cluster/default",
         .container_instance_arn =
             "arn:aws:ecs:us-east-1:123456789012:container-instance/default/0123456789abcdef",
         .containers = {{.container_arn = arn + "/c",
                         .task_arn = arn,
                         .name = "main",
                         .image = "busybox:test",
                         .runtime_id = "0123456789abcdef0123456789abcdef",
                         .last_status = "RUNNING",
                         .gpu_ids = {"GPU-0a", "GPU-0b"}}},
         .cpu = "256",
         .created_at = now,
         .desired_status = "RUNNING",
         .last_status = "RUNNING",
         .launch_type = api::ecs::LaunchType::Ec2,
         .memory = "512",
         .started_at = now,
         .task_arn = arn,
         .task_definition_arn = "arn:aws:ecs:us-east-1:123456789012:task-definition/train:3",
         .version = 3});
  }
  return response;
}

void set_bytes(benchmark::State& state, size_t size) {
  state.SetBytesProcessed(static_cast<int64_t>(size) * static_cast<int64_t>(state.iterations()));
}

void parse_run_task(benchmark::State& state) {
  const std::string text = run_task_text();
  for (auto _ : state) {
    auto request = api::parse<api::ecs::RunTaskRequest>(text);
    CHECK(request);
    benchmark::DoNotOptimize(request);
  }
  set_bytes(state, text.size());
}
BENCHMARK(parse_run_task);

void parse_describe_tasks(benchmark::State& state) {
  const std::string text = api::print(hundred_tasks());
  for (auto _ : state) {
    auto response = api::parse<api::ecs::DescribeTasksResponse>(text);
    CHECK(response);
    benchmark::DoNotOptimize(response);
  }
  set_bytes(state, text.size());
}
BENCHMARK(parse_describe_tasks);

void print_describe_tasks(benchmark::State& state) {
  const auto response = hundred_tasks();
  const size_t size = api::print(response).size();
  for (auto _ : state) {
    std::string text = api::print(response);
    benchmark::DoNotOptimize(text);
  }
  set_bytes(state, size);
}
BENCHMARK(print_describe_tasks);

// For comparison: the same text into a tree without shapes.
void parse_value(benchmark::State& state) {
  const std::string text = api::print(hundred_tasks());
  for (auto _ : state) {
    auto value = json::parse(text);
    CHECK(value);
    benchmark::DoNotOptimize(value);
  }
  set_bytes(state, text.size());
}
BENCHMARK(parse_value);

}  // namespace
