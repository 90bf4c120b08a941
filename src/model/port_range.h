// A range of ports of a container, as task definitions write it. Source: ECS API reference,
// PortMapping, containerPortRange.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace model {

struct PortRange {
  int32_t first = 0;
  int32_t last = 0;
};
// "8080-8090", between 1 and 65535; nullopt for anything else.
std::optional<PortRange> parse_port_range(std::string_view text);

}  // namespace model
