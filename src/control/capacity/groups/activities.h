// What a group's machines went through, as DescribeScalingActivities tells it.
// Source: Auto Scaling API reference, Activity; EC2 Auto Scaling User Guide, "Verify a scaling
// activity for an Auto Scaling group".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "control/step/step.h"
#include "model/capacity.h"

namespace control {

struct CapacityStep {
  size_t from = 0;
  size_t to = 0;
};

// The machine has no id yet: its token is the activity's id. `because`: what changed the desired
// capacity, one sentence without its end; may be empty.
void begin_launch(Step& step, std::string_view group, const model::Machine& machine,
                  CapacityStep capacity, std::string_view because);
// It has an id now.
void name_launch(Step& step, std::string_view group, const model::Machine& machine);
// Nothing happens when the activity is over or forgotten.
void end_launch(Step& step, std::string_view group, const model::Machine& machine,
                std::string_view status, std::string message = {});
// A launch that was not even tried.
void note_no_launch(Step& step, std::string_view group, std::string message);

// Nothing happens when the machine's end is being told of already.
void begin_termination(Step& step, std::string_view group, const model::Machine& machine,
                       const std::string& cause);
// Still under way, and why it takes long.
void explain_termination(Step& step, std::string_view group, const model::Machine& machine,
                         std::string message);
void end_termination(Step& step, std::string_view group, const model::Machine& machine);

// Causes.
std::string cause_of_surplus(base::Time now, const model::Machine& machine, CapacityStep capacity,
                             std::string_view because);
std::string cause_of_health(base::Time now, std::string_view reason);
std::string cause_of_end(base::Time now, std::string_view reason);

}  // namespace control
