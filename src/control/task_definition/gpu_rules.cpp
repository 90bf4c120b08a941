#include <algorithm>

#include "control/gpu_requirements.h"
#include "control/task_definition/rules.h"

namespace control {
namespace {

using Given = std::optional<api::Document>;

// The number of GPUs that was meant, for the sentence: 4 or "4" as it was given, else 2.
std::string meant_count(const api::Document& given) {
  std::string text = given.json;
  std::erase(text, '"');
  const bool number = !text.empty() && text.size() <= 3 && text != "0" &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return number ? text : "2";
}

std::unexpected<base::Error> wrong_shape(const Container& container, std::string_view member,
                                         const api::Document& given) {
  return client_error(base::format(
      "Container \"{}\" asks for GPUs with the member {}, which is not how ECS spells it. Write "
      R"("resourceRequirements": [{{"type": "GPU", "value": "{}"}}] in the container instead.)",
      container.name.value_or(""), member, meant_count(given)));
}

base::Result<void> refuse_wrong_shapes(const Container& container) {
  const std::initializer_list<std::pair<std::string_view, const Given*>> members{
      {"gpu", &container.gpu}, {"gpus", &container.gpus}, {"gpuCount", &container.gpu_count}};
  for (const auto& [member, given] : members) {
    if (*given) return wrong_shape(container, member, **given);
  }
  for (const api::ecs::ResourceRequirement& requirement : container.resource_requirements) {
    if (requirement.count) {
      return wrong_shape(container, "resourceRequirements.count", *requirement.count);
    }
  }
  return {};
}

bool requires_external(const Registration& request) {
  const auto& needs = request.requires_compatibilities;
  return std::ranges::find(needs, api::ecs::Compatibility::External) != needs.end();
}

}  // namespace

base::Result<std::vector<model::GpuRequest>> gpu_requests_of(const Registration& request) {
  std::vector<model::GpuRequest> requests;
  for (const Container& container : request.container_definitions) {
    TRY_VOID(refuse_wrong_shapes(container));
    auto found = TRY(gpu_request(container.name.value_or(""), container.resource_requirements));
    if (!found) continue;
    if (shares_gpu(*found) && requires_external(request)) {
      // Source: ECS API reference, ResourceRequirement, sharingStrategy.
      return client_error(base::format(
          "Container \"{}\" shares a GPU, and task definitions that require EXTERNAL cannot: ask "
          "for whole GPUs or take EXTERNAL out of requiresCompatibilities.",
          found->container));
    }
    requests.push_back(std::move(*found));
  }
  TRY_VOID(check_gpu_requests(requests));
  return requests;
}

bool shares_gpu(const model::GpuRequest& request) {
  return request.kind == model::GpuRequestKind::Memory ||
         request.kind == model::GpuRequestKind::Fraction;
}

}  // namespace control
