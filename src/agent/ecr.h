// Logging in to registries of Amazon ECR. Berth's own keys mean nothing there: the agent is given
// keys of AWS beside them.
// Source: Amazon ECR API reference, "GetAuthorizationToken".
#pragma once

#include "acs/payload.h"
#include "agent/agent.h"
#include "agent/secrets.h"
#include "base/time.h"
#include "docker/runtime.h"

namespace agent {

// Blocks. Errors: "CannotPullECRContainerError", naming the fix.
SetupResult<docker::RegistryAuth> fetch_ecr_auth(const EcrAccess& access,
                                                 const acs::EcrAuthData& registry,
                                                 base::Clock& clock);

// The login in an answer of GetAuthorizationToken. `where` it comes from, for the message.
// Errors: Cause::Other.
SetupResult<docker::RegistryAuth> parse_ecr_token(std::string_view body, std::string_view where);

}  // namespace agent
