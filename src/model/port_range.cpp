#include "model/port_range.h"

#include <charconv>

namespace model {

std::optional<PortRange> parse_port_range(std::string_view text) {
  PortRange range;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, range.last);
  if (last.ec != std::errc{} || last.ptr != end) return std::nullopt;
  if (range.first < 1 || range.last > 65535 || range.first > range.last) return std::nullopt;
  return range;
}

}  // namespace model
