#include "control/request/client_tokens.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "control/request/errors.h"

namespace control {

base::Result<const model::ClientToken*> find_client_token(const Step& step,
                                                          const model::ClusterName& cluster,
                                                          const std::optional<std::string>& token,
                                                          const std::string& request_hash) {
  if (!token || token->empty()) return nullptr;
  const auto printable = [](char c) { return c >= 33 && c <= 126; };
  if (token->size() > 64 || !std::ranges::all_of(*token, printable)) {
    return invalid_parameter(
        "clientToken must have at most 64 ASCII characters between 33 and 126.");
  }
  const auto found = step.state().client_tokens.find({cluster, *token});
  if (found == step.state().client_tokens.end()) return nullptr;
  if (found->second.request_hash != request_hash) {
    return base::fail(
        "ConflictException",
        base::format("The clientToken {} was used before with other parameters.", *token));
  }
  return &found->second;
}

// Twice, with different starts: 128 bits. Not for security: a caller can only collide with its own
// tokens.
std::string request_fingerprint(std::string_view json) {
  uint64_t high = 0x84222325CBF29CE4ULL;
  for (const char c : json) high = base::fnv1a(static_cast<uint8_t>(c), high) + 1;
  return base::format("{:016x}{:016x}", base::fnv1a(json), high);
}

}  // namespace control
