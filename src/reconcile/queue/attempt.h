// Whether a unit can start now, and where: nothing is started here.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "reconcile/queue/forecast.h"
#include "reconcile/queue/queue.h"
#include "reconcile/queue/unit.h"

namespace reconcile::queue {

struct Refused {
  std::string reason;
  std::string detail;
  bool for_others = false;  // It has room, but would delay those before it.
  bool kept_clear = false;  // It has room, but only where it is kept clear for larger ones.
};

// Where each member goes, in order: the engine's choice, instances left out on which it would delay
// what `forecast` has booked. forecast: nullptr when nothing is booked.
std::expected<std::vector<Start>, Refused> attempt_alone(const Input& input, const Unit& unit,
                                                         Forecast* forecast);
// All members of a gang or none, tried on a copy of the cluster.
std::expected<std::vector<Start>, Refused> attempt_gang(const Input& input, const Unit& unit,
                                                        Forecast& forecast);

}  // namespace reconcile::queue
