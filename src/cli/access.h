// Which server a command speaks with, and as whom.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/aws_profile.h"
#include "cli/installation.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name.
class App;
}

namespace cli {

// Adds --data, whose text stands in `data`: empty where it is not given.
void add_access_option(CLI::App& command, std::string& data);

// --data names a server's directory on this machine. Without it the environment counts, as `berth
// env` prints it: AWS_ENDPOINT_URL_ECS or AWS_ENDPOINT_URL with a key, which does from any machine;
// what it does not say, the profile of AWS_PROFILE may. Else it is the default directory.
// Errors: those of read_credentials, "NotFound" with all ways, and for a profile that there is not.
base::Result<Credentials> find_server(const std::string& data);

// Its rules about the environment: "" stands for a variable that is not set. nullopt: the
// environment and the profile name no server, or only a part of what it takes.
std::optional<Credentials> server_in_environment(
    const std::function<std::string(const char*)>& variable, const AwsProfile& profile = {});

}  // namespace cli
