#include "placement/explain_changes.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include "base/format.h"
#include "model/capabilities.h"
#include "model/derived.h"
#include "placement/refusal.h"

namespace placement {
namespace {

// Simulations are bounded: this many instances, this many tasks on each.
constexpr size_t most_instances_tried = 64;
constexpr size_t most_tasks_tried = 128;

std::string short_name(const model::TaskArn& arn) {
  return std::string(model::short_id(arn.str()));
}

// What an objection is about, to find the instances that only one of them keeps away.
enum class Topic : uint8_t { Agent, Attribute, Cpu, Memory, Ports, Gpu, Expression, Distinct };

std::vector<Topic> topics_of(const Objections& objections) {
  std::vector<Topic> topics;
  if (objections.blockers.agent) topics.push_back(Topic::Agent);
  if (objections.wrong_instance()) topics.push_back(Topic::Attribute);
  if (objections.blockers.cpu) topics.push_back(Topic::Cpu);
  if (objections.blockers.memory) topics.push_back(Topic::Memory);
  if (objections.blockers.ports) topics.push_back(Topic::Ports);
  if (objections.blockers.gpu) topics.push_back(Topic::Gpu);
  if (!objections.expressions.empty()) topics.push_back(Topic::Expression);
  if (objections.distinct) topics.push_back(Topic::Distinct);
  return topics;
}

bool only(const Considered& each, Topic topic) {
  return topics_of(each.objections) == std::vector{topic};
}

bool resources_only(const Considered& each) {
  const Objections& objections = each.objections;
  return !objections.blockers.agent && !objections.wrong_instance() &&
         objections.expressions.empty() && !objections.distinct && objections.blockers.resources();
}

// The instance as it would be without these tasks.
Offer offer_without(const model::ContainerInstance& instance, const model::ClusterState& state,
                    const std::vector<model::TaskArn>& gone) {
  model::ContainerInstance copy = instance;
  for (const model::TaskArn& arn : gone) {
    const model::Task* task = model::find_task(state, arn);
    if (task != nullptr) model::give_back(copy, arn, task->held);
  }
  return offer_of(copy);
}

class Finder {
 public:
  Finder(const model::ClusterState& state, const Demand& demand, const Fleet& fleet,
         const std::vector<Considered>& considered)
      : state_(state), demand_(demand), fleet_(fleet), considered_(considered) {}

  std::vector<ExplainedChange> find() {
    if (!demand_.contradiction.empty()) return {};
    ask_less();
    wait_or_move();
    drop_constraint();
    add_attribute();
    connect_agent();
    if (changes_.empty()) {
      const bool could_be_freed = std::ranges::any_of(considered_, [](const Considered& each) {
        return !each.objections.blockers.never && each.objections.blockers.resources();
      });
      add(ExplainedChangeKind::AddInstance,
          base::format("add a container instance that meets all of this{}",
                       could_be_freed ? ", or free several resources at once" : ""),
          {});
    }
    return std::move(changes_);
  }

 private:
  void add(ExplainedChangeKind kind, std::string sentence, const model::InstanceArn& instance,
           std::vector<model::TaskArn> tasks = {}) {
    changes_.push_back({kind, std::move(sentence), instance, std::move(tasks)});
  }

  // The most that any instance has where only this resource is short.
  void ask_less() {
    ask_less_of(
        Topic::Gpu, "GPU", [&](const Offer& offer) { return int64_t{offer.whole_gpus_free}; },
        demand_.shares.empty() && !demand_.all_gpus ? demand_.whole_gpus : 0);
    ask_less_of(
        Topic::Cpu, "CPU unit", [](const Offer& offer) { return offer.cpu_free; },
        demand_.cpu_units);
    ask_less_of(
        Topic::Memory, "MiB of memory", [](const Offer& offer) { return offer.memory_free; },
        demand_.memory_mib);
    if (demand_.shares.size() == 1 && demand_.shares[0].memory_mib > 0 && demand_.whole_gpus == 0) {
      ask_less_of(Topic::Gpu, "MiB of one GPU", freest_card, demand_.shares[0].memory_mib);
    }
  }

