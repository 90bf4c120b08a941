// What the operations of Auto Scaling answer with where they do not answer.
// Source: Auto Scaling API reference, "Common Error Types" and each operation's errors.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace control::autoscaling {

inline std::unexpected<base::Error> validation_error(std::string message) {
  return base::fail("ValidationError", std::move(message));
}
inline std::unexpected<base::Error> already_exists(std::string message) {
  return base::fail("AlreadyExistsFault", std::move(message));
}
inline std::unexpected<base::Error> resource_in_use(std::string message) {
  return base::fail("ResourceInUseFault", std::move(message));
}
inline std::unexpected<base::Error> activity_in_progress(std::string message) {
  return base::fail("ScalingActivityInProgressFault", std::move(message));
}

}  // namespace control::autoscaling
