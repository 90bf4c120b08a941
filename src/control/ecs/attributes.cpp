#include "control/ecs/attributes.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "control/request/errors.h"
#include "model/capabilities.h"

namespace control::ecs {
namespace {

bool is_name_char(char c) {
  return base::is_plain(c, "-_/\\.");
}

bool is_value_char(char c) {
  return is_name_char(c) || std::string_view("@: ,()+=").contains(c);
}

}  // namespace

base::Result<void> check_attribute(const api::ecs::Attribute& attribute) {
  const std::string& name = attribute.name.value_or("");
  if (name.empty() || name.size() > 128 || !std::ranges::all_of(name, is_name_char)) {
    return invalid_parameter(base::format(
        "The attribute name \"{}\" must have 1 to 128 letters, digits and - _ / \\ .", name));
  }
  const std::string& value = attribute.value.value_or("");
  if (value.size() > 128 || !std::ranges::all_of(value, is_value_char) ||
      (!value.empty() && (value.front() == ' ' || value.back() == ' '))) {
    return invalid_parameter(base::format(
        "The value \"{}\" of attribute {} must have at most 128 letters, digits, blanks and "
        "- _ / \\ . @ :, with no blank at either end.",
        value, name));
  }
  return {};
}

base::Result<void> check_custom_attribute(const api::ecs::Attribute& attribute) {
  const std::string& name = attribute.name.value_or("");
  if (!model::is_of_agents(name)) return {};
  return invalid_parameter(base::format(
      "The attribute {} is its agent's alone: names that begin with {} tell what an agent can do. "
      "Choose another name, or give it to the agent on its machine.",
      name, base::join(model::prefixes_of_agents, ", ")));
}

}  // namespace control::ecs
