// Which of a service's tasks goes first. Source: placement/scale_in.h for tasks that run; those
// that have not started yet go before them; protected ones do not go.
#pragma once

#include <vector>

#include "reconcile/classify.h"
#include "reconcile/plan.h"

namespace reconcile {

// `count` of the members at most, in the order in which they go: not healthy ones before others.
std::vector<Member> first_to_go(Plan& plan, const std::vector<Member>& members, size_t count);

}  // namespace reconcile
