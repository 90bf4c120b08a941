#include "control/tasks/gpu_mistakes.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "control/request/errors.h"
#include "model/reserved_variables.h"

namespace control {
namespace {

// The number of GPUs that was meant, for the sentence: 4 or "4" as it was given, else 2.
std::string meant_count(const api::Document& given) {
  std::string text = given.json;
  std::erase(text, '"');
  const bool number =
      !text.empty() && text.size() <= 3 && text != "0" && std::ranges::all_of(text, base::is_digit);
  return number ? text : "2";
}

std::unexpected<base::Error> wrong_shape(const std::string& container, std::string_view member,
                                         const api::Document& given) {
  return client_error(base::format(
      "Container \"{}\" asks for GPUs with the member {}, which is not how ECS spells it. Write "
      R"("resourceRequirements": [{{"type": "GPU", "value": "{}"}}] in the container instead.)",
      container, member, meant_count(given)));
}

// The requirement that a value of NVIDIA_VISIBLE_DEVICES means: "ALL", or as many as it names.
std::string meant_requirement(std::string_view visible_devices) {
  return visible_devices == "all"
             ? "ALL"
             : base::format("{}", 1 + std::ranges::count(visible_devices, ','));
}

// What the NVIDIA Container Toolkit takes for no GPU. Source: NVIDIA Container Toolkit,
// "Environment variables".
bool asks_for_none(std::string_view visible_devices) {
  return visible_devices.empty() || visible_devices == "void" || visible_devices == "none";
}

// Container: a ContainerDefinition or a ContainerOverride.
template <class Container>
base::Result<void> refuse(const Container& container) {
  using Given = std::optional<api::Document>;
  const std::initializer_list<std::pair<std::string_view, const Given*>> members{
      {"gpu", &container.gpu}, {"gpus", &container.gpus}, {"gpuCount", &container.gpu_count}};
  const std::string name = container.name.value_or("");
  for (const auto& [member, given] : members) {
    if (*given) return wrong_shape(name, member, **given);
  }
  for (const api::ecs::ResourceRequirement& requirement : container.resource_requirements) {
    if (requirement.count) {
      return wrong_shape(name, "resourceRequirements.count", *requirement.count);
    }
  }
  return {};
}

}  // namespace

base::Result<void> refuse_gpu_mistakes(const api::ecs::ContainerDefinition& container) {
  return refuse(container);
}

base::Result<void> refuse_gpu_mistakes(const api::ecs::ContainerOverride& container) {
  return refuse(container);
}

base::Result<void> refuse_gpu_variables(
    const std::string& container, const api::List<api::ecs::KeyValuePair>& environment,
    const api::List<api::ecs::ResourceRequirement>& requirements) {
  for (const api::ecs::KeyValuePair& variable : environment) {
    const std::string name = variable.name.value_or("");
    const std::string value = variable.value.value_or("");
    if (name.starts_with(model::mps_variables)) {
      return client_error(base::format(
          "Container \"{}\" sets {} in its environment, which only Berth sets, from the share of a "
          "GPU that the container asks for. Leave it out; a share is asked for with "
          R"("resourceRequirements": [{{"type": "GPU", "sharingStrategy": {{"nvidiaMps": )"
          R"({{"memory": 8192, "maxComputePercent": 50}}}}}}].)",
          container, name));
    }
    if (name != model::visible_devices_variable || asks_for_none(value) || !requirements.empty()) {
      continue;
    }
    return client_error(base::format(
        "Container \"{}\" sets {} to \"{}\" in its environment and asks for no GPU. Berth sets "
        "this "
        "variable itself, from the GPUs that the container has been given: it would have none. Ask "
        R"(for GPUs with "resourceRequirements": [{{"type": "GPU", "value": "{}"}}], )"
        "or leave the variable out.",
        container, name, value.substr(0, 255), meant_requirement(value)));
  }
  return {};
}

}  // namespace control
