#include "control/tasks/gpu_mistakes.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "control/request/errors.h"

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

}  // namespace control
