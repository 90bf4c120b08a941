// The AWS services that the control plane answers for, and their operations.
#pragma once

#include <string_view>

#include "base/result.h"
#include "control/step/action.h"

namespace control {

// Of the service with that name; nullptr: Berth does not offer the operation.
const Action* find_action(std::string_view service, std::string_view operation);
// What a caller of such an operation is told.
base::Error not_offered(std::string_view service, std::string_view operation);

}  // namespace control
