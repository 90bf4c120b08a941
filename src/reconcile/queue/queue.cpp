#include "reconcile/queue/queue.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"
#include "reconcile/queue/attempt.h"
#include "reconcile/queue/deadline.h"
#include "reconcile/queue/forecast.h"
#include "reconcile/queue/kept_clear.h"
#include "reconcile/queue/order.h"
#include "reconcile/queue/unit.h"

namespace reconcile::queue {
namespace {

// What is known of a kind of tasks that found no place in this pass: an equal one finds none
// either, for room only goes.
struct Known {
  Refused refused;
  base::Time until;  // Of one that would delay others: those that end before are worth a try.
};

class Pass {
 public:
  Pass(const Input& input, base::Time now, const Settings& settings)
      : input_(input), now_(now), settings_(settings) {}

  Outcome run(const std::vector<WaitingTask>& tasks) {
    std::vector<Unit> units = units_of(tasks);
    outcome_.expired = take_expired(units, input_.state, now_);
    for (const Unit& unit : units) {
      if (unit.deadline) wake_at(*unit.deadline);
      if (!unit.complete) tell_incomplete(unit);
    }
    keep_clear(units);
    for (const size_t index : in_order(units)) {
      const Unit& unit = units[index];
      auto starts = attempt(unit);
      if (starts) {
        input_.commit(*starts);
        if (forecast_) forecast_->tasks_came(*starts);
        outcome_.started += starts->size();
      } else {
        wait_on(unit, starts.error());
      }
    }
    for (Verdict& verdict : outcome_.waiting) verdict.length = length_;
    return std::move(outcome_);
  }

 private:
  std::vector<size_t> in_order(const std::vector<Unit>& units) {
    if (!settings_.strict_order) {
      return order_of(units, input_.state, input_.cluster, now_, settings_.patience);
    }
    std::vector<size_t> by_age;
    for (size_t i = 0; i < units.size(); ++i) {
      if (units[i].complete) by_age.push_back(i);
    }
    return by_age;
  }

  void keep_clear(const std::vector<Unit>& units) {
    if (settings_.strict_order || units.empty()) return;
    const size_t gpus = most_held_whole(input_.state, input_.cluster);
    if (gpus == 0) return;
    const size_t count = forecast().instances() * settings_.kept_clear_percent / 100;
    forecast().keep_clear(gpus, count, settings_.longest_kept_off);
  }

  void wake_at(base::Time time) {
    if (time > now_) outcome_.wake = std::min(outcome_.wake, time);
  }

  Forecast& forecast() {
    if (!forecast_) forecast_.emplace(input_, now_);
    return *forecast_;
  }

  std::expected<std::vector<Start>, Refused> attempt(const Unit& unit) {
    if (settings_.strict_order && length_ > 0) {
      return std::unexpected(Refused{.reason = std::string(reason_behind), .detail = {}});
    }
    if (unit.is_gang()) return attempt_gang(input_, unit, forecast());
    const Requirements* const need = unit.members.front()->need;
    const base::Time until = unit.end_of(now_);
    // One that has waited for long may go where an equal one may not.
    const std::pair kind(need, unit.queued_at + settings_.longest_kept_off <= now_);
    const auto known = known_.find(kind);
    if (known != known_.end() &&
        (!known->second.refused.for_others || until >= known->second.until)) {
      return std::unexpected(known->second.refused);
    }
    if (known == known_.end() && known_.size() >= settings_.most_tried) {
      return std::unexpected(Refused{
          .reason = std::string(reason_behind),
          .detail =
              base::format("{} other kinds of tasks stand before it.", settings_.most_tried)});
    }
    auto starts = attempt_alone(input_, unit, forecast_ ? &*forecast_ : nullptr);
    if (!starts) known_[kind] = {starts.error(), until};
    return starts;
  }

  Verdict verdict_of(const Unit& unit, const WaitingTask& member) const {
    Verdict verdict;
    verdict.task = member.arn;
    verdict.deadline = unit.deadline;
    if (unit.is_gang()) verdict.gang_present = static_cast<int32_t>(unit.members.size());
    return verdict;
  }

  void tell_incomplete(const Unit& unit) {
    for (const WaitingTask* const member : unit.members) {
      Verdict verdict = verdict_of(unit, *member);
      verdict.reason = std::string(reason_gang);
      verdict.detail =
          base::format("{} of the {} members of its gang are there; all start together.",
                       unit.members.size(), member->gang_size);
      verdict.basis = "unknown: members of its gang are missing";
      outcome_.waiting.push_back(std::move(verdict));
    }
  }

  void wait_on(const Unit& unit, const Refused& refused) {
    ++length_;
    Verdict common;
    common.position = length_;
    common.reason = refused.reason;
    common.detail = refused.detail;
    if (refused.kept_clear) wake_at(unit.queued_at + settings_.longest_kept_off);
    if (!settings_.strict_order) look_ahead(unit, common);
    for (const WaitingTask* const member : unit.members) {
      Verdict verdict = verdict_of(unit, *member);
      verdict.position = common.position;
      verdict.reason = common.reason;
      verdict.detail = common.detail;
      verdict.estimated_start = common.estimated_start;
      verdict.basis = common.basis;
      outcome_.waiting.push_back(std::move(verdict));
    }
  }

  // Books room for the unit, or has instances drained for it.
  void look_ahead(const Unit& unit, Verdict& verdict) {
    if (booked_ >= settings_.most_reserved) {
      verdict.basis = base::format("unknown: room is booked ahead for the first {} that wait",
                                   settings_.most_reserved);
      return;
    }
    ++booked_;
    if (const auto plan = forecast().earliest(unit)) {
      verdict.estimated_start = plan->at;
      verdict.basis = forecast().basis_of(*plan);
      forecast().book(unit, *plan);
      return;
    }
    if (!forecast().could_ever_start(unit)) {
      tell_hopeless(unit, verdict);
      return;
    }
    verdict.basis = forecast().obstacle_of(unit);
    if (unit.queued_at + settings_.patience > now_) {
      wake_at(unit.queued_at + settings_.patience);
      return;
    }
    const size_t most = forecast().instances() * settings_.most_drained_percent / 100;
    if (forecast().drain(unit, std::max<size_t>(most, 1), now_ - settings_.long_run)) {
      verdict.detail += verdict.detail.empty() ? "" : " ";
      verdict.detail += "Instances are drained for it.";
    }
  }

  // No draining and no end of a task would help.
  static void tell_hopeless(const Unit& unit, Verdict& verdict) {
    verdict.basis = "never, as the cluster is now";
    verdict.detail += verdict.detail.empty() ? "" : " ";
    verdict.detail += base::format(
        "Waiting does not help: even if nothing else ran, the cluster's instances would "
        "have no room for {}. Stop it and ask for less, or add an instance.",
        unit.is_gang() ? base::format("the {} members of the gang", unit.members.size()) : "it");
  }

  const Input& input_;
  const base::Time now_;
  const Settings& settings_;
  Outcome outcome_;
  std::optional<Forecast> forecast_;
  std::map<std::pair<const Requirements*, bool>, Known> known_;  // Looked up, never iterated.
  size_t booked_ = 0;
  int32_t length_ = 0;
};

}  // namespace

Outcome run(const Input& input, const std::vector<WaitingTask>& tasks, base::Time now,
            const Settings& settings) {
  return Pass(input, now, settings).run(tasks);
}

}  // namespace reconcile::queue
