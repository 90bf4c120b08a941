#include "reconcile/queue/attempt.h"

#include <algorithm>

#include "base/format.h"
#include "placement/rehearsal.h"

namespace reconcile::queue {
namespace {

// Instances that the engine does not see for a while.
class Hidden {
 public:
  explicit Hidden(const Input& input) : input_(input) {}
  ~Hidden() {
    for (const model::InstanceArn& arn : hidden_) input_.engine.instance_changed(input_.state, arn);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

  void hide(const model::InstanceArn& arn) {
    static const model::ClusterState nothing;
    hidden_.push_back(arn);
    input_.engine.instance_changed(nothing, arn);
  }
  const std::vector<model::InstanceArn>& all() const { return hidden_; }
  bool any() const { return !hidden_.empty(); }

 private:
  const Input& input_;
  std::vector<model::InstanceArn> hidden_;
};

Refused refused_for_others(const Unit& unit, const Hidden& hidden, Forecast& forecast) {
  const bool clear = std::ranges::all_of(
      hidden.all(), [&](const model::InstanceArn& arn) { return forecast.is_clear_of(unit, arn); });
  if (clear) {
    return {.reason = std::string(reason_behind),
            .detail = base::format(
                "There is room, but on instances that are kept clear for tasks that need a whole "
                "one, as one does that runs now. With the tag {} it may go there.",
                max_seconds_tag),
            .for_others = true,
            .kept_clear = true};
  }
  return {.reason = std::string(reason_behind),
          .detail = "There is room, but it is kept for tasks that stand before this one.",
          .for_others = true};
}

Refused refused_by(const std::vector<placement::Refusal>& refusals) {
  if (refusals.empty()) return {.reason = std::string(placement::reason_no_instance), .detail = {}};
  return {.reason = refusals.front().reason, .detail = refusals.front().detail};
}

// Places the members one after the other on the copy. The number placed is less than all where one
// finds no place.
std::vector<Start> rehearse(const Input& input, const Unit& unit, Refused& refused) {
  placement::Rehearsal rehearsal(input.engine, input.state, input.cluster);
  std::vector<Start> starts;
  for (const WaitingTask* const member : unit.members) {
    auto placed = input.engine.place(rehearsal.state(), member->need->request, input.random);
    if (!placed) {
      refused = refused_by(placed.error());
      refused.detail = base::format("{} of the gang's {} members have room now. {}", starts.size(),
                                    unit.members.size(), refused.detail);
      return starts;
    }
    const model::Task* const task = model::find_task(input.state, member->arn);
    CHECK(task != nullptr);
    rehearsal.place(*task, *placed);
    starts.push_back({member->arn, std::move(*placed)});
  }
  return starts;
}

}  // namespace

std::expected<std::vector<Start>, Refused> attempt_alone(const Input& input, const Unit& unit,
                                                         Forecast* forecast) {
  const WaitingTask& task = *unit.members.front();
  Hidden hidden(input);
  while (true) {
    auto placed = input.engine.place(input.state, task.need->request, input.random);
    if (!placed && hidden.any()) {
      return std::unexpected(refused_for_others(unit, hidden, *forecast));
    }
    if (!placed) return std::unexpected(refused_by(placed.error()));
    std::vector<Start> starts = {{task.arn, std::move(*placed)}};
    if (forecast == nullptr) return starts;
    const auto delayed = forecast->delayed_by(unit, starts);
    if (delayed.empty()) return starts;
    for (const model::InstanceArn& arn : delayed) hidden.hide(arn);
  }
}

std::expected<std::vector<Start>, Refused> attempt_gang(const Input& input, const Unit& unit,
                                                        Forecast& forecast) {
  if (!forecast.has_room_now(unit)) {
    auto alone = attempt_alone(input, unit, nullptr);  // For the reason.
    if (!alone) return std::unexpected(std::move(alone).error());
    return std::unexpected(
        Refused{.reason = std::string(reason_gang),
                .detail = base::format("The instances have no room for all {} members at once.",
                                       unit.members.size())});
  }
  Hidden hidden(input);
  while (true) {
    Refused refused;
    std::vector<Start> starts = rehearse(input, unit, refused);
    if (starts.size() < unit.members.size()) {
      return std::unexpected(hidden.any() ? refused_for_others(unit, hidden, forecast) : refused);
    }
    const auto delayed = forecast.delayed_by(unit, starts);
    if (delayed.empty()) return starts;
    for (const model::InstanceArn& arn : delayed) hidden.hide(arn);
  }
}

}  // namespace reconcile::queue
