// What the operations of EC2 answer with where they do not answer.
// Source: EC2 API reference, "Error codes for the Amazon EC2 API".
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace control::ec2 {

inline std::unexpected<base::Error> invalid_value(std::string message) {
  return base::fail("InvalidParameterValue", std::move(message));
}
inline std::unexpected<base::Error> missing(std::string message) {
  return base::fail("MissingParameter", std::move(message));
}

inline std::unexpected<base::Error> token_mismatch(const std::string& token) {
  return base::fail("IdempotentParameterMismatch",
                    "The client token " + token +
                        " came with another request before. Give a new one for a new request.");
}

// Everything was right with a call that is not to be carried out.
inline base::Result<void> check_dry_run(const std::optional<bool>& dry_run) {
  if (!dry_run.value_or(false)) return {};
  return base::fail("DryRunOperation", "Request would have succeeded, but DryRun flag is set.");
}

}  // namespace control::ec2
