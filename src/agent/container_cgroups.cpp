#include "agent/container_cgroups.h"

#include <signal.h>

#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/format.h"

namespace agent {
namespace {

namespace fs = std::filesystem;
using container::Processes;

constexpr base::Milliseconds end_patience{2'000};
constexpr base::Milliseconds end_look_interval{20};

bool is_v2(const fs::path& tree) {
  std::error_code ignored;
  return fs::exists(tree / "cgroup.controllers", ignored);
}

// The hierarchy to look into: with version 1 each controller has one of its own, and a container is
// in all of them. The freezer's comes first, since what is frozen has to be thawed to end.
std::optional<fs::path> find_tree(const fs::path& root) {
  if (is_v2(root)) return root;
  for (const char* controller : {"freezer", "pids", "devices", "memory", "cpu", "systemd"}) {
    std::error_code ignored;
    if (fs::exists(root / controller / "cgroup.procs", ignored)) return root / controller;
  }
  return std::nullopt;
}

// The root of all cgroups, not of a namespace within.
bool is_true_root(const fs::path& tree) {
  std::error_code ignored;
  if (is_v2(tree)) return !fs::exists(tree / "cgroup.events", ignored);
  return fs::exists(tree / "release_agent", ignored);
}

// "<id>" of Docker's driver cgroupfs, "docker-<id>.scope" of systemd. Another name that holds the
// id is of a helper ("libpod-conmon-<id>.scope").
bool is_cgroup_of(std::string_view name, std::string_view id) {
  if (name == id) return true;
  return name.ends_with(base::format("-{}.scope", id)) && !name.contains("conmon");
}

// The cgroups of these containers. Directories may go while they are walked through.
std::multimap<std::string, fs::path> find_cgroups(const fs::path& tree,
                                                  std::span<const std::string> ids) {
  std::multimap<std::string, fs::path> found;
  std::vector<fs::path> open = {tree};
  while (!open.empty()) {
    const fs::path folder = std::move(open.back());
    open.pop_back();
    std::error_code error;
    for (fs::directory_iterator one(folder, error), end; !error && one != end;
         one.increment(error)) {
      std::error_code gone;
      if (!one->is_directory(gone) || one->is_symlink(gone)) continue;
      const std::string name = one->path().filename();
      bool is_container = false;
      for (const std::string& id : ids) {
        if (id.empty() || !is_cgroup_of(name, id)) continue;
        found.emplace(id, one->path());
        is_container = true;
      }
      if (!is_container) open.push_back(one->path());
    }
  }
  return found;
}

// Those of the cgroup and of all below it, as the kernel lists them at this moment. nullopt: it is
// there and cannot be read.
std::optional<std::set<int64_t>> processes_in(const fs::path& cgroup) {
  std::set<int64_t> pids;
  std::vector<fs::path> open = {cgroup};
  while (!open.empty()) {
    const fs::path folder = std::move(open.back());
    open.pop_back();
    std::ifstream file(folder / "cgroup.procs");
    std::error_code error;
    if (!file && fs::exists(folder, error)) return std::nullopt;
    for (int64_t pid = 0; file >> pid;) pids.insert(pid);
    for (fs::directory_iterator one(folder, error), end; !error && one != end;
         one.increment(error)) {
      std::error_code gone;
      if (one->is_directory(gone) && !one->is_symlink(gone)) open.push_back(one->path());
    }
  }
  return pids;
}

// Version 2 says in one word of the cgroup and all below it.
std::optional<bool> is_populated(const fs::path& cgroup) {
  std::ifstream events(cgroup / "cgroup.events");
  std::string name;
  for (int value = 0; events >> name >> value;) {
    if (name == "populated") return value != 0;
  }
  const auto pids = processes_in(cgroup);
  return pids ? std::optional(!pids->empty()) : std::nullopt;
}

core::ProcessesSeen seen_in(const std::vector<fs::path>& cgroups) {
  core::ProcessesSeen seen{Processes::None, {}};
  for (const fs::path& cgroup : cgroups) {
    const std::optional<bool> populated = is_populated(cgroup);
    if (populated.value_or(false)) return {Processes::Some, {}};
    if (!populated) {
      seen = {Processes::Unknown, base::format("its cgroup {} cannot be read", cgroup.string())};
    }
  }
  return seen;
}

void write_word(const fs::path& file, std::string_view word) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return;
  std::ofstream(file) << word << std::flush;
}

// Whoever forks meanwhile is met at the next look.
void kill_all(const fs::path& cgroup) {
  write_word(cgroup / "cgroup.kill", "1");
  for (const int64_t pid : processes_in(cgroup).value_or(std::set<int64_t>())) {
    if (pid > 1) ::kill(static_cast<pid_t>(pid), SIGKILL);
  }
  // With version 1 a frozen process takes the signal when it is thawed.
  write_word(cgroup / "freezer.state", "THAWED");
}

}  // namespace

std::string ContainerCgroups::blind_spot(const fs::path& tree) {
  if (docker_is_ == Place::Unknown) {
    const auto info = docker_.info();
    if (!info) {
      return base::format("Docker has not told yet where it keeps cgroups: {}",
                          info.error().message);
    }
    std::error_code ignored;
    docker_is_ = !fs::is_directory(info->root_dir, ignored) ? Place::Elsewhere
                 : info->cgroup_driver == "none"            ? Place::WithoutCgroups
                                                            : Place::Here;
  }
  if (docker_is_ == Place::Elsewhere) {
    return "Docker's data are not on this machine, so its cgroups are not either";
  }
  if (docker_is_ == Place::WithoutCgroups) {
    return "this Docker keeps no cgroups (driver none); run it as root, or on cgroup v2 with "
           "systemd";
  }
  if (is_true_root(tree) || has_found_) return {};
  return base::format(
      "the agent sees only a part of this machine's cgroups in {}; start it in the machine's own "
      "cgroup namespace",
      tree.string());
}

std::vector<core::ProcessesSeen> ContainerCgroups::look(std::span<const std::string> runtime_ids) {
  std::vector<core::ProcessesSeen> all;
  const std::optional<fs::path> tree = find_tree(root_);
  if (!tree) {
    const std::string why = base::format("there are no cgroups in {}", root_.string());
    all.assign(runtime_ids.size(), {Processes::Unknown, why});
    return all;
  }
  const auto found = find_cgroups(*tree, runtime_ids);
  if (!found.empty()) has_found_ = true;
  const std::string blind = blind_spot(*tree);
  for (const std::string& id : runtime_ids) {
    std::vector<fs::path> cgroups;
    const auto [first, last] = found.equal_range(id);
    for (auto one = first; one != last; ++one) cgroups.push_back(one->second);
    if (cgroups.empty() && !blind.empty()) {
      all.push_back({Processes::Unknown, blind});
    } else {
      all.push_back(seen_in(cgroups));
    }
  }
  return all;
}

core::ProcessesSeen ContainerCgroups::end(const std::string& runtime_id) {
  const auto deadline = std::chrono::steady_clock::now() + end_patience;
  while (true) {
    core::ProcessesSeen seen = look_at(runtime_id);
    if (seen.left != Processes::Some || std::chrono::steady_clock::now() >= deadline) return seen;
    for (const auto& [id, cgroup] : find_cgroups(*find_tree(root_), {&runtime_id, 1})) {
      kill_all(cgroup);
    }
    std::this_thread::sleep_for(end_look_interval);
  }
}

}  // namespace agent
