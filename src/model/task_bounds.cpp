#include "model/task_bounds.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "base/format.h"
#include "base/text.h"
#include "model/gpu_doors.h"

namespace model {
namespace {

constexpr std::string_view profile_attribute = "berth.profile";
constexpr std::string_view allow_prefix = "berth.allow.";
constexpr std::string_view shared_profile = "shared";
constexpr size_t longest_list = 128;  // Of the value of an attribute.
constexpr std::array<std::string_view, 8> plain_rules = {
    needs::privileged, needs::docker_socket, needs::docker_volumes, needs::host_network,
    needs::host_pid,   needs::host_ipc,      needs::devices,        needs::security_options};

std::unexpected<base::Error> bad_bounds(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(text, ':')) {
    if (!part.empty()) parts.emplace_back(part.begin(), part.end());
  }
  return parts;
}

// Whether the plain path is `above`, or below it.
bool lies_in(std::string_view path, std::string_view above) {
  if (above == "/" || path == above) return true;
  if (above.empty()) return false;
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
}

std::string capability_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  constexpr std::string_view prefix = "CAP_";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

base::Result<void> allow_one(const std::string& text, TaskBounds& bounds) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (name == needs::host_paths || name == needs::capabilities) {
    if (parts_of(value).empty()) {
      return bad_bounds(
          base::format("--allow {0} wants a list: {0}={1}", name,
                       name == needs::host_paths ? "/data:/scratch" : "SYS_PTRACE:NET_ADMIN"));
    }
    if (value.size() > longest_list) {
      return bad_bounds(base::format(
          "--allow {}: its list has more than {} characters; name a directory above, or fewer",
          name, longest_list));
    }
    for (const std::string& part : parts_of(value)) {
      if (name == needs::capabilities) {
        bounds.capabilities.insert(capability_name(part));
      } else if (part.starts_with('/')) {
        bounds.host_paths.push_back(plain_path(part));
      } else {
        return bad_bounds(base::format("--allow host-paths: \"{}\" is no absolute path", part));
      }
    }
    return {};
  }
  if (equals == std::string::npos && std::ranges::find(plain_rules, name) != plain_rules.end()) {
    bounds.rules.insert(name);
    return {};
  }
  return bad_bounds(base::format(
      "--allow {}: there are {}, host-paths=/data:/scratch and capabilities=SYS_PTRACE:NET_ADMIN",
      text, base::join(plain_rules, ", ")));
}

// The rule, and its value.
std::pair<std::string_view, std::string_view> split_need(std::string_view need) {
  const size_t blank = need.find(' ');
  if (blank == std::string_view::npos) return {need, {}};
  return {need.substr(0, blank), need.substr(blank + 1)};
}

}  // namespace

base::Result<TaskBounds> parse_task_bounds(std::string_view profile,
                                           const std::vector<std::string>& allow) {
  TaskBounds bounds;
  if (!profile.empty() && profile != shared_profile && profile != "trusted") {
    return bad_bounds(base::format("--profile is \"{}\"; it is shared or trusted", profile));
  }
  if (profile == "trusted" && !allow.empty()) {
    return bad_bounds(
        "--profile trusted allows everything: leave out --allow, or say --profile shared");
  }
  bounds.bounded = profile == shared_profile || !allow.empty();
  for (const std::string& one : allow) TRY_VOID(allow_one(one, bounds));
  return bounds;
}

std::map<std::string, std::string> attributes_of(const TaskBounds& bounds) {
  std::map<std::string, std::string> attributes;
  if (!bounds.bounded) return attributes;
  attributes[std::string(profile_attribute)] = shared_profile;
  const auto add = [&](std::string_view rule, std::string value) {
    attributes[base::format("{}{}", allow_prefix, rule)] = std::move(value);
  };
  for (const std::string& rule : bounds.rules) add(rule, "");
  if (!bounds.host_paths.empty()) {
    add(needs::host_paths, base::format("{}", base::join(bounds.host_paths, ":")));
  }
  if (!bounds.capabilities.empty()) {
    add(needs::capabilities, base::format("{}", base::join(bounds.capabilities, ":")));
  }
  return attributes;
}

TaskBounds bounds_of(const std::map<std::string, std::string>& attributes) {
  TaskBounds bounds;
  const auto profile = attributes.find(std::string(profile_attribute));
  if (profile == attributes.end() || profile->second != shared_profile) return bounds;
  bounds.bounded = true;
  for (auto one = attributes.lower_bound(std::string(allow_prefix));
       one != attributes.end() && one->first.starts_with(allow_prefix); ++one) {
    const std::string rule = one->first.substr(allow_prefix.size());
    if (rule == needs::host_paths) {
      bounds.host_paths = parts_of(one->second);
    } else if (rule == needs::capabilities) {
      for (std::string& part : parts_of(one->second)) bounds.capabilities.insert(std::move(part));
    } else {
      bounds.rules.insert(rule);
    }
  }
  return bounds;
}

bool permits(const TaskBounds& bounds, std::string_view need) {
  if (!bounds.bounded) return true;
  const auto [rule, value] = split_need(need);
  if (rule == needs::host_paths) {
    const std::string plain = plain_path(value);
    return value.starts_with('/') &&
           std::ranges::any_of(bounds.host_paths,
                               [&](const std::string& above) { return lies_in(plain, above); });
  }
  if (rule == needs::capabilities) {
    return bounds.capabilities.contains(std::string(value)) || bounds.capabilities.contains("ALL");
  }
  return bounds.rules.contains(std::string(rule));
}

std::string not_allowed(std::string_view need) {
  const auto [rule, value] = split_need(need);
  if (rule == needs::host_paths) return base::format("host path {} is not allowed", value);
  if (rule == needs::capabilities) return base::format("capability {} is not allowed", value);
  return base::format("{} is not allowed", rule);
}

std::string allowed_by(std::string_view need) {
  const auto [rule, value] = split_need(need);
  if (value.empty()) return base::format("berth agent --allow {}", rule);
  return base::format("berth agent --allow {}={}", rule, value);
}

const std::vector<std::string>& sockets_of_runtimes() {
  static const std::vector<std::string> sockets = {"/var/run/docker.sock", "/run/docker.sock",
                                                   "/run/containerd/containerd.sock",
                                                   "/var/run/containerd/containerd.sock"};
  return sockets;
}

std::vector<std::string> needs_of_host_path(std::string_view path,
                                            const std::vector<std::string>& sockets) {
  const std::string plain = plain_path(path);
  if (std::ranges::find(sockets, plain) != sockets.end()) {
    return {std::string(needs::docker_socket)};
  }
  std::vector<std::string> found = {base::format("{} {}", needs::host_paths, plain)};
  if (std::ranges::any_of(sockets, [&](const auto& socket) { return lies_in(socket, plain); })) {
    found.emplace_back(needs::docker_socket);
  }
  return found;
}

std::string need_of_capability(std::string_view capability) {
  return base::format("{} {}", needs::capabilities, capability_name(capability));
}

bool needs_security_option(std::string_view option) {
  return option != "no-new-privileges" && option != "no-new-privileges:true" &&
         option != "no-new-privileges=true";
}

}  // namespace model