  static int64_t freest_card(const Offer& offer) {
    int64_t most = 0;
    for (const Card& card : offer.cards) most = std::max(most, card.memory_free_mib);
    return most;
  }

  void ask_less_of(Topic topic, std::string_view unit,
                   const std::function<int64_t(const Offer&)>& free_of, int64_t asked) {
    int64_t most = 0;
    model::InstanceArn where;
    for (const Considered& each : considered_) {
      if (!only(each, topic)) continue;
      const int64_t free = free_of(fleet_[each.index].offer);
      if (free <= most) continue;
      most = free;
      where = each.instance->arn;
    }
    if (most <= 0 || most >= asked) return;
    const bool plural = most > 1 && unit.find("MiB") == std::string_view::npos;
    add(ExplainedChangeKind::AskLess,
        base::format("ask for {} {}{} instead of {}", most, unit, plural ? "s" : "", asked), where);
  }

  // Tasks on the instance, those that are stopping first, then those that hold the least.
  std::vector<const model::Task*> tasks_on(const model::ContainerInstance& instance) const {
    std::vector<const model::Task*> tasks;
    for (const model::TaskArn& arn : instance.tasks) {
      if (tasks.size() == most_tasks_tried) break;
      if (const model::Task* task = model::find_task(state_, arn)) tasks.push_back(task);
    }
    const auto rank = [](const model::Task* task) {
      return std::tuple(task->desired_status != model::TaskStatus::Stopped, task->held.gpus.size(),
                        task->held.cpu_units, task->arn);
    };
    std::ranges::sort(tasks, {}, rank);
    return tasks;
  }

  bool fits_without(const Considered& each, const std::vector<model::TaskArn>& gone) const {
    const Offer offer = offer_without(*each.instance, state_, gone);
    return !blockers_of(offer, demand_).resources();
  }

  void wait_or_move() {
    size_t tried = 0;
    const Considered* where = nullptr;
    const model::Task* awaited = nullptr;
    const Considered* from = nullptr;
    const model::Task* moved = nullptr;
    for (const Considered& each : considered_) {
      if (!resources_only(each) || each.objections.blockers.never) continue;
      if (++tried > most_instances_tried) break;
      for (const model::Task* task : tasks_on(*each.instance)) {
        if (!fits_without(each, {task->arn})) continue;
        if (awaited == nullptr || (is_endless(*awaited) && !is_endless(*task))) {
          where = &each;
          awaited = task;
        }
        if (moved == nullptr && place_to_move(each, *task) != nullptr) {
          from = &each;
          moved = task;
        }
      }
      if (moved != nullptr && !is_endless(*awaited)) break;
    }
    if (awaited == nullptr) return wait_for_several();
    offer_wait(*where, *awaited);
    if (moved != nullptr) offer_move(*from, *moved, *place_to_move(*from, *moved));
  }

  // A service starts another one in its place.
  static bool is_endless(const model::Task& task) {
    return task.desired_status != model::TaskStatus::Stopped && !model::service_of(task).empty();
  }

  void offer_wait(const Considered& each, const model::Task& task) {
    const bool stopping = task.desired_status == model::TaskStatus::Stopped;
    if (is_endless(task)) {
      const std::string service(model::service_of(task));
      add(ExplainedChangeKind::Wait,
          base::format("make room on instance {}: task {} there is of service {}, which does not "
                       "end by itself; aws ecs update-service --cluster {} --service {} "
                       "--desired-count N lowers its number",
                       name_of(*each.instance), short_name(task.arn), service, task.cluster.str(),
                       service),
          each.instance->arn, {task.arn});
      return;
    }
    add(ExplainedChangeKind::Wait,
        base::format("wait for task {} on instance {}{}", short_name(task.arn),
                     name_of(*each.instance), stopping ? ", which is stopping" : ""),
        each.instance->arn, {task.arn});
  }

