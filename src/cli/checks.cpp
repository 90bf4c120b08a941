#include "cli/checks.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "base/time.h"
#include "cli/audit.h"
#include "cli/client.h"
#include "cli/installation.h"
#include "cli/instances.h"
#include "cli/local_server.h"
#include "gpu/nvml/nvml_devices.h"
#include "model/ids.h"
#include "sqlite/database.h"

namespace cli {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += text.empty() ? word : ", " + word;
  return text;
}

// The directory itself, or the nearest one above it that is there.
std::filesystem::path existing(std::filesystem::path dir) {
  std::error_code ignored;
  while (!std::filesystem::exists(dir, ignored) && dir.has_relative_path()) dir = dir.parent_path();
  return dir;
}

// 0, or errno of taking that address for a moment.
int bind_error(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  addrinfo* found = nullptr;
  const std::string port = base::format("{}", address.port);
  if (::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found) != 0) return EINVAL;
  int error = 0;
  const int file = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (file < 0 || ::setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(file, found->ai_addr, found->ai_addrlen) != 0 || ::listen(file, 1) != 0) {
    error = errno;
  }
  if (file >= 0) ::close(file);
  ::freeaddrinfo(found);
  return error;
}

bool berth_answers(const std::filesystem::path& dir, uint16_t port) {
  const auto credentials = read_credentials(dir);
  if (!credentials || !credentials->url.ends_with(base::format(":{}", port))) return false;
  return call<api::ecs::ListClustersResponse>(*credentials, api::ecs_service(), "ListClusters",
                                              api::ecs::ListClustersRequest{})
      .has_value();
}

Check check_room(const std::filesystem::path& dir) {
  Check check{.name = "disk", .detail = {}};
  struct statvfs room{};
  if (::statvfs(existing(dir).c_str(), &room) != 0) {
    check.state = CheckState::Fail;
    check.detail = base::format("{} cannot be looked at: {}", dir.string(), std::strerror(errno));
    check.todo = "Name another directory with --data.";
    return check;
  }
  const uint64_t free_mib = uint64_t{room.f_bavail} * room.f_frsize / mib;
  check.detail = base::format("{} MiB free for {}", free_mib, dir.string());
  if (free_mib >= 1024) return check;
  check.state = free_mib < 100 ? CheckState::Fail : CheckState::Warn;
  check.todo = "Make room there, or name a directory on another disk with --data.";
  return check;
}

// Reading more would take too long.
constexpr uintmax_t most_read_bytes = uintmax_t{2} << 30;
constexpr uintmax_t smallest_database = 512;

Check check_file(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  std::error_code failure;
  const uintmax_t bytes = std::filesystem::file_size(file, failure);
  if (!failure && bytes > most_read_bytes) {
    return {name, CheckState::Ok, base::format("{} is too big to be read here", file.string())};
  }
  const auto whole = [&]() -> base::Result<void> {
    // SQLite takes these for new files, which a server never leaves behind.
    if (!failure && bytes < smallest_database) {
      return base::fail(std::string(sqlite::corrupt),
                        base::format("{} is damaged: it has {} bytes.", file.string(), bytes));
    }
    const auto database =
        TRY(sqlite::Database::open(file.string(), {.access = sqlite::Access::ReadOnly}));
    return database->integrity_check();
  }();
  if (whole) return {name, CheckState::Ok, base::format("{} is whole", file.string())};
  if (whole.error().code != sqlite::corrupt) {
    return {name, CheckState::Warn, whole.error().message, "It was not looked through."};
  }
  const std::string todo =
      name == "logs.db"
          ? "Without it the log service is closed, and everything else runs. To begin "
            "it anew, stop the server and move the file and its -wal away."
          : "The server does not start on it: restore a backup with berth restore.";
  return {name, CheckState::Fail, whole.error().message, todo};
}

