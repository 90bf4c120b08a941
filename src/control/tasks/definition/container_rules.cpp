#include <algorithm>
#include <set>

#include "base/text.h"
#include "control/tasks/definition/rules.h"

namespace control {
namespace {

bool is_in(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) { return base::is_plain(c, others); });
}

// Source: ECS API reference, ContainerDefinition, image.
base::Result<void> check_image(const Container& container) {
  const std::string image = container.image.value_or("");
  if (image.empty()) {
    return client_error(
        base::format("Container.image should not be null or empty. Container '{}' has none.",
                     container.name.value_or("")));
  }
  const size_t at = image.find('@');
  const std::string_view name = std::string_view(image).substr(0, at);
  if (name.empty() || name.size() > 255 || !is_in(name, "-_:./#")) {
    return client_error(base::format(
        "Container.image contains invalid characters. The image \"{}\" of container '{}' must be "
        "at most 255 letters, digits and characters of \"-_:./#\", and may end in @sha256:...",
        image.substr(0, 300), container.name.value_or("")));
  }
  if (at == std::string::npos) return {};
  constexpr std::string_view algorithm = "sha256:";
  const std::string_view digest = std::string_view(image).substr(at + 1);
  const bool valid = digest.starts_with(algorithm) && digest.size() == algorithm.size() + 64 &&
                     std::ranges::all_of(digest.substr(algorithm.size()),
                                         [](char c) { return base::hex_value(c) >= 0; });
  if (!valid) {
    return client_error(base::format(
        "The digest of the image \"{}\" of container '{}' must be sha256: and 64 hexadecimal "
        "digits.",
        image.substr(0, 300), container.name.value_or("")));
  }
  return {};
}

// Docker reads NAME=VALUE up to the first equals sign.
base::Result<void> check_environment(const Container& container) {
  for (const api::ecs::KeyValuePair& pair : container.environment) {
    const std::string name = pair.name.value_or("");
    if (name.empty()) {
      return invalid_setting(container, "The name of an environment variable must not be empty.");
    }
    if (name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
      return invalid_setting(
          container, base::format("The environment variable name \"{}\" must have no \"=\" and no "
                                  "zero byte.",
                                  name.substr(0, 255)));
    }
  }
  return {};
}

base::Result<void> check_range(const Container& container, std::string_view member,
                               const std::optional<int32_t>& value, int32_t least, int32_t most) {
  if (!value || (*value >= least && *value <= most)) return {};
  return invalid_setting(container, base::format("{} is {}; it must be between {} and {}.", member,
                                                 *value, least, most));
}

// Source: ECS API reference, HealthCheck.
base::Result<void> check_health_check(const Container& container) {
  if (!container.health_check) return {};
  const api::ecs::HealthCheck& check = *container.health_check;
  const std::string kind = check.command.empty() ? "" : check.command.front();
  if (kind != "CMD" && kind != "CMD-SHELL" && kind != "NONE") {
    return invalid_setting(
        container,
        R"(healthCheck.command must begin with CMD, CMD-SHELL or NONE, as ["CMD-SHELL", "curl -f http://localhost/ || exit 1"].)");
  }
  if ((kind == "NONE") != (check.command.size() == 1)) {
    return invalid_setting(
        container, kind == "NONE" ? "healthCheck.command NONE must stand alone."
                                  : base::format("healthCheck.command has nothing behind {}: the "
                                                 "command to run is missing.",
                                                 kind));
  }
  TRY_VOID(check_range(container, "healthCheck.interval", check.interval, 5, 300));
  TRY_VOID(check_range(container, "healthCheck.timeout", check.timeout, 2, 60));
  TRY_VOID(check_range(container, "healthCheck.retries", check.retries, 1, 10));
  return check_range(container, "healthCheck.startPeriod", check.start_period, 0, 300);
}

// Source: ECS API reference, ContainerRestartPolicy.
base::Result<void> check_restart_policy(const Container& container) {
  if (!container.restart_policy) return {};
  const api::ecs::ContainerRestartPolicy& policy = *container.restart_policy;
  if (!policy.enabled) {
    return invalid_setting(container, "restartPolicy needs enabled, true or false.");
  }
  if (policy.ignored_exit_codes.size() > 50) {
    return invalid_setting(
        container, base::format("restartPolicy.ignoredExitCodes has {} codes; it can have at most "
                                "50.",
                                policy.ignored_exit_codes.size()));
  }
  return check_range(container, "restartPolicy.restartAttemptPeriod", policy.restart_attempt_period,
                     60, 1800);
}

// Source: ECS API reference, ContainerDefinition; what it says of 120 seconds is Fargate's.
base::Result<void> check_timeouts(const Container& container) {
  constexpr int32_t most = 30 * 24 * 3600;
  TRY_VOID(check_range(container, "startTimeout", container.start_timeout, 1, most));
  return check_range(container, "stopTimeout", container.stop_timeout, 0, most);
}

base::Result<void> check_extra_hosts(const Container& container) {
  for (const api::ecs::HostEntry& host : container.extra_hosts) {
    if (host.hostname.value_or("").empty() || host.ip_address.value_or("").empty()) {
      return invalid_setting(container, "An entry of extraHosts needs hostname and ipAddress.");
    }
  }
  return {};
}

}  // namespace

base::Result<void> check_container(const Container& container) {
  const std::string name = container.name.value_or("");
  if (name.empty()) return client_error("Container.name should not be null or empty.");
  if (!is_plain_name(name)) {
    return client_error(base::format(
        "Container.name contains invalid characters. \"{}\" must be at most 255 letters, digits, "
        "hyphens and underscores.",
        name.substr(0, 255)));
  }
  TRY_VOID(check_image(container));
  TRY_VOID(check_environment(container));
  TRY_VOID(check_environment_files(container));
  TRY_VOID(check_health_check(container));
  TRY_VOID(check_restart_policy(container));
  TRY_VOID(check_timeouts(container));
  return check_extra_hosts(container);
}

}  // namespace control
