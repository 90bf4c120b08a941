// A service in a world of instances for tests: carries decisions out through the model's own
// changes and the placement engine, and checks each of them against the limits as it goes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "model/change.h"
#include "placement/place.h"
#include "reconcile/backoff.h"
#include "reconcile/plan.h"
#include "reconcile/rebalancing.h"
#include "reconcile/reconcile.h"
#include "reconcile/rollout.h"

namespace reconcile::testing {

inline const model::ClusterName cluster{"default"};
inline const base::Time start_time{std::chrono::seconds(1'750'000'000)};

inline model::TaskSource source_of(const model::TaskDefinitionArn& definition) {
  model::TaskSource source;
  source.task_definition = definition;
  return source;
}

class World {
 public:
  explicit World(uint64_t seed = 1) : random(seed) {
    apply(model::ClusterPut{{.name = cluster,
                             .status = model::ClusterStatus::Active,
                             .created_at = start_time,
                             .tags = {},
                             .settings = {},
                             .configuration = {}}});
    engine.reset(state);
  }

  void apply(const model::Change& change) {
    std::vector<model::InstanceArn> touched;
    model::touched_instances(state, change, touched);
    model::apply(state, change);
    for (const model::InstanceArn& one : touched) engine.instance_changed(state, one);
  }

  model::InstanceArn add_instance(const std::string& id, int gpus, const std::string& zone = "a") {
    model::ContainerInstance instance;
    instance.arn = model::instance_arn({}, cluster, id);
    instance.cluster = cluster;
    instance.agent_connected = true;
    instance.cpu_units = 100'000;
    instance.memory_mib = 100'000;
    instance.attributes["ecs.availability-zone"] = zone;
    for (int i = 0; i < gpus; ++i) {
      model::GpuSlot slot;
      slot.device.uuid = base::format("GPU-{}-{}", id, i);
      slot.device.memory_mib = 16'384;
      instance.gpus.push_back(std::move(slot));
    }
    apply(model::InstanceRegistered{instance});
    return instance.arn;
  }

  // A new revision of the family "web" whose tasks need that many GPUs each.
  model::TaskDefinitionArn define(int gpus, bool health_check = false) {
    model::TaskDefinition made;
    made.family = "web";
    made.revision = ++revision;
    made.definition.status = api::ecs::TaskDefinitionStatus::Active;
    made.definition.task_definition_arn = model::task_definition_arn({}, "web", revision).str();
    api::ecs::ContainerDefinition container;
    container.name = "main";
    if (gpus > 0) {
      api::ecs::ResourceRequirement requirement;
      requirement.type = api::ecs::ResourceType::Gpu;
      requirement.value = std::to_string(gpus);
      container.resource_requirements.push_back(std::move(requirement));
    }
    if (health_check) container.health_check.emplace();
    made.definition.container_definitions.push_back(std::move(container));
    const model::TaskDefinitionArn made_arn(*made.definition.task_definition_arn);
    gpus_of[made_arn] = gpus;
    apply(model::TaskDefinitionRegistered{std::move(made)});
    return made_arn;
  }

  // A service "web" as CreateService makes it.
  void create(model::Service made) {
    made.name = "web";
    made.cluster = cluster;
    made.arn = arn;
    made.created_at = now;
    apply(model::ServicePut{made});
    if (made.controller == api::ecs::DeploymentControllerType::Ecs) deploy(made.source);
  }
  void create(int32_t desired, int32_t minimum, int32_t maximum, int gpus) {
    model::Service made;
    made.desired_count = desired;
    made.source.task_definition = define(gpus);
    made.deployment_configuration.minimum_healthy_percent = minimum;
    made.deployment_configuration.maximum_percent = maximum;
    create(std::move(made));
  }

  void deploy(const model::TaskSource& source) {
    model::Service updated = service();
    updated.source = source;
    apply(model::ServicePut{updated});
    const Input input{.state = state, .service = updated, .now = now, .options = options};
    Plan plan(input, random);
    begin_deployment(plan);
    keep(plan.finish());
  }
  void update(auto&& alter) {
    model::Service updated = service();
    alter(updated);
    apply(model::ServicePut{std::move(updated)});
  }

  // One pass as the control plane makes it. True when anything was done.
  bool pass() {
    Input input = look();
    const Decisions first = reconcile(input, random);
    bool acted = carry_out(first);
    input.unplaced = start(first.starts);
    acted = acted || placed_in_pass > 0;
    if (input.unplaced) acted = carry_out(reconcile(input, random)) || acted;
    wake = first.wake;
    return acted;
  }

  // Passes until nothing is left to do; tasks that were placed become RUNNING, those that stop
  // STOPPED; time goes on to where the service wants to look again.
  void run(int most_passes = 200) {
    for (int i = 0; i < most_passes; ++i) {
      const bool acted = pass();
      const bool reported = report_all();
      if (!acted && !reported) {
        if (wake > now + std::chrono::minutes(30)) return;
        now = wake;
      }
    }
  }

  // The oldest first.
  bool place_waiting() {
    bool any = false;
    const auto waiting = requests_;
    for (const auto& [task, request] : waiting) {
      auto placed = engine.place(state, request, random);
      if (!placed) continue;
      requests_.erase(task);
      model::Task made = state.tasks.at(task);
      made.instance = placed->instance;
      made.held = std::move(placed->held);
      made.last_status = model::TaskStatus::Pending;
      made.waiting.reset();
      apply(model::TaskPlaced{std::move(made)});
      any = true;
    }
    return any;
  }

  bool report_all() {
    bool any = place_waiting();
    for (const model::TaskArn& task : tasks()) {
      const model::Task& found = state.tasks.at(task);
      if (found.waiting || !state.instances.at(found.instance).agent_connected) continue;
      if (found.desired_status == model::TaskStatus::Stopped) {
        end(task, found.stop_code);
        any = true;
      } else if (found.last_status < model::TaskStatus::Running) {
        running(task);
        any = true;
      }
    }
    return any;
  }

  void running(const model::TaskArn& task) {
    model::TaskReported report = as_is(task);
    report.last_status = model::TaskStatus::Running;
    report.started_at = now;
    apply(report);
  }
  // The task ends by itself unless somebody wanted it to.
  void end(const model::TaskArn& task, std::string code = "EssentialContainerExited") {
    model::TaskReported report = as_is(task);
    report.last_status = model::TaskStatus::Stopped;
    report.stop_code = report.stop_code.empty() ? std::move(code) : report.stop_code;
    report.stopped_at = now;
    report.execution_stopped_at = now;
    apply(report);
    model::Service counted = service();
    if (note_stopped(counted, state.tasks.at(task), options, now)) {
      apply(model::ServicePut{std::move(counted)});
    }
  }
  void health(const model::TaskArn& task, const std::string& status) {
    apply(model::ContainerHealthReported{task, {{"main", status}}});
  }

  const model::Service& service() const { return state.services.at(arn); }
  const model::Deployment& primary() const { return service().deployments.front(); }
  const model::ServiceDeployment& rollout() const {
    return state.service_deployments.at(primary().service_deployment);
  }
  std::vector<model::TaskArn> tasks() const {
    const auto* const found = model::tasks_of(state, service());
    return found == nullptr ? std::vector<model::TaskArn>()
                            : std::vector<model::TaskArn>(found->begin(), found->end());
  }
  // Of those wanted to run.
  int32_t wanted() const {
    return count([](const model::Task&) { return true; });
  }
  int32_t running_count() const {
    return count(
        [](const model::Task& task) { return task.last_status == model::TaskStatus::Running; });
  }
  int32_t healthy() const {
    return count([this](const model::Task& task) {
      return task.last_status == model::TaskStatus::Running &&
             *task.started_at + options.settle <= now && !is_lost(task);
    });
  }
  int32_t of_definition(const model::TaskDefinitionArn& definition) const {
    return count([&](const model::Task& task) { return task.definition == definition; });
  }
  // Healthy ones, and running ones that are to be replaced.
  int32_t serving() const {
    return count([this](const model::Task& task) {
      if (task.last_status != model::TaskStatus::Running || is_lost(task)) return false;
      const bool old = service().deployments.empty() || task.started_by != primary().id;
      return old || *task.started_at + options.settle <= now ||
             state.instances.at(task.instance).status == model::InstanceStatus::Draining;
    });
  }
  bool said(std::string_view text) const {
    const auto found = state.service_events.find(arn);
    return found != state.service_events.end() &&
           std::ranges::any_of(found->second.events, [&](const model::ServiceEvent& event) {
             return event.message.find(text) != std::string::npos;
           });
  }

  model::ClusterState state;
  placement::Engine engine;
  base::Random random;
  Options options;
  base::Time now = start_time;
  base::Time wake = base::Time::max();
  std::vector<model::InstanceArn> fit;  // For daemons.
  const model::ServiceArn arn = model::service_arn({}, cluster, "web");
  std::map<model::TaskDefinitionArn, int> gpus_of;
  bool check_limits = true;
  bool queues = false;  // A task without a place waits for one.

 private:
  template <class Predicate>
  int32_t count(Predicate&& holds) const {
    int32_t found = 0;
    for (const model::TaskArn& one : tasks()) {
      const model::Task& task = state.tasks.at(one);
      if (task.desired_status != model::TaskStatus::Stopped && holds(task)) ++found;
    }
    return found;
  }
  bool is_lost(const model::Task& task) const {
    const auto& instance = state.instances.at(task.instance);
    return !instance.agent_connected && instance.connected_changed_at + options.lost_after <= now;
  }
  std::pair<int64_t, int64_t> limits() const {
    const auto& configuration = service().deployment_configuration;
    const int64_t desired = service().desired_count;
    return {(desired * configuration.minimum_healthy_percent.value_or(100) + 99) / 100,
            desired * configuration.maximum_percent.value_or(200) / 100};
  }
  Input look() const {
    return {.state = state,
            .service = service(),
            .now = now,
            .options = options,
            .fit = fit,
            .zones = zones_of(state, cluster)};
  }

  void keep(const Decisions& decisions) {
    for (const auto& one : decisions.revisions) apply(model::ServiceRevisionPut{one});
    for (const auto& [id, one] : decisions.rollouts) apply(model::ServiceDeploymentPut{one});
    if (decisions.service) apply(model::ServicePut{*decisions.service});
    for (const std::string& event : decisions.events) {
      apply(model::ServiceEventAdded{arn,
                                     {.id = random.uuid(), .created_at = now, .message = event}});
    }
  }

  bool carry_out(const Decisions& decisions) {
    const int32_t before = serving();
    keep(decisions);
    for (const Stop& stop : decisions.stops) {
      apply(model::TaskStopRequested{stop.task, "ServiceSchedulerInitiated", stop.reason, now});
      if (requests_.erase(stop.task) > 0) end(stop.task);
    }
    if (check_limits && service().status == model::ServiceStatus::Active) {
      // By the service's own doing never below the minimum.
      const auto lower = static_cast<int32_t>(limits().first);
      EXPECT_GE(serving(), std::min(before, lower)) << "of " << service().desired_count;
    }
    return decisions.service || !decisions.stops.empty() || !decisions.rollouts.empty();
  }

  std::optional<Unplaced> start(const std::vector<Start>& starts) {
    placed_in_pass = 0;
    std::optional<Unplaced> unplaced;
    for (const Start& one : starts) {
      for (int32_t i = 0; i < one.count; ++i) {
        const auto before = wanted();
        const auto refusal = place(one);
        if (refusal) {
          if (one.zone.empty()) unplaced = Unplaced{one.count - i, {}, refusal->reason, {}};
          break;
        }
        ++placed_in_pass;
        if (check_limits) EXPECT_LE(before + 1, limits().second);
      }
    }
    return unplaced;
  }

  std::optional<placement::Refusal> place(const Start& one) {
    placement::Request request;
    request.cluster = cluster;
    request.group = "service:web";
    request.resources.cpu_units = 10;
    request.resources.memory_mib = 10;
    const int gpus = gpus_of.at(one.source.task_definition);
    if (gpus > 0) {
      model::GpuRequest wanted_gpus;
      wanted_gpus.container = "main";
      wanted_gpus.count = static_cast<uint32_t>(gpus);
      request.resources.gpus.push_back(wanted_gpus);
    }
    if (!one.zone.empty()) {
      api::ecs::PlacementConstraint constraint;
      constraint.type = api::ecs::PlacementConstraintType::MemberOf;
      constraint.expression = "attribute:ecs.availability-zone == " + one.zone;
      request.constraints.push_back(std::move(constraint));
    }
    if (!one.on.empty()) {
      auto placed = engine.place_on(state, request, one.on);
      if (!placed) return placed.error();
      keep_task(one, std::move(*placed));
      return std::nullopt;
    }
    auto placed = engine.place(state, request, random);
    if (!placed && queues && one.zone.empty()) {
      const model::TaskArn waits = queue_task(one);
      requests_.emplace(waits, request);
      apply(model::TaskWaits{waits, placed.error().front().reason, {}});
      return std::nullopt;
    }
    if (!placed) {
      return placed.error().empty() ? placement::Refusal{{}, "NO ACTIVE INSTANCES", {}}
                                    : placed.error().front();
    }
    keep_task(one, std::move(*placed));
    return std::nullopt;
  }

  model::TaskArn queue_task(const Start& one) {
    model::Task task = task_of(one);
    task.last_status = model::TaskStatus::Provisioning;
    task.waiting.emplace();
    task.capacity_provider = model::berth_queue;
    const model::TaskArn made = task.arn;
    apply(model::TaskQueued{std::move(task)});
    return made;
  }

  void keep_task(const Start& one, placement::Placement placed) {
    model::Task task = task_of(one);
    task.instance = placed.instance;
    task.held = std::move(placed.held);
    apply(model::TaskPlaced{std::move(task)});
  }

  model::Task task_of(const Start& one) {
    model::Task task;
    task.arn = model::task_arn({}, cluster, base::format("{:06}", ++tasks_made));
    task.cluster = cluster;
    task.definition = one.source.task_definition;
    task.group = "service:web";
    task.started_by = one.id;
    task.created_at = now;
    model::TaskContainer container;
    container.name = "main";
    task.containers.push_back(std::move(container));
    return task;
  }

  model::TaskReported as_is(const model::TaskArn& task) const {
    const model::Task& found = state.tasks.at(task);
    model::TaskReported report;
    report.arn = task;
    report.last_status = found.last_status;
    report.containers = found.containers;
    report.stop_code = found.stop_code;
    report.stopped_reason = found.stopped_reason;
    report.started_at = found.started_at;
    return report;
  }

  int revision = 0;
  int tasks_made = 0;
  int placed_in_pass = 0;
  std::map<model::TaskArn, placement::Request> requests_;  // Of tasks that wait.
};

}  // namespace reconcile::testing
