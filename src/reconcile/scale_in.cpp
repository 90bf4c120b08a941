#include "reconcile/scale_in.h"

#include <algorithm>
#include <array>

#include "placement/scale_in.h"

namespace reconcile {
namespace {

// Adds `count` of those that may go, picked so that those that stay are balanced.
void pick(Plan& plan, const std::vector<Member>& members, Phase phase, size_t count,
          std::vector<Member>& picked) {
  std::vector<Member> candidates;
  placement::ScaleIn choice;
  choice.strategies = plan.service().placement_strategy;
  for (const Member& member : members) {
    if (member.phase == phase && !member.is_protected) {
      candidates.push_back(member);
    } else {
      choice.staying.push_back(member.task->arn);
    }
  }
  if (candidates.size() <= count) {
    picked.insert(picked.end(), candidates.begin(), candidates.end());
    return;
  }
  for (const Member& member : candidates) choice.candidates.push_back(member.task->arn);
  const auto order = placement::pick_scale_in(plan.input.state, choice, count, plan.random);
  CHECK(order.has_value());  // The strategies were checked when the service got them.
  for (const model::TaskArn& arn : *order) {
    const auto found = std::ranges::find_if(
        candidates, [&](const Member& member) { return member.task->arn == arn; });
    CHECK(found != candidates.end());
    picked.push_back(*found);
  }
}

}  // namespace

std::vector<Member> first_to_go(Plan& plan, const std::vector<Member>& members, size_t count) {
  std::vector<Member> picked;
  for (const Phase phase :
       {Phase::Waiting, Phase::Starting, Phase::Unhealthy, Phase::Settling, Phase::Healthy}) {
    if (picked.size() >= count) break;
    pick(plan, members, phase, count - picked.size(), picked);
  }
  return picked;
}

}  // namespace reconcile
