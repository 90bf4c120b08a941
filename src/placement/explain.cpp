#include "placement/explain.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/sentence.h"
#include "model/task_bounds.h"
#include "placement/cluster.h"
#include "placement/explain_changes.h"
#include "placement/query/parser.h"

namespace placement {
namespace {

constexpr size_t most_nearest = 3;
// Of the step at which instances of other capacity providers fall.
constexpr std::string_view reason_provider = "CAPACITY PROVIDER";

std::string wanted_of(const Demand& demand) {
  std::vector<std::string> parts;
  if (demand.cpu_units > 0) parts.push_back(base::format("{} CPU units", demand.cpu_units));
  if (demand.memory_mib > 0) parts.push_back(base::format("{} MiB of memory", demand.memory_mib));
  for (const model::HostPort& port : demand.host_ports) {
    parts.push_back(base::format("host port {}/{}", port.port, port.udp ? "udp" : "tcp"));
  }
  if (demand.wants_gpu()) parts.push_back(gpus_wanted(demand));
  if (parts.empty()) return "nothing";
  return base::format("{}", base::join(parts, ", "));
}

// The first objection, in ECS's order: where the instance falls.
std::pair<std::string, std::string> fall_of(const Objections& objections, const Demand& demand) {
  const Blockers& blockers = objections.blockers;
  if (blockers.agent) return {std::string(reason_agent), "agent not connected"};
  if (objections.wrong_instance()) {
    std::vector<std::string> subjects = objections.kinds;
    subjects.insert(subjects.end(), objections.attributes.begin(), objections.attributes.end());
    for (const std::string& need : objections.needs) {
      subjects.push_back(
          base::format("{} ({})", model::not_allowed(need), model::allowed_by(need)));
    }
    return {std::string(reason_attribute), base::format("{}", base::join(subjects, ", "))};
  }
  if (blockers.cpu) {
    return {std::string(reason_cpu), base::format("{} CPU units", demand.cpu_units)};
  }
  if (blockers.memory) {
    return {std::string(reason_memory), base::format("{} MiB of memory", demand.memory_mib)};
  }
  if (blockers.ports) return {std::string(reason_ports), "host ports"};
  if (blockers.gpu) return {std::string(reason_gpu), gpus_wanted(demand)};
  if (!objections.expressions.empty()) {
    return {std::string(reason_constraint), objections.expressions[0]};
  }
  return {std::string(reason_distinct), "distinctInstance"};
}

// Steps in ECS's order, whatever the order in which instances fell.
int order_of(std::string_view reason) {
  const std::string_view order[] = {reason_agent,      reason_attribute, reason_cpu,
                                    reason_memory,     reason_ports,     reason_gpu,
                                    reason_constraint, reason_distinct};
  return static_cast<int>(std::ranges::find(order, reason) - std::begin(order));
}

// Instances that are not ACTIVE, by their status: "DRAINING".
using NotActive = std::map<std::string, int32_t>;

std::vector<ExplainedStep> steps_of(const std::vector<Considered>& considered, const Demand& demand,
                                    const NotActive& not_active) {
  std::vector<ExplainedStep> steps;
  auto left = static_cast<int32_t>(considered.size());
  for (const auto& [status, count] : not_active) left += count;
  for (const auto& [status, count] : not_active) {
    left -= count;
    steps.push_back({"NOT ACTIVE", status, count, left});
  }
  std::map<std::tuple<int, std::string, std::string>, int32_t> fallen;
  for (const Considered& each : considered) {
    if (!each.objections.any()) continue;
    auto [reason, subject] = fall_of(each.objections, demand);
    ++fallen[{order_of(reason), reason, subject}];
  }
  for (const auto& [step, count] : fallen) {
    left -= count;
    steps.push_back({std::get<1>(step), std::get<2>(step), count, left});
  }
  return steps;
}

// "16 free, but as 3+3+2": free whole GPUs of the instances that only lack GPUs.
std::string spread_of_gpus(const std::vector<Considered>& considered, const Fleet& fleet) {
  std::vector<int32_t> free;
  int32_t sum = 0;
  for (const Considered& each : considered) {
    const int32_t here = fleet[each.index].offer.whole_gpus_free;
    if (here == 0 || !each.objections.expressions.empty() || each.objections.wrong_instance()) {
      continue;
    }
    free.push_back(here);
    sum += here;
  }
  if (free.empty()) return "none is free";
  std::ranges::sort(free, std::greater());
  constexpr size_t shown = 8;
  std::string text = base::format(
      "{}",
      base::join(free.begin(),
                 free.begin() + static_cast<std::ptrdiff_t>(std::min(shown, free.size())), "+"));
  if (free.size() > shown) text += "+...";
  return free.size() == 1 ? base::format("{} free", sum)
                          : base::format("{} free, but as {}", sum, text);
}

std::string instance_named(const model::ClusterState& state, const model::InstanceArn& arn) {
  const model::ContainerInstance* const instance = model::find_instance(state, arn);
  return instance == nullptr ? std::string(model::short_id(arn.str())) : name_of(*instance);
}

void explain_placement(const model::ClusterState& state, Placement placement,
                       Explanation& explanation) {
  const model::ContainerInstance* const instance = model::find_instance(state, placement.instance);
  for (const model::GpuAssignment& gpu : placement.held.gpus) {
    explanation.gpu_indexes.push_back(gpu_index(instance, gpu.gpu));
  }
  explanation.placement = std::move(placement);
}

std::string summary_of(const model::ClusterState& state, const Explanation& explanation,
                       const std::vector<Considered>& considered, const Shape& shape,
                       const Fleet& fleet) {
  if (explanation.placement) {
    return base::format("The task would be placed on instance {}.",
                        instance_named(state, explanation.placement->instance));
  }
  if (!shape.demand.contradiction.empty()) {
    return base::format("No instance can ever take the task: {}.", shape.demand.contradiction);
  }
  if (considered.empty()) {
    const bool others =
        !explanation.steps.empty() && explanation.steps[0].reason == reason_provider;
    return others ? explanation.nearest[0].detail : "The cluster has no ACTIVE container instance.";
  }
  const bool gpus_block = std::ranges::any_of(considered, [](const Considered& each) {
    return each.objections.blockers.gpu && !each.objections.wrong_instance() &&
           each.objections.expressions.empty();
  });
  if (gpus_block && shape.demand.whole_gpus > 0) {
    if (shape.demand.whole_gpus > fleet.most_whole_gpus()) {
      return base::format("The task needs {}; no instance has more than {}.",
                          gpus_wanted(shape.demand), fleet.most_whole_gpus());
    }
    return base::format("The task needs {} on one instance: {}.", gpus_wanted(shape.demand),
                        spread_of_gpus(considered, fleet));
  }
  return explanation.nearest.empty() ? "No instance can take the task."
                                     : explanation.nearest[0].detail;
}

}  // namespace

base::Result<Explanation> ClusterCache::explain(const model::ClusterState& state,
                                                const Request& request) {
  Shape& shape = *TRY(prepare_dry(state, request));
  Explanation explanation;
  explanation.wanted = wanted_of(shape.demand);
  for (const std::string& expression : shape.rules.expressions) {
    const auto parsed = query::parse(expression);
    if (parsed && !parsed->warning.empty()) {
      explanation.warnings.push_back(base::format("'{}': {}", expression, parsed->warning));
    }
  }
  std::vector<Considered> considered;
  NotActive not_active;
  int32_t elsewhere = 0;
  for (uint32_t i = 0; i < fleet_.size(); ++i) {
    if (!fleet_[i].known) continue;
    const model::ContainerInstance* const instance = model::find_instance(state, fleet_[i].arn);
    if (instance->status == model::InstanceStatus::Inactive) continue;
    ++explanation.instances;
    if (!fleet_[i].offer.active) {
      ++not_active[std::string(model::to_string(instance->status))];
      continue;
    }
    if (!considers(request, *instance)) {
      ++elsewhere;
      continue;
    }
    considered.push_back(
        {.index = i, .instance = instance, .objections = objections_of(state, request, shape, i)});
  }
  explanation.active = static_cast<int32_t>(considered.size());
  if (elsewhere > 0) {
    explanation.steps.push_back({std::string(reason_provider), request.capacity_provider, elsewhere,
                                 explanation.instances - elsewhere});
  }
  for (ExplainedStep& step : steps_of(considered, shape.demand, not_active)) {
    explanation.steps.push_back(std::move(step));
  }
  base::Random random(0);
  const bool refused = shape.refused;
  auto placed = place(state, request, shape, random, most_nearest);
  shape.refused = refused;
  if (placed) {
    explain_placement(state, std::move(*placed), explanation);
  } else {
    explanation.nearest = std::move(placed.error());
    explanation.changes = smallest_changes(state, shape.demand, fleet_, considered);
  }
  explanation.summary = summary_of(state, explanation, considered, shape, fleet_);
  return explanation;
}

int64_t gpu_index(const model::ContainerInstance* instance, std::string_view uuid) {
  const model::GpuSlot* const slot =
      instance == nullptr ? nullptr : model::find_gpu(*instance, uuid);
  return slot == nullptr ? -1 : slot - instance->gpus.data();
}

base::Result<Explanation> explain(Engine& engine, const model::ClusterState& state,
                                  const Request& request) {
  return engine.explain(state, request);
}

Explanation explain_on(Engine& engine, const model::ClusterState& state, const Request& request,
                       const model::InstanceArn& instance) {
  Explanation explanation;
  explanation.wanted = wanted_of(demand_of(request.resources));
  explanation.instances = explanation.active = 1;
  auto placed = engine.place_on(state, request, instance);
  if (placed) {
    explain_placement(state, std::move(*placed), explanation);
    explanation.summary =
        base::format("The task would be placed on instance {}.", instance_named(state, instance));
    return explanation;
  }
  explanation.steps.push_back({placed.error().reason, "the instance named", 1, 0});
  explanation.summary = placed.error().detail;
  explanation.nearest.push_back(std::move(placed).error());
  return explanation;
}

std::string explain_task(const model::ClusterState& state, const model::TaskArn& arn) {
  const model::Task* task = model::find_task(state, arn);
  if (task == nullptr) return "";
  std::string text = base::format("Task {} is {}", model::short_id(arn.str()),
                                  model::to_string(task->last_status));
  if (task->last_status == model::TaskStatus::Stopped) {
    return text + base::format(" ({}): it holds nothing.\n", task->stopped_reason.empty()
                                                                 ? "no reason was given"
                                                                 : task->stopped_reason);
  }
  if (task->waiting) {
    text += base::format(": it waits for capacity provider {}{}{}.\n", task->capacity_provider,
                         task->wait_reason.empty() ? "" : " because of ", task->wait_reason);
    return task->wait_detail.empty() ? text : text + task->wait_detail + "\n";
  }
  text += base::format(" on instance {}.\nIt holds {} CPU units and {} MiB of memory{}.\n",
                       instance_named(state, task->instance), task->held.cpu_units,
                       task->held.memory_mib,
                       task->held.cpuset.empty() ? "" : ", on cores " + task->held.cpuset);
  const model::ContainerInstance* instance = model::find_instance(state, task->instance);
  if (instance != nullptr && instance->status != model::InstanceStatus::Active) {
    text += base::format("The instance is {}.\n", model::to_string(instance->status));
  }
  if (instance != nullptr && !model::agent_answers(*instance)) {
    text +=
        base::sentence(base::format(
            "The agent of the instance does not answer: {}",
            instance->status_reason.empty() ? "it has no connection" : instance->status_reason)) +
        " What stands here is what it told last.\n";
  }
  for (const model::GpuAssignment& gpu : task->held.gpus) {
    const model::GpuSlot* slot =
        instance == nullptr ? nullptr : model::find_gpu(*instance, gpu.gpu);
    text += base::format("Container {} holds {} ", gpu.container,
                         gpu.shared ? base::format("{} MiB of", gpu.memory_mib) : "all of");
    text += slot == nullptr ? "GPU " + gpu.gpu
                            : base::format("GPU {}: {}", gpu_index(instance, gpu.gpu), gpu.gpu);
    if (slot != nullptr) {
      text += base::format(" ({}, {}{})", slot->device.model, model::to_string(slot->state),
                           slot->holders.size() > 1
                               ? base::format(", shared by {} containers", slot->holders.size())
                               : "");
    }
    text += ".\n";
  }
  return text;
}

}  // namespace placement
