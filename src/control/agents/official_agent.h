// What an official ECS agent has to be told differently from Berth's own: it hands logging options
// to Docker as they are, and Docker knows neither stream prefixes nor where this server is.
#pragma once

#include "acs/payload.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

bool is_berth_agent(const model::ContainerInstance& instance);

// Puts awslogs options into Docker's words: the stream's name in the place of its prefix, and this
// server as the endpoint unless the definition names another one. Leaves logging in to Amazon ECR
// to the agent's own configuration, and shows a container without a GPU none.
// Source: Docker manual, "Amazon CloudWatch Logs logging driver".
void adapt_to_official_agent(const Step& step, acs::Task& payload);

}  // namespace control
