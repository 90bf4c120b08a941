#include "model/port_range.h"

#include "base/text.h"

namespace model {

std::optional<PortRange> parse_port_range(std::string_view text) {
  const size_t dash = text.find('-', 1);
  if (dash >= text.size()) return std::nullopt;
  const PortRange range{base::parse_number<int32_t>(text.substr(0, dash)).value_or(0),
                        base::parse_number<int32_t>(text.substr(dash + 1)).value_or(0)};
  if (range.first < 1 || range.last > 65535 || range.first > range.last) return std::nullopt;
  return range;
}

}  // namespace model
