// Host ports that lie side by side, for a range of a container's ports.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/core/runtime.h"
#include "base/random.h"
#include "base/result.h"
#include "json/value.h"

namespace agent {

// The first of `count` ports that nothing on this machine listens on now, out of the range for
// short-lived ports. Errors: "ResourceInitializationError".
base::Result<uint16_t> find_free_ports(int32_t count, bool udp, base::Random& random);

// The HostPort of each port of the ranges, in HostConfig.PortBindings of a create request.
base::Result<void> bind_ranges(const std::vector<core::PortRange>& ranges, base::Random& random,
                               json::Value& body);

}  // namespace agent
