// How instances are ranked where placement strategies leave a choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace placement {

enum class Policy : uint8_t {
  Berth,    // The packing objective (pack/objective.h).
  Fgd,      // Fragmentation Gradient Descent as published.
  BestFit,  // The least CPU and GPU left, half and half.
  Random,   // Any instance and GPU that fits.
};

// "berth", "fgd", "bestfit", "random".
std::string_view to_string(Policy policy);
std::optional<Policy> parse_policy(std::string_view text);

}  // namespace placement