Check check_access(const std::filesystem::path& dir) {
  const std::filesystem::path place = existing(dir);
  Check check{.name = "data directory", .detail = dir.string()};
  struct stat about{};
  if (::stat(place.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) ||
      ::access(place.c_str(), W_OK | X_OK) != 0) {
    check.state = CheckState::Fail;
    check.detail = base::format("{} is no directory that this user can write to", place.string());
    check.todo = "Run as the user that owns it, or name another one with --data.";
  } else if (place != dir) {
    check.detail = base::format("{} will be made at the first start", dir.string());
  } else if ((about.st_mode & 077) != 0) {
    check.state = CheckState::Warn;
    check.detail = base::format("{} holds an access key and others can look into it", dir.string());
    check.todo = base::format("chmod 700 {}", dir.string());
  }
  return check;
}

Check check_audit(const std::filesystem::path& dir, const AuditState& state) {
  const std::string path = (dir / audit_file).string();
  Check check{.name = audit_file, .detail = base::format("{} tells of every change", path)};
  if (state.not_written > 0) {
    check.state = CheckState::Warn;
    check.detail = base::format("{} calls have no line in {}, the last of them before {}",
                                state.not_written, path, state.last_loss);
    check.todo = "Its disk was full or failed then: see the server's log.";
  } else if (!state.private_mode) {
    check.state = CheckState::Warn;
    check.detail = base::format("others can read {}", path);
    check.todo = base::format("chmod 600 {}", path);
  }
  return check;
}

}  // namespace

Check check_docker(const std::string& host, const docker::Result<docker::RuntimeInfo>& info) {
  if (!info) {
    return {"docker", CheckState::Fail, info.error().message,
            "Start it (systemctl start docker), install it (apt-get install docker.io), or name "
            "another one with DOCKER_HOST. Without it the server runs, but no task does."};
  }
  return {"docker", CheckState::Ok,
          base::format("{} at {}, API {}, runtimes {}, cgroups v{} by {}", info->version, host,
                       info->api_version, joined(info->runtimes), info->cgroup_version,
                       info->cgroup_driver)};
}

std::vector<Check> check_gpus(const docker::RuntimeInfo* docker) {
  const auto inventory = gpu::nvml_devices()->discover();
  if (!inventory) {
    return {{"gpus", CheckState::Fail, inventory.error().message,
             "Until that is put right this machine is a container instance without GPUs."}};
  }
  std::vector<Check> checks;
  for (const std::string& problem : inventory->problems) {
    checks.push_back({"gpus", CheckState::Warn, problem, "The other GPUs are used without it."});
  }
  if (inventory->gpus.empty()) {
    if (checks.empty()) {
      checks.push_back({"gpus", CheckState::Ok,
                        "no NVIDIA GPU: a CPU container instance; --emulate p3.8xlarge has "
                        "emulated ones"});
    }
    return checks;
  }
  checks.push_back({"gpus", CheckState::Ok,
                    base::format("{} of model {}, driver {}, CUDA {}", inventory->gpus.size(),
                                 inventory->gpus.front().model, inventory->driver_version,
                                 inventory->cuda_version)});
  if (docker == nullptr) return checks;
  if (std::ranges::find(docker->runtimes, "nvidia") != docker->runtimes.end()) {
    checks.push_back({"nvidia runtime", CheckState::Ok, "Docker has it"});
  } else {
    checks.push_back({"nvidia runtime", CheckState::Fail,
                      "Docker has no runtime named nvidia, so that no container gets a GPU",
                      "Install nvidia-container-toolkit, run nvidia-ctk runtime configure "
                      "--runtime=docker, and restart Docker."});
  }
  return checks;
}

