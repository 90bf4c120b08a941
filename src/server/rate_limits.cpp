#include "server/rate_limits.h"

#include <algorithm>

#include "base/hash.h"

namespace server {
namespace {

constexpr int64_t agent_factor = 10;

// Sorted: what agents send by themselves.
constexpr std::array<std::string_view, 11> agent_operations = {
    "CreateLogGroup",
    "CreateLogStream",
    "DeregisterContainerInstance",
    "DiscoverPollEndpoint",
    "JoinCluster",
    "PutLogEvents",
    "RegisterContainerInstance",
    "SubmitAttachmentStateChanges",
    "SubmitContainerStateChange",
    "SubmitTaskStateChange",
    "UpdateContainerInstancesState",
};
static_assert(std::is_sorted(agent_operations.begin(), agent_operations.end()));

}  // namespace

// The ids are not chosen by who wants to meet another one's slot.
size_t key_slot(std::string_view access_key_id, size_t slots) {
  const uint64_t hash = base::fnv1a(access_key_id);
  return (hash ^ (hash >> 32)) % slots;
}

RateLimits::RateLimits(int64_t per_second)
    : clients_(per_second, 2 * per_second),
      agents_(agent_factor * per_second, 2 * agent_factor * per_second) {}

bool RateLimits::pass(std::string_view access_key_id, std::string_view operation,
                      base::Milliseconds now) {
  const bool agent =
      std::binary_search(agent_operations.begin(), agent_operations.end(), operation);
  // Neighbours of an even and an odd number.
  const size_t slot = key_slot(access_key_id, slots / 2) * 2 + (agent ? 1 : 0);
  return (agent ? agents_ : clients_).pass(due_[slot], now);
}

bool Handshakes::pass(const auth::Caller& caller, std::string_view instance,
                      base::Milliseconds now) {
  const bool full = std::holds_alternative<auth::FullAccess>(caller.access);
  const size_t slot = key_slot(full ? instance : std::string_view(caller.access_key_id), slots);
  return pace_.pass(due_[slot], now);
}

}  // namespace server
