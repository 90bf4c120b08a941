#include <algorithm>
#include <array>

#include "control/tasks/definition/rules.h"
#include "control/tasks/log_group_name.h"

namespace control {
namespace {

using api::ecs::LogDriver;

// Source: ECS API reference, LogConfiguration, options; Docker's manual of the awslogs driver.
constexpr auto awslogs_options = std::to_array<std::string_view>(
    {"awslogs-create-group", "awslogs-credentials-endpoint", "awslogs-endpoint",
     "awslogs-force-flush-interval-seconds", "awslogs-group", "awslogs-max-buffered-events",
     "awslogs-region", "awslogs-stream", "awslogs-stream-prefix", "max-buffer-size", "mode"});

// They would make other events of the output, or read them.
constexpr auto event_options = std::to_array<std::string_view>(
    {"awslogs-datetime-format", "awslogs-format", "awslogs-multiline-pattern"});

// Without these Docker does not start the container. awslogs-region is AWS's third: here it may be
// left out and is the server's own.
std::vector<std::string_view> options_needed(LogDriver driver) {
  switch (driver) {
    case LogDriver::Awslogs:
      return {"awslogs-group"};
    case LogDriver::Gelf:
      return {"gelf-address"};
    case LogDriver::Splunk:
      return {"splunk-token", "splunk-url"};
    default:
      return {};
  }
}

base::Result<void> check_awslogs_value(const Container& container, const std::string& name,
                                       const std::string& value) {
  if (name == "awslogs-group" && !is_log_group_name(value)) {
    return invalid_setting(
        container, base::format("awslogs-group is \"{}\"; the name of a log group is at most 512 "
                                "letters, digits and characters of \".-_/#\".",
                                value.substr(0, longest_log_group_name)));
  }
  if (std::ranges::find(event_options, name) != event_options.end()) {
    return client_error(base::format(
        "containerDefinitions[{}].logConfiguration.options {} is not offered by this version of "
        "Berth: leave it out; each line of output is an event of its own.",
        container.name.value_or(""), name));
  }
  if ((name == "awslogs-stream-prefix" || name == "awslogs-stream") &&
      value.find_first_of(":*") != std::string::npos) {
    return invalid_setting(
        container, base::format("{} is \"{}\"; the name of a log stream has no \":\" and no \"*\".",
                                name, value.substr(0, 512)));
  }
  if (name == "awslogs-create-group" && value != "true" && value != "false") {
    return invalid_setting(
        container,
        base::format("awslogs-create-group is \"{}\"; it must be true or false.", value));
  }
  if (name == "mode" && value != "blocking" && value != "non-blocking") {
    return invalid_setting(container,
                           base::format("The log option mode is \"{}\"; it must be blocking or "
                                        "non-blocking.",
                                        value));
  }
  return {};
}

}  // namespace

base::Result<void> check_log_configuration(const Container& container) {
  if (!container.log_configuration) return {};
  const api::ecs::LogConfiguration& log = *container.log_configuration;
  if (!log.log_driver) return invalid_setting(container, "logConfiguration needs logDriver.");
  const std::string_view driver = api::to_string(*log.log_driver);
  for (const std::string_view needed : options_needed(*log.log_driver)) {
    const auto found = log.options.find(std::string(needed));
    const bool given = found != log.options.end() && !found->second.empty();
    const bool secret = std::ranges::any_of(
        log.secret_options, [&](const api::ecs::Secret& one) { return one.name == needed; });
    if (!given && !secret) {
      return client_error(
          base::format("Log driver {} requires options: {}. Container '{}' has "
                       "none.",
                       driver, needed, container.name.value_or("")));
    }
  }
  for (const auto& [name, value] : log.options) {
    if (*log.log_driver != LogDriver::Awslogs) {
      if (!name.starts_with("awslogs-")) continue;
    } else {
      TRY_VOID(check_awslogs_value(container, name, value));
      if (std::ranges::find(awslogs_options, name) != awslogs_options.end()) continue;
    }
    return client_error(base::format("Log driver {} disallows options: {}. Container '{}' has it.",
                                     driver, name, container.name.value_or("")));
  }
  return {};
}

}  // namespace control