Check check_cgroups() {
  std::ifstream controllers("/sys/fs/cgroup/cgroup.controllers");
  if (!controllers) {
    if (std::filesystem::is_directory("/sys/fs/cgroup/memory") &&
        std::filesystem::is_directory("/sys/fs/cgroup/cpu")) {
      return {"cgroups", CheckState::Ok, "v1, with cpu and memory"};
    }
    return {"cgroups", CheckState::Fail, "no cgroup hierarchy at /sys/fs/cgroup",
            "Mount it (mount -t cgroup2 none /sys/fs/cgroup): Docker limits containers by it."};
  }
  const std::vector<std::string> names{std::istream_iterator<std::string>(controllers), {}};
  std::vector<std::string> missing;
  for (const char* const name : {"cpu", "memory", "pids"}) {
    if (std::ranges::find(names, name) == names.end()) missing.emplace_back(name);
  }
  if (missing.empty()) return {"cgroups", CheckState::Ok, "v2, with cpu, memory and pids"};
  return {"cgroups", CheckState::Warn, base::format("v2 without {}", joined(missing)),
          "Limits of these are not enforced. Boot with cgroup_enable=memory, or let the outer "
          "container have the controllers."};
}

Check check_clock() {
  base::SystemClock clock;
  const base::Time now = clock.now();
  const std::string text = base::format_rfc3339(now);
  // Older than this program: certainly wrong, and every signature would be refused.
  if (now < base::Time(std::chrono::sys_days(std::chrono::year(2025) / 1 / 1))) {
    return {"clock", CheckState::Fail, base::format("it says {}", text),
            "Set it (timedatectl set-ntp true): signatures more than 5 minutes off are refused."};
  }
  timex state{};
  if (::adjtimex(&state) == TIME_ERROR) {
    return {"clock", CheckState::Warn, base::format("{}, not kept in step by anyone", text),
            "Run an NTP client (timedatectl set-ntp true) where other machines talk to this one: "
            "signatures more than 5 minutes off are refused."};
  }
  return {"clock", CheckState::Ok, text};
}

std::vector<Check> check_data_dir(const std::filesystem::path& dir) {
  std::vector<Check> checks{check_access(dir), check_room(dir)};
  for (const char* const name : {"state.db", "logs.db", "secrets.db"}) {
    std::error_code ignored;
    if (std::filesystem::exists(dir / name, ignored)) checks.push_back(check_file(dir / name));
  }
  const AuditState audit = audit_state(dir);
  if (audit.there) checks.push_back(check_audit(dir, audit));
  return checks;
}

Check check_port(const std::string& listen, const std::filesystem::path& dir) {
  const auto address = parse_listen(listen);
  if (!address) return {"port", CheckState::Fail, address.error().message, "Correct --listen."};
  const int error = bind_error(*address);
  if (error == 0) return {"port", CheckState::Ok, base::format("{} is free", listen)};
  if (error == EADDRINUSE && berth_answers(dir, address->port)) {
    return {"port", CheckState::Ok,
            base::format("{} is served by this data directory's server", listen)};
  }
  return {"port", CheckState::Fail,
          base::format("{} cannot be listened on: {}", listen, std::strerror(error)),
          "Choose another one with --listen, such as 127.0.0.1:0 for any free port."};
}

std::vector<Check> check_claims(const std::filesystem::path& dir) {
  std::vector<Check> checks;
  const auto credentials = read_credentials(dir);
  if (!credentials) return checks;
  const auto clusters = call<api::ecs::ListClustersResponse>(
      *credentials, api::ecs_service(), "ListClusters", api::ecs::ListClustersRequest{});
  if (!clusters) return checks;
  for (const std::string& cluster : clusters->cluster_arns) {
    const auto instances = read_instances(*credentials, cluster);
    if (!instances) continue;
    for (const api::ecs::ContainerInstance& instance : *instances) {
      const std::string claim = refused_claim_of(instance);
      if (claim.empty()) continue;
      const std::string host = host_name_of(instance);
      checks.push_back(
          {"claims", CheckState::Warn,
           base::format("{} ({}): {}", host,
                        model::short_id(instance.container_instance_arn.value_or("")), claim),
           base::format(
               "If that is {}, installed anew: berth token rebind {} KEY. Otherwise one of "
               "the two machines is not what it says.",
               host, model::short_id(instance.container_instance_arn.value_or("")))});
    }
  }
  return checks;
}

}  // namespace cli
