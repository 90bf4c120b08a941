#include <algorithm>
#include <array>
#include <map>

#include "base/format.h"
#include "control/ec2/actions/actions.h"
#include "control/ec2/lists.h"
#include "model/catalogue.h"

namespace control::ec2 {
namespace {

constexpr std::array<std::string_view, 3> instance_type_filters{
    "instance-type", "memory-info.size-in-mib", "vcpu-info.default-vcpus"};

// What the catalogue knows of it, and nothing else.
api::ec2::InstanceTypeInfo describe(const model::InstanceType& type) {
  api::ec2::InstanceTypeInfo told;
  told.instance_type = type.name;
  told.vcpu_info.emplace().default_vcpus = type.vcpus;
  told.memory_info.emplace().size_in_mib = type.memory_mib;
  if (type.gpus.count == 0) return told;
  const auto memory_mib = static_cast<int32_t>(type.gpus.memory_mib);
  api::ec2::GpuDeviceInfo gpu;
  gpu.name = type.gpus.model;
  gpu.manufacturer = "NVIDIA";
  gpu.count = type.gpus.count;
  gpu.memory_info.emplace().size_in_mib = memory_mib;
  told.gpu_info.emplace().total_gpu_memory_in_mib = memory_mib * type.gpus.count;
  told.gpu_info->gpus.push_back(std::move(gpu));
  return told;
}

base::Result<void> check_known(const api::List<std::string>& names) {
  for (const std::string& name : names) {
    if (model::find_instance_type(name) != nullptr) continue;
    return base::fail(
        "InvalidInstanceType",
        base::format("The following supplied instance types do not exist: [{}]. Similar ones of "
                     "the catalogue: {}.",
                     name, base::join(model::similar_instance_types(name), ", ")));
  }
  return {};
}

}  // namespace

Answer<api::ec2::DescribeInstanceTypesResult> describe_instance_types(
    Step&, const api::ec2::DescribeInstanceTypesRequest& request) {
  Page page(TRY(results_request(request.next_token, request.max_results, 100)));
  const auto filters = TRY(known_filters(request.filters, instance_type_filters));
  TRY_VOID(check_known(request.instance_types));
  std::map<std::string_view, const model::InstanceType*> by_name;
  for (const model::InstanceType& type : model::instance_types()) by_name.emplace(type.name, &type);
  api::ec2::DescribeInstanceTypesResult response;
  response.instance_types.set_present();
  for (const auto& [name, type] : by_name) {
    const FilterFacts facts{{"instance-type", std::string(name)},
                            {"memory-info.size-in-mib", base::format("{}", type->memory_mib)},
                            {"vcpu-info.default-vcpus", base::format("{}", type->vcpus)}};
    const bool named =
        request.instance_types.empty() ||
        std::ranges::find(request.instance_types, name) != request.instance_types.end();
    if (!named || !passes(filters, facts) || !page.wants(name)) continue;
    if (!page.add(std::string(name))) break;
    response.instance_types.push_back(describe(*type));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ec2
