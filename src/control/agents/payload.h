// A task as its agent is told of it: overrides merged, Docker's settings spelled as Docker's API
// does, physical GPUs as associations.
#pragma once

#include <string>

#include "acs/payload.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

// Of a task whose desiredStatus is STOPPED only what a stop needs. Source: agent protocol,
// PayloadMessage; Docker Engine API v1.41, "Create a container". `through` is the access key id of
// the agent that gets it, as in role_credentials().
acs::Task make_payload(const Step& step, const model::Task& task, const std::string& through = {});

}  // namespace control
