// A service of 5,000 tasks, one GPU each, over 1,000 instances of eight GPUs: from CreateService to
// its steady state, each task placed, made durable, delivered, and reported RUNNING by its
// instance's agent; what 1,000 services cost when nothing changes; and what they cost when each
// wants more tasks than the instances have room for. usage: services [--tasks N] [--instances N]
// [--services N] The driver with SQLite on the machine's disk; agents are in the same process, and
// answer each payload at once with an acknowledgement and two reports. Prints one JSON object a
// line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "control/operations.h"
#include "driver/driver.h"
#include "model/catalogue.h"
#include "reconcile/reconcile.h"
#include "store/sqlite/sqlite_store.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int tasks = 5000;
  int instances = 1000;
  int services = 1000;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of the control plane; what agents do is not in it.
struct Work {
  double cpu_ms = 0;
  double longest_turn_ms = 0;
};

// The time of the control plane goes with the machine's.
class Plane {
 public:
  explicit Plane(const std::string& path) : start_(Clock::now()) {
    auto store = store::SqliteStore::open(path);
    CHECK(store.has_value());
    store_ = std::move(*store);
    settings_.connect_grace = std::chrono::hours(1000);
    auto driver =
        driver::Driver::start(*store_, settings_, 1, "bench", base::Milliseconds(0), now());
    CHECK(driver.has_value());
    driver_ = std::move(*driver);
  }

