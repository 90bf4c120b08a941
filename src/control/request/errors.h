// The error codes of the ECS API that the control plane answers with.
// Source: ECS API reference, "Common Errors" and each operation's errors.
#pragma once

#include <string>

#include "base/result.h"

namespace control {

// The caller asked for something that does not exist or is not allowed in this state.
inline std::unexpected<base::Error> client_error(std::string message) {
  return base::fail("ClientException", std::move(message));
}
// A parameter is wrong in itself.
inline std::unexpected<base::Error> invalid_parameter(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

}  // namespace control
