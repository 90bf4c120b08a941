#include "control/cluster_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.h"
#include "control/errors.h"

namespace control {
namespace {

constexpr std::array<std::string_view, 3> insights = {"enabled", "disabled", "enhanced"};
constexpr size_t longest_namespace = 1024;

}  // namespace

base::Result<void> check_cluster_settings(const api::List<api::ecs::ClusterSetting>& settings) {
  for (const api::ecs::ClusterSetting& setting : settings) {
    if (!setting.name) {
      return invalid_parameter("A setting of settings has no name: containerInsights is one.");
    }
    const std::string value = setting.value.value_or("");
    if (std::ranges::find(insights, value) != insights.end()) continue;
    return invalid_parameter(base::format(
        "The setting containerInsights is \"{}\"; it must be enabled, disabled or enhanced.",
        value));
  }
  return {};
}

base::Result<void> check_cluster_configuration(
    const std::optional<api::ecs::ClusterConfiguration>& configuration) {
  if (!configuration) return {};
  if (configuration->managed_storage_configuration) {
    return client_error(
        "managedStorageConfiguration has storage encrypted with AWS KMS, which Berth does not "
        "have: leave it out.");
  }
  const auto& sessions = configuration->execute_command_configuration;
  if (!sessions) return {};
  if (sessions->kms_key_id && !sessions->kms_key_id->empty()) {
    return client_error(
        "executeCommandConfiguration.kmsKeyId has sessions encrypted with AWS KMS, which Berth "
        "does "
        "not have: leave it out; their connections are encrypted where the server has TLS.");
  }
  if (sessions->logging == api::ecs::ExecuteCommandLogging::Override) {
    return client_error(
        "executeCommandConfiguration.logging is OVERRIDE, and this version of Berth does not log "
        "what is said in sessions of ExecuteCommand: give NONE or DEFAULT, without "
        "logConfiguration.");
  }
  if (sessions->log_configuration) {
    return invalid_parameter(
        "executeCommandConfiguration.logConfiguration is given without the logging OVERRIDE, to "
        "which alone it belongs: leave it out.");
  }
  return {};
}

base::Result<std::string> service_connect_namespace(
    const std::optional<api::ecs::ClusterServiceConnectDefaultsRequest>& defaults) {
  if (!defaults) return std::string();
  if (!defaults->namespace_) {
    return invalid_parameter("serviceConnectDefaults must have a namespace, be it empty.");
  }
  const std::string& name = *defaults->namespace_;
  if (name.size() <= longest_namespace && name.find_first_of("<>\"") == std::string::npos) {
    return name;
  }
  return invalid_parameter(
      base::format("The namespace of serviceConnectDefaults is \"{}\"; it has at most {} "
                   "characters, none of them < > or a quotation mark.",
                   name, longest_namespace));
}

}  // namespace control
