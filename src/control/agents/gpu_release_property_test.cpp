// Random histories of the control plane, of its agents and of its operators.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "control/agents/testing_gpu_release.h"
#include "model/records.h"

namespace control {
namespace {

using namespace testing;

// The truth about each physical GPU: the tasks that may still be on it, which only a proof, an
// official agent's word or an operator takes away.
class Truth {
 public:
  struct Grip {
    bool shared = false;
    int64_t memory_mib = 0;
  };

  void placed(const model::Task& task) {
    for (const model::GpuAssignment& held : task.held.gpus) {
      auto& grips = on_gpu_[held.gpu];
      int64_t memory_mib = held.memory_mib;
      for (const auto& [other, grip] : grips) {
        RC_ASSERT(held.shared && grip.shared);
        memory_mib += grip.memory_mib;
      }
      RC_ASSERT(!held.shared || memory_mib <= 16384);
      grips[task.arn] = {held.shared, held.memory_mib};
    }
  }
  void let_go(const std::string& gpu, const model::TaskArn& task) { on_gpu_[gpu].erase(task); }
  // An operator answers for the tasks that are over, not for one that still runs.
  void cleared(const std::string& gpu, const model::ClusterState& state) {
    std::erase_if(on_gpu_[gpu], [&](const auto& grip) {
      const model::Task* const task = model::find_task(state, grip.first);
      return task == nullptr || task->last_status == model::TaskStatus::Stopped;
    });
  }

 private:
  std::map<std::string, std::map<model::TaskArn, Grip>> on_gpu_;
};

struct Act {
  uint32_t kind = 0;
  uint32_t pick = 0;
};

// How often the histories come to what they are to show.
struct Reached {
  int given_again = 0;  // A GPU to its second, third... task.
  int given_up = 0;
  int proven_late = 0;
  int found_in_use = 0;
  int cleared = 0;
};

class History {
 public:
  History() : machines_(plane_) {
    plane_.create_cluster();
    plane_.define("one", "1");
    plane_.define("two", "2");
    plane_.define("share", "8GiB");
    for (size_t i = 0; i < kinds_.size(); ++i) {
      instances_.push_back(machines_.start(name_of(i), kinds_[i]).value());
    }
  }

  void act(const Act& act) {
    seen_ = plane_.changes.size();
    perform(act);
    for (; seen_ < plane_.changes.size(); ++seen_) {
      const model::Change& change = plane_.changes[seen_];
      if (const auto* placed = std::get_if<model::TaskPlaced>(&change)) {
        truth_.placed(placed->task);
        known_.emplace_back(placed->task.arn, placed->task.held.gpus);
        for (const auto& held : placed->task.held.gpus) {
          if (!ever_held_.insert(held.gpu).second) ++reached.given_again;
        }
      }
      reached.proven_late += std::holds_alternative<model::GpuProven>(change);
      reached.cleared += std::holds_alternative<model::GpuCleared>(change);
      if (const auto* report = std::get_if<model::TaskReported>(&change)) {
        for (const auto& release : report->gpu_releases) {
          reached.given_up += release.kind == model::GpuReleaseKind::Unproven;
          reached.found_in_use += release.kind == model::GpuReleaseKind::NotEmpty;
        }
      }
    }
    model::check_invariants(plane_.core.state());
  }

  Reached reached;

 private:
  static std::string name_of(size_t machine) { return "m" + std::to_string(machine); }

  void perform(const Act& act) {
    const size_t machine = act.pick % kinds_.size();
    switch (act.kind % 9) {
      case 0:
      case 1: {
        static constexpr const char* families[] = {"one", "two", "share"};
        static_cast<void>(plane_.run_task(families[act.pick % 3], 1 + int32_t(act.pick / 3 % 2)));
        return;
      }
      case 2:
        if (!known_.empty()) stop(plane_, any(act.pick).first.str());
        return;
      case 3:
        return report(act.pick, Says::Empty);
      case 4:
        return report(act.pick, act.pick % 2 == 0 ? Says::Nothing : Says::InUse);
      case 5:
        return deregister(plane_, instances_[machine]);
      case 6: {  // Its agent starts again: as the instance it was, or anew when that is no more.
        const bool gone = !plane_.core.state().instances.contains(instances_[machine]) ||
                          plane_.core.state().instances.at(instances_[machine]).status ==
                              model::InstanceStatus::Inactive;
        const auto started = machines_.start(name_of(machine), kinds_[machine],
                                             gone ? std::string() : instances_[machine].str());
        if (started) instances_[machine] = *started;
        return;
      }
      case 7:
        return act.pick % 3 == 0 ? reload() : plane_.pass(std::chrono::minutes(act.pick % 90));
      default:
        return clear(machine, act.pick);
    }
  }

