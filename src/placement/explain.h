// Why a task would go where it would, or nowhere: the decision of Engine::place(), dry, with what
// happens to each instance on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement/place.h"

namespace placement {

// One step of the way: how many instances it turned away.
struct ExplainedStep {
  std::string reason;   // ECS's words: "RESOURCE:GPU"; "NOT ACTIVE" for the first.
  std::string subject;  // What the step looks at: "4 GPUs", the expression, the attribute's name.
  int32_t fallen = 0;
  int32_t left = 0;
};

enum class ExplainedChangeKind : uint8_t {
  AskLess,         // Of a resource.
  Wait,            // For tasks to end.
  Move,            // A task elsewhere.
  DropConstraint,  // memberOf or distinctInstance.
  AddAttribute,    // To an instance.
  ConnectAgent,    // Of an instance.
  AddInstance,     // Nothing smaller does.
};

// A small change after which the task would be placed.
struct ExplainedChange {
  ExplainedChangeKind kind = ExplainedChangeKind::AskLess;
  std::string sentence;               // Without an end stop.
  model::InstanceArn instance;        // Where the task would go then; empty = not known.
  std::vector<model::TaskArn> tasks;  // Wait, Move: those to end or to go.
};

struct Explanation {
  std::string wanted;     // "100 CPU units, 80 MiB of memory and 4 GPUs".
  int32_t instances = 0;  // In the cluster; those that were deregistered are not.
  int32_t active = 0;     // Of these, which may take tasks like it: the fits are of them.
  std::vector<ExplainedStep> steps;  // Only those that turned instances away, in order.
  std::optional<Placement> placement;
  std::vector<int64_t> gpu_indexes;      // Of placement->held.gpus, as gpu_index().
  std::string summary;                   // One sentence.
  std::vector<Refusal> nearest;          // The nearest fits, when there is no placement.
  std::vector<ExplainedChange> changes;  // The smallest first, when there is no placement.
  std::vector<std::string> warnings;     // About expressions.
};

// Never alters the state or what the engine has learned. Errors: InvalidParameterException from
// constraints and strategies.
base::Result<Explanation> explain(Engine& engine, const model::ClusterState& state,
                                  const Request& request);

// Of StartTask: whether this instance would take the task. Constraints and strategies are not
// looked at.
Explanation explain_on(Engine& engine, const model::ClusterState& state, const Request& request,
                       const model::InstanceArn& instance);

// The place of a GPU on its instance, as `berth gpus` counts them from 0; -1: it is not known.
int64_t gpu_index(const model::ContainerInstance* instance, std::string_view uuid);

// Of a task that is there: what it holds, and where. Empty when there is no such task.
std::string explain_task(const model::ClusterState& state, const model::TaskArn& arn);
// The same as one JSON object; "null" when there is no such task.
std::string explain_task_json(const model::ClusterState& state, const model::TaskArn& arn);

// As people read it; lines end with '\n'.
std::string print_text(const Explanation& explanation);
// One JSON object.
std::string print_json(const Explanation& explanation);
// For the detail of a failure, in one paragraph: all that the refusal names, what the cluster as a
// whole has, and the smallest change. At most `most` bytes, then cut at a word.
std::string print_brief(const Refusal& refusal, const Explanation& explanation, size_t most);

}  // namespace placement
