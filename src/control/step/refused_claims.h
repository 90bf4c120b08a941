// Claims of GPUs and instance ids that were refused, for the operator who looks at the container
// instance that has them (control/agents/claims.h).
#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "model/ids.h"

namespace control {

struct RefusedClaim {
  std::string what;           // "GPU GPU-5a...", "the instance id i-0a...".
  std::string host;           // Where it came from; empty: not known.
  std::string access_key_id;  // With which key.
  base::Time at;
};
// The last one of each instance that holds what was claimed. In memory only: whose claim is refused
// tries again.
using RefusedClaims = std::map<model::InstanceArn, RefusedClaim>;

}  // namespace control
