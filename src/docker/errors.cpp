#include "docker/errors.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace docker {
namespace {

// A sign in the daemon's message, what it means, and what a person can do about it.
struct Rule {
  std::string_view sign;  // Lower case.
  Cause cause;
  std::string_view fix;  // Empty: the message says it all.
};

constexpr std::string_view nvidia_fix =
    "install nvidia-container-toolkit, register it with `nvidia-ctk runtime configure "
    "--runtime=docker` and restart dockerd";
constexpr std::string_view nvidia_driver_fix =
    "the NVIDIA driver does not work on this machine; `nvidia-smi` on the machine must list its "
    "GPUs first";
constexpr std::string_view space_fix =
    "free space where Docker keeps its data, for example with `docker system prune`";
constexpr std::string_view image_fix =
    "pull it, or where there is no registry bring it in with `docker load` or `docker import`";
constexpr std::string_view registry_fix =
    "the registry cannot be reached from this machine; without a network, bring the image in with "
    "`docker load` or `docker import`";
constexpr std::string_view login_fix =
    "check the image's name and the credentials (repositoryCredentials, or `docker login`)";
constexpr std::string_view tag_fix = "check the tag; it does not exist in that repository";
constexpr std::string_view memory_fix = "raise the container's memory limit";

// Most telling first: the first sign found decides.
constexpr std::array common_rules = {
    Rule{"no space left on device", Cause::NoSpace, space_fix},
    Rule{"disk quota exceeded", Cause::NoSpace, space_fix},
    Rule{"unknown runtime specified nvidia", Cause::BadParameter, nvidia_fix},
    Rule{"unknown or invalid runtime name: nvidia", Cause::BadParameter, nvidia_fix},
    Rule{"could not select device driver", Cause::BadParameter, nvidia_fix},
    Rule{"nvml error: driver not loaded", Cause::Other, nvidia_driver_fix},
    Rule{"nvidia-container-cli: initialization error", Cause::Other, nvidia_driver_fix},
    Rule{"unknown runtime specified", Cause::BadParameter,
         "register that runtime in dockerd's daemon.json and restart dockerd"},
    Rule{"unknown or invalid runtime name", Cause::BadParameter,
         "register that runtime in dockerd's daemon.json and restart dockerd"},
    Rule{"container init was oom-killed", Cause::BadParameter, memory_fix},
    Rule{"minimum memory limit", Cause::BadParameter, memory_fix},
    Rule{"port is already allocated", Cause::Conflict,
         "another container holds that host port; use hostPort 0 or stop the other one"},
    Rule{"address already in use", Cause::Conflict,
         "another program on this machine listens on that host port; use hostPort 0 or stop it"},
    Rule{"json: cannot unmarshal", Cause::BadParameter, ""},
    Rule{"executable file not found", Cause::BadParameter,
         "the image has no such program; check command and entryPoint"},
    Rule{"error gathering device information", Cause::BadParameter,
         "the machine has no such device node"},
    Rule{"error looking up volume plugin", Cause::BadParameter,
         "install that volume plugin or use the driver `local`"},
    Rule{"client version", Cause::BadParameter,
         "the daemon was replaced by one of another version; the next call adapts to it"},
};

constexpr std::array pull_rules = {
    Rule{"no matching manifest", Cause::BadParameter,
         "the image was not built for this machine's platform"},
    Rule{"pull access denied", Cause::Denied, login_fix},
    Rule{"no basic auth credentials", Cause::Denied, login_fix},
    Rule{"unauthorized", Cause::Denied, login_fix},
    Rule{"authentication required", Cause::Denied, login_fix},
    Rule{"denied:", Cause::Denied, login_fix},
    Rule{"manifest unknown", Cause::NotFound, tag_fix},
    Rule{"not found: manifest", Cause::NotFound, tag_fix},
    Rule{"name unknown", Cause::NotFound, "check the image's name"},
    Rule{"manifest for ", Cause::NotFound, tag_fix},
    Rule{"server gave http response to https client", Cause::BadParameter,
         "list the registry under insecure-registries in dockerd's daemon.json"},
    Rule{"x509:", Cause::BadParameter,
         "put the registry's certificate authority under /etc/docker/certs.d/<registry>/ca.crt"},
    Rule{"connection refused", Cause::Other, registry_fix},
    Rule{"connection reset", Cause::Other, registry_fix},
    Rule{"no such host", Cause::Other, registry_fix},
    Rule{"network is unreachable", Cause::Other, registry_fix},
    Rule{"no route to host", Cause::Other, registry_fix},
    Rule{"temporary failure in name resolution", Cause::Other, registry_fix},
    Rule{"server misbehaving", Cause::Other, registry_fix},
    Rule{"i/o timeout", Cause::Other, registry_fix},
    Rule{"tls handshake timeout", Cause::Other, registry_fix},
    Rule{"request canceled", Cause::Other, registry_fix},
    Rule{"context deadline exceeded", Cause::Other, registry_fix},
    Rule{"unexpected eof", Cause::Other, registry_fix},
    Rule{"toomanyrequests", Cause::Other,
         "the registry limits how often this machine may pull; wait, or use credentials"},
};

const Rule* match(std::span<const Rule> rules, std::string_view lower) {
  const auto found = std::ranges::find_if(
      rules, [lower](const Rule& rule) { return lower.find(rule.sign) != std::string_view::npos; });
  return found == rules.end() ? nullptr : &*found;
}

std::string sentence(std::string_view message, std::string_view fix) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) {
    message.remove_suffix(1);
  }
  if (fix.empty()) return std::string(message);
  return base::format("{} ({})", message, fix);
}

Error make(Operation operation, Cause cause, std::string message) {
  return {cause, std::string(error_code(operation)), std::move(message)};
}