  base::Time now() const {
    return base::Time(std::chrono::seconds(1'750'000'000)) +
           std::chrono::duration_cast<base::Milliseconds>(Clock::now() - start_);
  }

  template <class Request>
  control::Input call(std::string_view operation, Request request) {
    const control::Action* const action = control::find_action("ecs", operation);
    CHECK(action != nullptr);
    return control::ApiCall{++last_id_, action, api::Any::make(std::move(request)), {}};
  }

  driver::Released turn(std::vector<control::Input> inputs) {
    const std::clock_t began = std::clock();
    driver::Released released = driver_->turn(std::move(inputs), now());
    const double cpu_ms = 1000.0 * static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    work_.cpu_ms += cpu_ms;
    work_.longest_turn_ms = std::max(work_.longest_turn_ms, cpu_ms);
    for (const control::Reply& reply : released.replies) {
      if (!reply.result) std::fprintf(stderr, "%s\n", reply.result.error().message.c_str());
      CHECK(reply.result.has_value());
    }
    return released;
  }
  // Since the last call.
  Work take_work() { return std::exchange(work_, {}); }
  bool due() const { return driver_->next_timer() <= now(); }
  const model::ClusterState& state() const { return driver_->core().state(); }

  void add_instances(int count) {
    const model::InstanceType& type = *model::find_instance_type("p3.16xlarge");
    for (int i = 0; i < count; ++i) {
      api::ecs::RegisterContainerInstanceRequest request;
      request.instance_identity_document =
          base::format(R"({{"instanceId":"i-{:017x}","instanceType":"p3.16xlarge"}})", i);
      for (const model::GpuDevice& gpu : model::emulated_gpus(type, std::to_string(i))) {
        api::ecs::PlatformDevice device;
        device.id = gpu.uuid;
        device.type = api::ecs::PlatformDeviceType::Gpu;
        request.platform_devices.push_back(std::move(device));
      }
      std::vector<control::Input> inputs;
      inputs.push_back(call("RegisterContainerInstance", std::move(request)));
      turn(std::move(inputs));
    }
    control::SessionId session = 0;
    std::vector<control::Input> opened;
    for (const auto& [arn, instance] : state().instances) {
      opened.push_back(control::SessionOpened{++session, instance.cluster, arn});
    }
    turn(std::move(opened));
  }

  // What the agents answer to the messages.
  std::vector<control::Input> answers(const std::vector<control::ToAgent>& messages) {
    std::vector<control::Input> inputs;
    for (const control::ToAgent& message : messages) {
      const auto* const payload = std::get_if<acs::PayloadMessage>(&message.message);
      if (payload == nullptr) continue;
      acs::AckRequest ack;
      ack.message_id = payload->message_id;
      inputs.push_back(control::SessionMessage{message.session, std::move(ack)});
      for (const acs::Task& task : payload->tasks) {
        api::ecs::SubmitTaskStateChangeRequest report;
        report.task = task.arn;
        report.status = task.desired_status == "STOPPED" ? "STOPPED" : "RUNNING";
        api::ecs::ContainerStateChange container;
        container.container_name = "main";
        container.status = report.status;
        report.containers.push_back(std::move(container));
        inputs.push_back(call("SubmitTaskStateChange", std::move(report)));
      }
    }
    return inputs;
  }

  const model::Service& service(std::string_view name) const {
    return state().services.at(model::service_arn(settings_.account, cluster_, name));
  }

 private:
  const Clock::time_point start_;
  const model::ClusterName cluster_{"default"};
  control::Settings settings_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<driver::Driver> driver_;
  control::RequestId last_id_ = 0;
  Work work_;
};

std::vector<control::Input> one(control::Input input) {
  std::vector<control::Input> inputs;
  inputs.push_back(std::move(input));
  return inputs;
}

void prepare(Plane& plane, int instances) {
  api::ecs::CreateClusterRequest cluster;
  cluster.cluster_name = "default";
  plane.turn(one(plane.call("CreateCluster", cluster)));
  plane.add_instances(instances);
  api::ecs::RegisterTaskDefinitionRequest definition;
  definition.family = "web";
  api::ecs::ContainerDefinition container;
  container.name = "main";
  container.image = "busybox";
  container.memory = 64;
  container.cpu = 10;
  api::ecs::ResourceRequirement gpu;
  gpu.type = api::ecs::ResourceType::Gpu;
  gpu.value = "1";
  container.resource_requirements.push_back(std::move(gpu));
  definition.container_definitions.push_back(std::move(container));
  plane.turn(one(plane.call("RegisterTaskDefinition", definition)));
}

control::Input create_service(Plane& plane, std::string name, int tasks) {
  api::ecs::CreateServiceRequest request;
  request.service_name = std::move(name);
  request.task_definition = "web";
  request.desired_count = tasks;
  return plane.call("CreateService", std::move(request));
}

[[noreturn]] void give_up(const Plane& plane) {
  for (const auto& [arn, kept] : plane.state().service_events) {
    for (const auto& event : kept.events) std::fprintf(stderr, "%s\n", event.message.c_str());
  }
  std::exit(1);
}

// Agents and timers until `done` holds.
template <class Done>
void work_until(Plane& plane, driver::Released released, Done&& done) {
  std::vector<control::Input> inputs = plane.answers(released.messages);
  const auto start = Clock::now();
  while (!done()) {
    if (seconds_since(start) > 60) give_up(plane);
    if (inputs.empty() && !plane.due()) continue;
    std::vector<control::Input> batch;
    const size_t most = std::min<size_t>(inputs.size(), 256);
    std::move(inputs.begin(), inputs.begin() + static_cast<int64_t>(most),
              std::back_inserter(batch));
    inputs.erase(inputs.begin(), inputs.begin() + static_cast<int64_t>(most));
    if (plane.due()) batch.push_back(control::TimerDue{});
    released = plane.turn(std::move(batch));
    for (control::Input& input : plane.answers(released.messages)) {
      inputs.push_back(std::move(input));
    }
  }
}

void measure_steady(Plane& plane, const Options& options) {
  const auto start = Clock::now();
  driver::Released released = plane.turn(one(create_service(plane, "large", options.tasks)));
  work_until(plane, std::move(released), [&] { return plane.service("large").steady; });
  std::printf(
      "{\"what\":\"service of %d GPU tasks over %d instances to steady state\",\"value\":\"%.2f "
      "s\","
      "\"target\":\"5 s\"}\n",
      options.tasks, options.instances, seconds_since(start));
  const auto scale_in = Clock::now();
  api::ecs::UpdateServiceRequest request;
  request.service = "large";
  request.desired_count = options.tasks / 2;
  released = plane.turn(one(plane.call("UpdateService", std::move(request))));
  work_until(plane, std::move(released), [&] { return plane.service("large").steady; });
  std::printf("{\"what\":\"scale-in of it to %d tasks\",\"value\":\"%.2f s\"}\n", options.tasks / 2,
              seconds_since(scale_in));
}

void measure_idle(Plane& plane, const Options& options) {
  std::vector<control::Input> creates;
  for (int i = 0; i < options.services; ++i) {
    creates.push_back(create_service(plane, base::format("small-{:04}", i), 2));
  }
  driver::Released released = plane.turn(std::move(creates));
  const auto completed = [&] {
    for (const auto& [arn, service] : plane.state().services) {
      if (!service.steady || service.deployments.front().rollout_state !=
                                 api::ecs::DeploymentRolloutState::Completed) {
        return false;
      }
    }
    return true;
  };
  work_until(plane, std::move(released), completed);
  const int rounds = 20;
  // The scheduler's own pass: nothing is due, so nothing is looked at.
  auto start = Clock::now();
  for (int i = 0; i < rounds; ++i) plane.turn(one(control::TimerDue{}));
  std::printf(
      "{\"what\":\"pass over %d unchanged services, as the control plane makes it\",\"value\":"
      "\"%.3f ms\",\"target\":\"1 ms\"}\n",
      options.services, seconds_since(start) * 1000 / rounds);
  // Each service looked at all the same, as after a restart.
  base::Random random(1);
  start = Clock::now();
  for (int i = 0; i < rounds; ++i) {
    for (const auto& [arn, service] : plane.state().services) {
      if (service.name == "large") continue;
      const auto decisions = reconcile::reconcile(
          {.state = plane.state(), .service = service, .now = plane.now(), .options = {}}, random);
      CHECK(decisions.starts.empty() && decisions.stops.empty() && !decisions.service);
    }
  }
  std::printf(
      "{\"what\":\"the same with each of them looked at anew, 2 tasks each\",\"value\":\"%.3f ms\"}"
      "\n",
      seconds_since(start) * 1000 / rounds);
}

// What comes of it in that time.
void work_for(Plane& plane, driver::Released released, double seconds) {
  const auto start = Clock::now();
  work_until(plane, std::move(released), [&] { return seconds_since(start) > seconds; });
}

// The second in which a service lets one GPU go.
Work one_gpu_comes_free(Plane& plane, int gpus_left) {
  plane.take_work();
  api::ecs::UpdateServiceRequest request;
  request.service = "filler";
  request.desired_count = gpus_left;
  work_for(plane, plane.turn(one(plane.call("UpdateService", std::move(request)))), 1);
  return plane.take_work();
}

// Every GPU is held, and each of many services wants more tasks. One GPU comes free each second,
// and one service gets it: all others try in vain, as often as they ever do.
void measure_crowded(Plane& plane, const Options& options) {
  int gpus = options.instances * 4;
  for (const std::string name : {"other", "filler"}) {
    driver::Released released = plane.turn(one(create_service(plane, name, gpus)));
    work_until(plane, std::move(released), [&] { return plane.service(name).steady; });
  }
  const Work floor = one_gpu_comes_free(plane, --gpus);
  std::vector<control::Input> creates;
  for (int i = 0; i < options.services; ++i) {
    creates.push_back(create_service(plane, base::format("crowded-{:04}", i), 8));
  }
  work_for(plane, plane.turn(std::move(creates)), 3);
  const int rounds = 5;
  Work sum;
  for (int i = 0; i < rounds; ++i) {
    const Work work = one_gpu_comes_free(plane, --gpus);
    sum.cpu_ms += work.cpu_ms / rounds;
    sum.longest_turn_ms = std::max(sum.longest_turn_ms, work.longest_turn_ms);
  }
  const auto taken = std::ranges::count_if(plane.state().tasks, [](const auto& entry) {
    return entry.second.group.starts_with("service:crowded-");
  });
  std::printf(
      "{\"what\":\"CPU a second, one GPU free a second, %d services want it\",\"value\":\"%.1f "
      "ms\","
      "\"nobody wants it\":\"%.1f ms\",\"GPUs taken\":\"%d of %d\"}\n",
      options.services, sum.cpu_ms, floor.cpu_ms, static_cast<int>(taken), rounds + 1);
  std::printf(
      "{\"what\":\"longest turn of it\",\"value\":\"%.1f ms\",\"nobody wants it\":\"%.1f ms\"}\n",
      sum.longest_turn_ms, floor.longest_turn_ms);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const int value = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--tasks") == 0) options.tasks = value;
    if (std::strcmp(argv[i], "--instances") == 0) options.instances = value;
    if (std::strcmp(argv[i], "--services") == 0) options.services = value;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "berth-bench-XXXXXX").string();
  CHECK(mkdtemp(folder.data()) != nullptr);
  {
    Plane plane(folder + "/state.db");
    prepare(plane, options.instances);
    measure_steady(plane, options);
    measure_idle(plane, options);
  }
  {
    Plane plane(folder + "/crowded.db");
    prepare(plane, options.instances);
    measure_crowded(plane, options);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
