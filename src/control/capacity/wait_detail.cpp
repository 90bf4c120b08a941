#include "control/capacity/wait_detail.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/format.h"
#include "control/capacity/groups/machines.h"
#include "model/catalogue.h"

namespace control {
namespace {

// What of the request a machine of the type has too little of when it is empty; empty text: it has
// enough of everything.
std::string shortage_of(const model::ResourceRequest& asked, const model::InstanceType& type) {
  int64_t gpus = 0;
  int64_t largest_share_mib = 0;
  for (const model::GpuRequest& gpu : asked.gpus) {
    if (gpu.kind == model::GpuRequestKind::Count) gpus += gpu.count;
    largest_share_mib = std::max(largest_share_mib, gpu.memory_mib);
  }
  if (!asked.gpus.empty()) gpus = std::max<int64_t>(gpus, 1);
  if (gpus > type.gpus.count) return base::format("{} GPUs", gpus);
  if (largest_share_mib > type.gpus.memory_mib) {
    return base::format("{} MiB of one GPU", largest_share_mib);
  }
  if (asked.cpu_units > type.vcpus * int64_t{1024}) {
    return base::format("{} CPU units", asked.cpu_units);
  }
  if (asked.memory_mib > type.memory_mib) {
    return base::format("{} MiB of memory", asked.memory_mib);
  }
  return {};
}

const model::InstanceType* type_of_group(const Step& step, const std::string& provider) {
  const auto found = step.state().capacity_providers.find(provider);
  if (found == step.state().capacity_providers.end()) return nullptr;
  const auto* const group = group_of_provider(step.state(), found->second);
  return group == nullptr ? nullptr : model::find_instance_type(group->instance_type);
}

std::string hopeless(const Step& step, const placement::Request& request) {
  if (const auto* const type = type_of_group(step, request.capacity_provider)) {
    const std::string shortage = shortage_of(request.resources, *type);
    if (shortage.empty()) return {};
    return base::format(
        "Waiting does not help: the task needs {}, more than the instance type {} of capacity "
        "provider {} has. Stop it and ask for less, or give the Auto Scaling group a larger type. ",
        shortage, type->name, request.capacity_provider);
  }
  std::string shortage;
  for (const model::InstanceType& type : model::instance_types()) {
    shortage = shortage_of(request.resources, type);
    if (shortage.empty()) return {};
  }
  return base::format(
      "Waiting will hardly help: the task needs {}, more than any instance type that Berth knows "
      "has. Stop it and ask for less. ",
      shortage);
}

// The group of the capacity provider has all machines that it may have.
std::string at_maximum(const Step& step, const placement::Request& request) {
  const auto provider = step.state().capacity_providers.find(request.capacity_provider);
  if (provider == step.state().capacity_providers.end()) return {};
  const auto* const group = group_of_provider(step.state(), provider->second);
  if (group == nullptr || std::ssize(group->machines) < group->max_size) return {};
  return base::format(
      "Auto Scaling group {} of capacity provider {} has its maximum of {} machine{}: no more is "
      "launched. To raise it: aws autoscaling update-auto-scaling-group "
      "--auto-scaling-group-name {} --max-size {}. ",
      group->name, request.capacity_provider, group->max_size, group->max_size == 1 ? "" : "s",
      group->name, group->max_size + 1);
}

bool lacks_resource(const placement::Refusal& refusal) {
  return refusal.reason.starts_with("RESOURCE:") || refusal.instance.empty();
}

}  // namespace

std::string wait_detail(const Step& step, const placement::Request& request,
                        const placement::Refusal& refusal) {
  if (!lacks_resource(refusal)) return refusal.detail;
  std::string text = hopeless(step, request);
  if (text.empty()) text = at_maximum(step, request);
  return text + refusal.detail;
}

}  // namespace control
