// --machines: where the machines of Auto Scaling groups come from.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/local_agent.h"
#include "cli/local_server.h"
#include "cli/task_settings.h"
#include "machines/provider.h"

namespace cli {

inline constexpr const char* emulated_machines_option = "emulated";

// Of `exec:FOLDER`, and of an empty option, which launches nothing. Errors:
// InvalidParameterException naming what is wrong; `emulated` is one, here.
base::Result<std::unique_ptr<machines::MachineProvider>> machine_provider(
    const ServerCommand& options);

// All of them outlive the provider.
struct EmulatedParts {
  const ServerCommand& server;
  const TaskSettings& tasks;
  const LocalServer& local;
  LocalDocker& docker;
  base::Clock& clock;
  FatalFlag& fatal;
};
// The same, and of `emulated`: agents of this process, which are started here where the data
// directory knows some.
base::Result<std::unique_ptr<machines::MachineProvider>> machine_provider(
    const EmulatedParts& parts);

}  // namespace cli
