// The cgroups that bound what the containers of one task use together.
// Source: Linux, Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst;
// systemd.resource-control(5).
#pragma once

#include <filesystem>
#include <string>

#include "agent/core/runtime.h"
#include "base/result.h"

namespace agent {

// How Docker keeps its containers' cgroups.
struct CgroupSetup {
  std::string driver;   // "cgroupfs" or "systemd".
  std::string version;  // "1" or "2".
};

// Where a machine has them; tests point these elsewhere.
struct CgroupPaths {
  std::filesystem::path root = "/sys/fs/cgroup";
  std::string systemctl = "/usr/bin/systemctl";
};

// Makes the task's cgroup, or sets the limits of the one that is there. The answer is Docker's
// HostConfig.CgroupParent: a path, or the name of a slice where systemd keeps them. Errors:
// "IoError", when this machine's cgroups cannot be written here.
base::Result<std::string> make_task_cgroup(const core::TaskLimits& limits, const CgroupSetup& setup,
                                           const CgroupPaths& paths = {});

// Of a task whose containers are gone; success when there is none.
void remove_task_cgroup(const std::string& task_id, const CgroupSetup& setup,
                        const CgroupPaths& paths = {});

}  // namespace agent
