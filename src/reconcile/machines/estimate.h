// How many machines the tasks that wait for a capacity provider need: they are placed, dry, by the
// placement engine itself, on what is free in the group and on imagined machines of its type.
// Source: ECS Developer Guide, "Optimize Amazon ECS cluster auto scaling": tasks with the same
// needs are one group; one that the (smallest) instance type cannot hold is left out and goes on
// waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/state.h"
#include "placement/place.h"

namespace reconcile::machines {

struct CountedRequest {
  placement::Request request;
  int32_t count = 0;  // Tasks that ask the same.
};

// A machine that waiting tasks may come to.
struct Room {
  std::string token;                                   // Empty: it is not even asked for yet.
  const model::ContainerInstance* instance = nullptr;  // Null: it has not joined yet.
};

struct Estimate {
  std::set<std::string> used;    // Tokens of machines that the tasks would come to.
  int32_t unasked_used = 0;      // Of those without a token.
  int32_t more = 0;              // Machines beyond those.
  int32_t left_out = 0;          // Tasks that no machine of the type can hold.
  bool type_is_unknown = false;  // What such a machine has is not known before one has joined.
};

// Cost: O(tasks * rooms) at worst. `empty`: what a new machine has, from imagine(). `most`: not
// more machines than that are counted.
Estimate estimate(std::vector<CountedRequest> needs, const std::vector<Room>& rooms,
                  const std::optional<model::ContainerInstance>& empty, int32_t most);

// A machine of that type without tasks: as one that has registered, or as the catalogue has it.
// nullopt when neither knows the type.
std::optional<model::ContainerInstance> imagine(const std::string& instance_type,
                                                const model::ContainerInstance* registered);

}  // namespace reconcile::machines
