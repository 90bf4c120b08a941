#include "agent/task_cgroups.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include "agent/child_process.h"
#include "base/format.h"
#include "base/units.h"

namespace agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view parent = "ecs";
constexpr int64_t period_us = 100'000;
constexpr int64_t least_quota_us = 1'000;

std::unexpected<base::Error> cgroup_error(std::string_view what, const fs::path& path,
                                          const std::string& why) {
  return base::fail("IoError", base::format("cannot {} {}: {}", what, path.string(), why));
}

base::Result<void> make_cgroup(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return cgroup_error("make the cgroup", path, error.message());
  return {};
}

base::Result<void> write_file(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) return cgroup_error("write", path, std::strerror(errno));
  return {};
}

int64_t quota_us(const core::TaskLimits& limits) {
  return std::max(limits.cpu_milli * period_us / 1000, least_quota_us);
}

// Each controller has a tree of its own.
base::Result<void> limit_v1(const core::TaskLimits& limits, const fs::path& root) {
  if (limits.memory_mib > 0) {
    const fs::path group = root / "memory" / parent / limits.task_id;
    TRY_VOID(make_cgroup(group));
    TRY_VOID(write_file(group / "memory.limit_in_bytes",
                        base::format("{}", limits.memory_mib * base::bytes_per_mib)));
  }
  if (limits.cpu_milli > 0) {
    const fs::path group = root / "cpu" / parent / limits.task_id;
    TRY_VOID(make_cgroup(group));
    TRY_VOID(write_file(group / "cpu.cfs_period_us", base::format("{}", period_us)));
    TRY_VOID(write_file(group / "cpu.cfs_quota_us", base::format("{}", quota_us(limits))));
  }
  return {};
}

base::Result<void> limit_v2(const core::TaskLimits& limits, const fs::path& root) {
  const fs::path group = root / parent / limits.task_id;
  TRY_VOID(make_cgroup(group));
  for (const fs::path& above : {root, root / parent}) {
    TRY_VOID(write_file(above / "cgroup.subtree_control", "+cpu +memory"));
  }
  if (limits.memory_mib > 0) {
    TRY_VOID(write_file(group / "memory.max",
                        base::format("{}", limits.memory_mib * base::bytes_per_mib)));
  }
  if (limits.cpu_milli > 0) {
    TRY_VOID(write_file(group / "cpu.max", base::format("{} {}", quota_us(limits), period_us)));
  }
  return {};
}

std::string slice_of(const std::string& task_id) {
  return base::format("{}-{}.slice", parent, task_id);
}

base::Result<void> run_systemctl(const std::string& program,
                                 const std::vector<std::string>& arguments) {
  const ChildEnd end = TRY(run_child({.path = program, .arguments = arguments}));
  if (end.exit_code == 0) return {};
  return base::fail(
      "IoError", base::format("`systemctl {}` failed: {}", base::join(arguments, " "), end.output));
}

// systemd translates these to whichever version of cgroups the machine has.
base::Result<void> limit_slice(const core::TaskLimits& limits, const std::string& systemctl) {
  const std::string slice = slice_of(limits.task_id);
  std::vector<std::string> set = {"set-property", "--runtime", slice};
  if (limits.memory_mib > 0) {
    set.push_back(base::format("MemoryMax={}", limits.memory_mib * base::bytes_per_mib));
  }
  if (limits.cpu_milli > 0) {
    set.push_back(base::format("CPUQuota={}%", std::max<int64_t>(limits.cpu_milli / 10, 1)));
  }
  TRY_VOID(run_systemctl(systemctl, {"start", slice}));
  return set.size() == 3 ? base::Result<void>{} : run_systemctl(systemctl, set);
}

}  // namespace

base::Result<std::string> make_task_cgroup(const core::TaskLimits& limits, const CgroupSetup& setup,
                                           const CgroupPaths& paths) {
  if (setup.driver == "systemd") {
    TRY_VOID(limit_slice(limits, paths.systemctl));
    return slice_of(limits.task_id);
  }
  TRY_VOID(setup.version == "2" ? limit_v2(limits, paths.root) : limit_v1(limits, paths.root));
  return base::format("/{}/{}", parent, limits.task_id);
}

void remove_task_cgroup(const std::string& task_id, const CgroupSetup& setup,
                        const CgroupPaths& paths) {
  if (setup.driver == "systemd") {
    const std::string slice = slice_of(task_id);
    // `revert` takes away what set-property has noted of it.
    static_cast<void>(run_systemctl(paths.systemctl, {"stop", slice}));
    static_cast<void>(run_systemctl(paths.systemctl, {"revert", slice}));
    return;
  }
  if (setup.version == "2") {
    ::rmdir((paths.root / parent / task_id).c_str());
    return;
  }
  // Docker made its part in the trees of all controllers.
  std::error_code error;
  for (const fs::directory_entry& controller : fs::directory_iterator(paths.root, error)) {
    ::rmdir((controller.path() / parent / task_id).c_str());
  }
}

}  // namespace agent
