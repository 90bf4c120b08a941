// From what the daemon or the connection says to the error that the agent acts on.
#pragma once

#include <string>
#include <string_view>

#include "docker/runtime.h"

namespace docker {

enum class Operation {
  Info,
  Pull,
  InspectImage,
  Create,
  Start,
  Stop,
  Kill,
  Remove,
  Inspect,
  List,
  Events,
  Logs,
  Stats,
  CreateVolume,
  InspectVolume,
  RemoveVolume,
  ImportImage,
  ListImages,
  RemoveImage,
  CreateNetwork
};

// "CannotStartContainerError". Source: the ECS agent's error names, as ECS shows them in a
// container's reason.
std::string_view error_code(Operation operation);

// "create", for logs and tests.
std::string_view operation_name(Operation operation);

// True for the calls whose subject is a container that already exists: a 404 means it vanished.
bool acts_on_container(Operation operation);

// The error for an answer of the daemon with a failure status and its `message`.
Error daemon_error(Operation operation, int status, std::string_view message);

// The error for `{"error": "..."}` in the progress of a pull, which comes with status 200.
Error pull_error(std::string_view image, std::string_view message);

// The error when nobody answers at `host`; `message` is the operating system's word.
Error unreachable_error(Operation operation, std::string_view host, std::string_view message);

// DockerTimeoutError: the outcome is unknown.
Error timeout_error(Operation operation, base::Milliseconds waited);

Error cancelled_error(Operation operation);

// The daemon answered with something that is not the documented shape.
Error malformed_error(Operation operation, std::string_view what);

}  // namespace docker
