#include "control/capacity/groups/waiting_needs.h"

#include <algorithm>
#include <utility>

#include "control/capacity/waiting.h"
#include "model/catalogue.h"

namespace control {
namespace {

using model::MachineState;
using reconcile::machines::CountedRequest;
using reconcile::machines::Look;
using reconcile::machines::Room;

bool ask_the_same(const placement::Request& left, const placement::Request& right) {
  return left.cluster == right.cluster && left.group == right.group &&
         left.resources == right.resources && left.launch_type == right.launch_type &&
         left.required_attributes == right.required_attributes && left.needs == right.needs &&
         left.constraints == right.constraints;
}

std::vector<CountedRequest> needs_of(const Step& step, const std::string& provider) {
  std::vector<CountedRequest> needs;
  for (const auto& [cluster, tasks] : step.state().waiting_tasks) {
    for (const model::TaskArn& arn : tasks) {
      const model::Task& task = *model::find_task(step.state(), arn);
      if (task.capacity_provider != provider) continue;
      auto plan = plan_waiting_task(step, task);
      if (!plan) continue;  // It cannot be placed either, and its scheduler says why.
      const auto same = std::ranges::find_if(needs, [&](const CountedRequest& need) {
        return ask_the_same(need.request, plan->request);
      });
      if (same != needs.end()) {
        ++same->count;
      } else {
        needs.push_back({.request = std::move(plan->request), .count = 1});
      }
    }
  }
  return needs;
}

// Machines of a type that the catalogue does not have are taken to be all alike.
bool is_of_type(const model::ContainerInstance& instance, const std::string& type) {
  if (model::find_instance_type(type) == nullptr) return true;
  const auto found = instance.attributes.find("ecs.instance-type");
  return found != instance.attributes.end() && found->second == type;
}

}  // namespace

reconcile::machines::Estimate waiting_for(const Step& step, const model::CapacityProvider& provider,
                                          const model::AutoScalingGroup& group,
                                          const std::vector<Look>& looks,
                                          const std::string& instance_type) {
  std::vector<CountedRequest> needs = needs_of(step, provider.name);
  if (needs.empty()) return {};
  std::vector<Room> rooms;
  const model::ContainerInstance* registered = nullptr;
  int32_t alive = 0;
  for (size_t i = 0; i < group.machines.size(); ++i) {
    const model::Machine& machine = group.machines[i];
    if (machine.state == MachineState::Terminating) continue;
    ++alive;
    const model::ContainerInstance* const instance = looks[i].instance;
    if (instance == nullptr) {
      rooms.push_back({.token = machine.token, .instance = nullptr});
    } else if (is_of_type(*instance, instance_type)) {
      registered = instance;
      if (instance->status == model::InstanceStatus::Active && looks[i].lost_at > step.now) {
        rooms.push_back({.token = machine.token, .instance = instance});
      }
    }
  }
  const int32_t there = std::max(alive, group.desired_capacity);
  for (int32_t i = alive; i < there; ++i) rooms.push_back({});
  return reconcile::machines::estimate(std::move(needs), rooms,
                                       reconcile::machines::imagine(instance_type, registered),
                                       std::max(0, group.max_size - there));
}

}  // namespace control
