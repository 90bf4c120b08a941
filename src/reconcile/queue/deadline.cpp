#include "reconcile/queue/deadline.h"

#include <chrono>

#include "base/format.h"

namespace reconcile::queue {
namespace {

// A member of the one call that made the gang has gone, and no other can come.
bool is_broken(const Unit& unit) {
  return !unit.complete && unit.members.front()->tags.gang == gang_of_call;
}

std::string reason_of(const Unit& unit) {
  return base::format("{}: {} of the {} members of its gang are left; all start together or none.",
                      reason_gang, unit.members.size(), unit.members.front()->gang_size);
}

std::string reason_of(const Unit& unit, const WaitingTask& task, const model::Task* record) {
  std::string text = base::format("{}: ", reason_deadline);
  if (task.tags.queue_time) {
    text += base::format(
        "it waited {} s in the queue, as long as its tag {} allows.",
        std::chrono::duration_cast<std::chrono::seconds>(*task.tags.queue_time).count(),
        queue_seconds_tag);
  } else {
    text += base::format("another member of its gang waited as long as its tag {} allows.",
                         queue_seconds_tag);
  }
  if (!unit.complete) {
    return text + base::format(" {} of the {} members of its gang were there.", unit.members.size(),
                               task.gang_size);
  }
  if (record != nullptr && !record->wait_reason.empty()) {
    text += base::format(" What it lacked: {}.", record->wait_reason);
    if (!record->wait_detail.empty()) text += " " + record->wait_detail;
  }
  return text;
}

}  // namespace

std::vector<Expired> take_expired(std::vector<Unit>& units, const model::ClusterState& state,
                                  base::Time now) {
  std::vector<Expired> expired;
  std::erase_if(units, [&](const Unit& unit) {
    const bool late = unit.deadline && *unit.deadline <= now;
    if (!late && is_broken(unit)) {
      for (const WaitingTask* const member : unit.members) {
        expired.push_back({member->arn, reason_of(unit)});
      }
      return true;
    }
    if (!late) return false;
    for (const WaitingTask* const member : unit.members) {
      expired.push_back(
          {member->arn, reason_of(unit, *member, model::find_task(state, member->arn))});
    }
    return true;
  });
  return expired;
}

}  // namespace reconcile::queue
