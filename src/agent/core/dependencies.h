// In which order the containers of a task start and stop.
// Source: amazon-ecs-agent, agent/engine/dependencygraph/graph.go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acs/payload.h"
#include "base/result.h"
#include "base/time.h"

namespace agent::core {

struct Task;

enum class Condition : uint8_t {
  Created,   // volumesFrom: the container exists.
  Start,     // It runs or has run. Links, too.
  Complete,  // It has run and ended, with any exit code.
  Success,   // It has ended with 0.
  Healthy    // Its health check says so.
};

struct Dependency {
  size_t on = 0;  // Index of the container that must be first.
  Condition condition = Condition::Start;
  bool to_create = false;  // Also needed before the dependent is created: links and volumesFrom.
};

// For each container what it depends on. A link and volumesFrom count like dependsOn.
// Errors: "TaskDependencyError" for an unknown name or condition, HEALTHY on a container without a
// Docker health check, and a cycle.
base::Result<std::vector<std::vector<Dependency>>> dependency_graph(const acs::Task& task);

struct Gate {
  bool open = false;
  std::string failure;              // Not empty: it can never open; why, one sentence.
  std::optional<base::Time> check;  // Look again then, when nothing else happens.
};

// Whether the container at `index` may be created, or started.
Gate create_gate(const Task& task, size_t index, base::Time now);
Gate start_gate(const Task& task, size_t index, base::Time now);
// Whether it may be stopped: all that depend on it have stopped.
bool may_stop(const Task& task, size_t index);

}  // namespace agent::core