  // Where the task could go; nullptr: nowhere, or it is stopping anyway.
  const Considered* place_to_move(const Considered& each, const model::Task& task) const {
    if (task.desired_status == model::TaskStatus::Stopped) return nullptr;
    Demand held;
    held.cpu_units = task.held.cpu_units;
    held.memory_mib = task.held.memory_mib;
    held.host_ports = task.held.host_ports;
    std::set<std::string> whole;
    for (const model::GpuAssignment& gpu : task.held.gpus) {
      if (gpu.shared) {
        held.shares.push_back({.memory_mib = gpu.memory_mib});
      } else {
        whole.insert(gpu.gpu);
      }
    }
    held.whole_gpus = static_cast<int32_t>(whole.size());
    for (const Considered& other : considered_) {
      const Offer& offer = fleet_[other.index].offer;
      if (other.index != each.index && fits(offer, held)) return &other;
    }
    return nullptr;
  }

  void offer_move(const Considered& from, const model::Task& task, const Considered& to) {
    add(ExplainedChangeKind::Move,
        base::format("move task {} from instance {} to instance {}", short_name(task.arn),
                     name_of(*from.instance), name_of(*to.instance)),
        from.instance->arn, {task.arn});
  }

  // The instance on which the fewest tasks must end.
  void wait_for_several() {
    std::vector<model::TaskArn> fewest;
    const Considered* where = nullptr;
    size_t tried = 0;
    for (const Considered& each : considered_) {
      if (!resources_only(each) || each.objections.blockers.never) continue;
      if (++tried > most_instances_tried) break;
      std::vector<const model::Task*> tasks = tasks_on(*each.instance);
      std::ranges::sort(tasks, std::greater(),
                        [](const model::Task* task) { return task->held.gpus.size(); });
      std::vector<model::TaskArn> gone;
      for (const model::Task* task : tasks) {
        gone.push_back(task->arn);
        if (where != nullptr && gone.size() >= fewest.size()) break;
        if (!fits_without(each, gone)) continue;
        fewest = gone;
        where = &each;
        break;
      }
    }
    if (where == nullptr) return;
    std::vector<std::string> names;
    for (const model::TaskArn& arn : fewest) names.push_back(short_name(arn));
    add(ExplainedChangeKind::Wait,
        base::format("wait for {} tasks on instance {}: {}", fewest.size(),
                     name_of(*where->instance), base::join(names, ", ")),
        where->instance->arn, fewest);
  }

  void drop_constraint() {
    for (const Considered& each : considered_) {
      if (only(each, Topic::Expression) && each.objections.expressions.size() == 1) {
        add(ExplainedChangeKind::DropConstraint,
            base::format("drop the constraint '{}'", each.objections.expressions[0]),
            each.instance->arn);
        break;
      }
    }
    for (const Considered& each : considered_) {
      if (!only(each, Topic::Distinct)) continue;
      add(ExplainedChangeKind::DropConstraint, "drop the constraint distinctInstance",
          each.instance->arn);
      break;
    }
    for (const Considered& each : considered_) {
      if (!only(each, Topic::Ports)) continue;
      add(ExplainedChangeKind::AskLess, "ask for another host port, or a dynamic one (0)",
          each.instance->arn);
      break;
    }
  }

  // Not those that only an agent can tell of itself.
  void add_attribute() {
    for (const Considered& each : considered_) {
      if (!only(each, Topic::Attribute) || !each.objections.kinds.empty()) continue;
      if (!each.objections.needs.empty()) continue;
      if (std::ranges::any_of(each.objections.attributes, model::is_of_agents)) continue;
      add(ExplainedChangeKind::AddAttribute,
          base::format("give instance {} the attribute {}", name_of(*each.instance),
                       base::join(each.objections.attributes, ", ")),
          each.instance->arn);
      return;
    }
  }

  void connect_agent() {
    for (const Considered& each : considered_) {
      if (!only(each, Topic::Agent)) continue;
      add(ExplainedChangeKind::ConnectAgent,
          base::format("bring back the agent of instance {}", name_of(*each.instance)),
          each.instance->arn);
      return;
    }
  }

  const model::ClusterState& state_;
  const Demand& demand_;
  const Fleet& fleet_;
  const std::vector<Considered>& considered_;
  std::vector<ExplainedChange> changes_;
};

}  // namespace

std::vector<ExplainedChange> smallest_changes(const model::ClusterState& state,
                                              const Demand& demand, const Fleet& fleet,
                                              const std::vector<Considered>& considered) {
  return Finder(state, demand, fleet, considered).find();
}

}  // namespace placement
