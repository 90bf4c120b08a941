// The networks and namespaces of a task's containers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acs/payload.h"
#include "agent/core/runtime.h"
#include "agent/core/task.h"
#include "api/generated/ecs.h"
#include "base/result.h"
#include "json/value.h"

namespace agent::core {

// The container that the agent adds to a task whose containers share a namespace: it holds the
// task's network (mode awsvpc), its processes and its IPC. No report names it.
// Source: amazon-ecs-agent, agent/api/task/task.go, NetworkPauseContainerName.
inline constexpr std::string_view pause_container = "~internal~ecs~pause";
// Docker's network for all tasks in mode awsvpc. The edge makes it where it is not there.
inline constexpr std::string_view task_network = "berth-tasks";

std::string network_mode(const acs::Task& task);  // "bridge" where the payload names none.
bool has_task_network(const acs::Task& task);

bool needs_pause(const acs::Task& task);
acs::Container make_pause();
bool is_pause(const acs::Container& container);
// Of the task's containers; nullopt when it has none.
std::optional<size_t> pause_index(const acs::Task& task);

// Sets what joins the container to the task's namespaces, over anything that stands there.
void join_namespaces(const Task& task, size_t index, json::Value& body, json::Value& host);

// ExposedPorts of `body` and PortBindings of `host`. The answer: the ranges whose host ports the
// edge is to choose, side by side. Errors: DockerClientConfigError.
base::Result<std::vector<PortRange>> add_ports(const acs::Task& task,
                                               const acs::Container& container, json::Value& body,
                                               json::Value& host);

// The host mode's ports are the container's own. A range that lies side by side on the host is one
// binding.
api::List<api::ecs::NetworkBinding> network_bindings(const acs::Task& task,
                                                     const acs::Container& container,
                                                     const std::vector<Binding>& found);
// Whether Docker has to be asked which host ports were bound.
bool has_bridge_ports(const acs::Task& task, const acs::Container& container);
// Mode awsvpc: the ports at the task's own address, which is the bindIP. A container without ports
// has one binding that is the address alone.
void refresh_task_network(Task& task);

}  // namespace agent::core