Cause cause_of_status(int status) {
  switch (status) {
    case 400:
      return Cause::BadParameter;
    case 401:
    case 403:
      return Cause::Denied;
    case 404:
      return Cause::NotFound;
    case 409:
      return Cause::Conflict;
    case 502:
    case 503:
      return Cause::Unreachable;
    case 504:
      return Cause::Timeout;
    default:
      return Cause::Other;
  }
}

std::string_view permission_fix() {
  return "run as root or add this user to the group that owns the socket, usually `docker`";
}

}  // namespace

std::string_view error_code(Operation operation) {
  switch (operation) {
    case Operation::Info:
      return "CannotGetDockerClientError";
    case Operation::Pull:
      return "CannotPullContainerError";
    case Operation::InspectImage:
      return "CannotInspectImageError";
    case Operation::Create:
      return "CannotCreateContainerError";
    case Operation::Start:
      return "CannotStartContainerError";
    case Operation::Stop:
    case Operation::Kill:
      return "CannotStopContainerError";
    case Operation::Remove:
      return "CannotRemoveContainerError";
    case Operation::Inspect:
      return "CannotInspectContainerError";
    case Operation::List:
      return "CannotListContainersError";
    case Operation::Events:
      return "CannotListenEventsError";
    case Operation::Logs:
      return "CannotReadLogsError";
    case Operation::Stats:
      return "CannotGetStatsError";
    case Operation::CreateVolume:
      return "CannotCreateVolumeError";
    case Operation::InspectVolume:
      return "CannotInspectVolumeError";
    case Operation::RemoveVolume:
      return "CannotRemoveVolumeError";
    case Operation::ImportImage:
      return "CannotImportImageError";
    case Operation::ListImages:
      return "CannotListImagesError";
    case Operation::RemoveImage:
      return "CannotRemoveImageError";
    case Operation::CreateNetwork:
      return "CannotCreateNetworkError";
  }
  std::unreachable();
}

std::string_view operation_name(Operation operation) {
  switch (operation) {
    case Operation::Info:
      return "info";
    case Operation::Pull:
      return "pull";
    case Operation::InspectImage:
      return "inspect_image";
    case Operation::Create:
      return "create";
    case Operation::Start:
      return "start";
    case Operation::Stop:
      return "stop";
    case Operation::Kill:
      return "kill";
    case Operation::Remove:
      return "remove";
    case Operation::Inspect:
      return "inspect";
    case Operation::List:
      return "list";
    case Operation::Events:
      return "events";
    case Operation::Logs:
      return "logs";
    case Operation::Stats:
      return "stats";
    case Operation::CreateVolume:
      return "create_volume";
    case Operation::InspectVolume:
      return "inspect_volume";
    case Operation::RemoveVolume:
      return "remove_volume";
    case Operation::ImportImage:
      return "import_image";
    case Operation::ListImages:
      return "list_images";
    case Operation::RemoveImage:
      return "remove_image";
    case Operation::CreateNetwork:
      return "create_network";
  }
  std::unreachable();
}

bool acts_on_container(Operation operation) {
  switch (operation) {
    case Operation::Start:
    case Operation::Stop:
    case Operation::Kill:
    case Operation::Remove:
    case Operation::Inspect:
    case Operation::Logs:
    case Operation::Stats:
      return true;
    default:
      return false;
  }
}

Error daemon_error(Operation operation, int status, std::string_view message) {
  if (operation == Operation::Pull) return pull_error("", message);
  const std::string lower = base::lower(message);
  if (status == 404 && acts_on_container(operation) &&
      lower.find("no such container") != std::string::npos) {
    return {Cause::NotFound, "ContainerVanishedError", std::string(message)};
  }
  if (const Rule* rule = match(common_rules, lower)) {
    return make(operation, rule->cause, sentence(message, rule->fix));
  }
  const Cause cause = cause_of_status(status);
  const bool missing_image = lower.find("no such image") != std::string::npos;
  return make(operation, cause,
              sentence(message.empty() ? base::format("the Docker daemon answered HTTP {}", status)
                                       : std::string(message),
                       missing_image ? image_fix : ""));
}

Error pull_error(std::string_view image, std::string_view message) {
  const std::string lower = base::lower(message);
  const Rule* rule = match(common_rules, lower);
  if (rule == nullptr) rule = match(pull_rules, lower);
  std::string text = sentence(message, rule == nullptr ? "" : rule->fix);
  if (!image.empty() && message.find(image) == std::string_view::npos) {
    text = base::format("{}: {}", image, text);
  }
  return make(Operation::Pull, rule == nullptr ? Cause::Other : rule->cause, std::move(text));
}

Error unreachable_error(Operation operation, std::string_view host, std::string_view message) {
  const bool denied = base::lower(message).find("permission denied") != std::string::npos;
  return make(
      operation, Cause::Unreachable,
      base::format("cannot connect to the Docker daemon at {}: {} ({})", host, message,
                   denied ? permission_fix() : "is dockerd running? `systemctl start docker`"));
}

Error timeout_error(Operation operation, base::Milliseconds waited) {
  return {Cause::Timeout, "DockerTimeoutError",
          base::format("{}: the Docker daemon did not answer within {} s (is the machine's disk "
                       "overloaded? `journalctl -u docker` tells)",
                       error_code(operation), static_cast<double>(waited.count()) / 1000.0)};
}

Error cancelled_error(Operation operation) {
  return make(operation, Cause::Cancelled, "given up because the caller asked for it");
}

Error malformed_error(Operation operation, std::string_view what) {
  return make(operation, Cause::Other,
              base::format("the Docker daemon's answer is not understood: {}", what));
}

}  // namespace docker
