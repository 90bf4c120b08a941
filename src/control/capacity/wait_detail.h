// Why a task waits, in a sentence or two; whether waiting can help at all.
#pragma once

#include <string>

#include "control/step/step.h"
#include "placement/place.h"

namespace control {

// The refusal's own detail; before it, where even an empty machine would not do, that no waiting
// helps: none of the capacity provider's group, or none that Berth knows; or that the group has its
// maximum of machines, and the command that raises it.
std::string wait_detail(const Step& step, const placement::Request& request,
                        const placement::Refusal& refusal);

}  // namespace control
