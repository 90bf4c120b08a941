// Idempotent calls: the same clientToken with the same request gets the same answer.
// Source: ECS API reference, "Ensuring idempotency".
#pragma once

#include <optional>
#include <string>

#include "api/generated/ecs.h"
#include "api/json.h"
#include "base/result.h"
#include "control/step/step.h"

namespace control {

// The earlier call's record, or nullptr when the token is new or absent.
// Errors: InvalidParameterException for a token of a wrong form; ConflictException when the token
// came with another request before.
base::Result<const model::ClientToken*> find_client_token(const Step& step,
                                                          const model::ClusterName& cluster,
                                                          const std::optional<std::string>& token,
                                                          const std::string& request_hash);

// A fingerprint of a request's JSON text, equal for equal texts.
std::string request_fingerprint(std::string_view json);
// Of a request, whatever its clientToken is.
template <class Request>
std::string call_fingerprint(Request request) {
  request.client_token.reset();
  return request_fingerprint(api::print(request));
}

}  // namespace control
