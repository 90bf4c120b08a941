// What a replay found, as text.
#pragma once

#include <string>
#include <vector>

#include "placement/replay/replay.h"

namespace placement::replay {

// For people: the figures, and allocation and fragmentation at every tenth percent of load.
std::string print_table(const Result& result);
// One line per policy and percent of load:
// policy,arrived_percent,allocation_percent,fragmentation_percent.
std::string print_csv(const std::vector<Result>& results);
// One object without a line end; allocation_at_100 and allocation_at_130 are null where the
// arrivals end before.
std::string print_json(const Result& result);
// Allocation and fragmentation over arrived load, one pair of lines per result.
std::string print_svg(const std::vector<Result>& results);

}  // namespace placement::replay
