#include "control/ecs/cluster_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.h"
#include "control/request/errors.h"
#include "control/tasks/log_group_name.h"

namespace control::ecs {
namespace {

constexpr std::array<std::string_view, 3> insights_values = {"enabled", "disabled", "enhanced"};
constexpr size_t longest_namespace = 1024;

bool has_text(const std::optional<std::string>& member) {
  return member && !member->empty();
}

// Where OVERRIDE has sessions logged. Terraform sends members that nobody has set as "" and false.
base::Result<void> check_session_log(
    const std::optional<api::ecs::ExecuteCommandLogConfiguration>& log) {
  if (!log) {
    return invalid_parameter(
        "executeCommandConfiguration.logging is OVERRIDE, with which logConfiguration is "
        "required: give it a cloudWatchLogGroupName.");
  }
  if (has_text(log->s3_bucket_name) || has_text(log->s3_key_prefix) ||
      log->s3_encryption_enabled.value_or(false)) {
    return client_error(
        "s3BucketName, s3KeyPrefix and s3EncryptionEnabled of logConfiguration have sessions "
        "logged in Amazon S3, which Berth does not have: leave them out and give "
        "cloudWatchLogGroupName.");
  }
  if (log->cloud_watch_encryption_enabled.value_or(false)) {
    return client_error(
        "logConfiguration.cloudWatchEncryptionEnabled asks for a log group that is encrypted with "
        "AWS KMS, which Berth does not have: leave it out or set it to false.");
  }
  if (!has_text(log->cloud_watch_log_group_name)) {
    return invalid_parameter(
        "executeCommandConfiguration.logging is OVERRIDE, and its logConfiguration names nothing "
        "to log to: give it a cloudWatchLogGroupName.");
  }
  if (!is_log_group_name(*log->cloud_watch_log_group_name)) {
    return invalid_parameter(base::format(
        "logConfiguration.cloudWatchLogGroupName is \"{}\"; the name of a log group is "
        "at most 512 letters, digits and characters of \".-_/#\".",
        log->cloud_watch_log_group_name->substr(0, longest_log_group_name)));
  }
  return {};
}

}  // namespace

base::Result<void> check_cluster_settings(const api::List<api::ecs::ClusterSetting>& settings) {
  for (const api::ecs::ClusterSetting& setting : settings) {
    if (!setting.name) {
      return invalid_parameter("A setting of settings has no name: containerInsights is one.");
    }
    const std::string value = setting.value.value_or("");
    if (std::ranges::find(insights_values, value) != insights_values.end()) continue;
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
  if (has_text(sessions->kms_key_id)) {
    return client_error(
        "executeCommandConfiguration.kmsKeyId has sessions encrypted with AWS KMS, which Berth "
        "does not have: leave it out; their connections are encrypted where the server has TLS.");
  }
  if (sessions->logging == api::ecs::ExecuteCommandLogging::Override) {
    return check_session_log(sessions->log_configuration);
  }
  if (sessions->log_configuration) {
    return invalid_parameter(
        "You must set logging to 'OVERRIDE' when you supply a log configuration: set "
        "executeCommandConfiguration.logging, or leave logConfiguration out.");
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

}  // namespace control::ecs
