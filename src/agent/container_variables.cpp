#include "agent/container_variables.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "model/reserved_variables.h"

namespace agent {
namespace {

std::string variable_name(const json::Value& variable) {
  const std::string text = variable.text_or("");
  return text.substr(0, text.find('='));
}

// The first one that only Berth sets; nullptr: there is none.
const std::string* find_reserved(const Variables& variables) {
  const auto found = std::ranges::find_if(
      variables, [](const auto& one) { return model::is_reserved_variable(one.first); });
  return found == variables.end() ? nullptr : &found->first;
}

core::OperationError reserved_error(std::string_view who, const std::string& name) {
  return {core::Cause::BadParameter, "ResourceInitializationError",
          base::format("{} sets {}, which only Berth sets, from the GPUs that the task has been "
                       "given: take it out of there",
                       who, name)};
}

}  // namespace

SetupResult<void> add_file_variables(json::Value& body, const std::string& file,
                                     const Variables& variables) {
  if (const std::string* const name = find_reserved(variables)) {
    return std::unexpected(reserved_error("the environment file " + file, *name));
  }
  json::Value all = body["Env"].is_array() ? body["Env"] : json::Value::array();
  std::set<std::string> known;
  for (const json::Value& one : all.items()) known.insert(variable_name(one));
  for (const auto& [name, value] : variables) {
    if (!known.contains(name)) all.push(name + "=" + value);
  }
  body.set("Env", std::move(all));
  return {};
}

SetupResult<void> add_secret_variables(json::Value& body, const Variables& secrets) {
  if (const std::string* const name = find_reserved(secrets)) {
    return std::unexpected(reserved_error("a secret of the task definition", *name));
  }
  json::Value all = json::Value::array();
  for (const json::Value& one : body["Env"].items()) {
    if (!secrets.contains(variable_name(one))) all.push(one);
  }
  for (const auto& [name, value] : secrets) all.push(name + "=" + value);
  body.set("Env", std::move(all));
  return {};
}

}  // namespace agent
