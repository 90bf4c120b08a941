// From a task definition and a call's overrides to what is placed: the request to the placement
// engine, and the task as it will stand once it has an instance.
#pragma once

#include <optional>
#include <string>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/state.h"
#include "placement/place.h"

namespace control {

// The members that RunTask and StartTask have in common.
struct TaskOptions {
  const std::optional<api::ecs::TaskOverride>& overrides;
  std::optional<std::string> group;
  std::optional<std::string> started_by;
  std::string launch_type;  // "EC2", "EXTERNAL", or empty: either.
  api::List<api::ecs::Tag> tags;
  bool propagate_definition_tags = false;
  bool enable_execute_command = false;
  std::optional<api::ecs::NetworkConfiguration> network_configuration = {};
  bool inactive_definition_too = false;  // A service goes on with one that was deregistered.
};

struct TaskPlan {
  placement::Request request;  // Constraints: the definition's, then those of `asked`.
  model::Task task;            // Without ARN, instance and held resources.
  model::WaitingTask asked;    // What the call wants of its placement: ask_placement().
};

// What a call says of that container; nullptr: nothing.
const api::ecs::ContainerOverride* find_override(
    const std::optional<api::ecs::TaskOverride>& overrides, const std::string& container);

// What a task of this definition with these overrides asks of an instance; cluster, group, launch
// type and capacity provider are the caller's to fill in.
// Errors: ClientException and InvalidParameterException, naming what is wrong.
base::Result<placement::Request> request_of(const model::TaskDefinition& definition,
                                            const std::optional<api::ecs::TaskOverride>& overrides);

// Errors: ClientException and InvalidParameterException, naming what is wrong.
base::Result<TaskPlan> plan_task(const Step& step, const model::Cluster& cluster,
                                 const model::TaskDefinition& definition,
                                 const TaskOptions& options);

// Adds a call's constraints and strategies to the definition's, as they are.
void ask_placement(TaskPlan& plan, const api::List<api::ecs::PlacementConstraint>& constraints,
                   const api::List<api::ecs::PlacementStrategy>& strategies);
// For what a call has just asked: all expressions are parsed.
// Errors: InvalidParameterException where constraints and strategies cannot stand together.
base::Result<void> check_placement(const TaskPlan& plan);

// An id for the task, and for its containers.
void name_planned_task(Step& step, model::Task& task);
// The task is on that instance from now on, and holds what the placement says.
void take_place(const Step& step, model::Task& task, placement::Placement placement);

// Gives the planned task an id and its place, and makes it durable. Returns the new task.
const model::Task& start_planned_task(Step& step, const TaskPlan& plan,
                                      placement::Placement placement);

// Cpu "256", "0.5 vCPU" in CPU units; memory "512", "1 GB" in MiB. Used for task-level sizes.
// Errors: ClientException naming the member.
base::Result<int64_t> parse_cpu_units(const std::string& text);
base::Result<int64_t> parse_memory_mib(const std::string& text);

}  // namespace control
