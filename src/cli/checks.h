// What `berth doctor` looks at. Each check is one question about this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "docker/client.h"

namespace cli {

enum class CheckState { Ok, Warn, Fail };

struct Check {
  std::string name;
  CheckState state = CheckState::Ok;
  std::string detail;     // What was found.
  std::string todo = {};  // What to do; empty when all is well.
};

// What the daemon at `host` said to info().
Check check_docker(const std::string& host, const docker::Result<docker::RuntimeInfo>& info);
// GPUs, their driver, and whether Docker (null: does not answer) can hand them to containers.
std::vector<Check> check_gpus(const docker::RuntimeInfo* docker);
Check check_cgroups();
Check check_clock();
// The directory's owner and mode, or that it can be made, the room on its disk, and whether the
// files of a server that lie in it are whole.
std::vector<Check> check_data_dir(const std::filesystem::path& dir);
// That the address can be listened on, or that the server of `dir` already does.
Check check_port(const std::string& listen, const std::filesystem::path& dir);

// Claims of other machines to the GPUs and ids of container instances that the running server of
// `dir` has refused, a check each; nothing without one.
std::vector<Check> check_claims(const std::filesystem::path& dir);

}  // namespace cli