  const std::pair<model::TaskArn, std::vector<model::GpuAssignment>>& any(uint32_t pick) const {
    return known_[pick / 7 % known_.size()];
  }

  // Of any task that ever was, at any time, also twice.
  void report(uint32_t pick, Says says) {
    if (known_.empty()) return;
    const auto& [task, held] = any(pick);
    std::vector<std::string> gpus;
    for (const auto& one : held) gpus.push_back(one.gpu);
    RC_ASSERT(report_stopped(plane_, task.str(), gpus, says));
    for (const std::string& gpu : gpus) {
      if (says == Says::Empty || kind_of(gpu) == AgentKind::Official) truth_.let_go(gpu, task);
    }
  }

  AgentKind kind_of(const std::string& gpu) const {
    const model::InstanceType* const type = model::find_instance_type("p3.8xlarge");
    for (size_t i = 0; i < kinds_.size(); ++i) {
      for (const auto& one : model::emulated_gpus(*type, name_of(i))) {
        if (one.uuid == gpu) return kinds_[i];
      }
    }
    RC_FAIL("a GPU of no machine");
  }

  void clear(size_t machine, uint32_t pick) {
    const auto* const instance = model::find_instance(plane_.core.state(), instances_[machine]);
    if (instance == nullptr) return;
    const std::string gpu = instance->gpus[pick / 5 % instance->gpus.size()].device.uuid;
    const auto active = api::ecs::ContainerInstanceStatus::Active;
    const auto done = update_state(plane_, instances_[machine], active, {gpu});
    if (done && done->failures.empty()) truth_.cleared(gpu, plane_.core.state());
  }

  // The control plane starts again, from what its store holds.
  void reload() {
    model::ClusterState loaded = plane_.reloaded();
    plane_.core = Core(std::move(loaded), Settings{}, ++plane_.reseed, plane_.now);
  }

  const std::vector<AgentKind> kinds_{AgentKind::Berth, AgentKind::Official};
  Plane plane_;
  MachinesByName machines_;
  std::vector<model::InstanceArn> instances_;
  std::vector<std::pair<model::TaskArn, std::vector<model::GpuAssignment>>> known_;
  std::set<std::string> ever_held_;
  Truth truth_;
  size_t seen_ = 0;
};

RC_GTEST_PROP(GpuReleaseProperty, a_gpu_is_never_given_out_while_a_task_may_be_on_it, ()) {
  History history;
  const auto acts = *rc::gen::container<std::vector<std::pair<uint32_t, uint32_t>>>(
      rc::gen::pair(rc::gen::inRange<uint32_t>(0, 9), rc::gen::inRange<uint32_t>(0, 100'000)));
  for (const auto& [kind, pick] : acts) history.act({kind, pick});
}

TEST(GpuReleaseProperty, its_histories_come_to_every_way_in_which_a_gpu_is_released) {
  base::Random random(7);
  Reached all;
  for (int i = 0; i < 50; ++i) {
    History history;
    for (int k = 0; k < 100; ++k) {
      history.act(
          {static_cast<uint32_t>(random.below(9)), static_cast<uint32_t>(random.below(100'000))});
    }
    all.given_again += history.reached.given_again;
    all.given_up += history.reached.given_up;
    all.proven_late += history.reached.proven_late;
    all.found_in_use += history.reached.found_in_use;
    all.cleared += history.reached.cleared;
  }
  EXPECT_GT(all.given_again, 100);
  EXPECT_GT(all.given_up, 100);
  EXPECT_GT(all.proven_late, 50);
  EXPECT_GT(all.found_in_use, 20);
  EXPECT_GT(all.cleared, 20);
}

}  // namespace
}  // namespace control
