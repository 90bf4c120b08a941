// The members of a gang are placed together or not at all: never some of them while others wait, or
// were given up. Those that are placed together have the ranks from 0 on, each once, and know one
// first member.

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class GangsWhole final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "gangs_whole"; }

  void turned(const Turn& turn) override { look(turn.state); }
  void loaded(const model::ClusterState& state) override { look(state); }
  void server_disk_lost() override { gangs_.clear(); }

 private:
  struct Gang {
    size_t size = 0;
    std::set<model::TaskArn> placed;  // Ever.
  };

  void look(const model::ClusterState& state) {
    std::map<std::string, std::vector<const model::Task*>> placed_now;
    for (const auto& [arn, task] : state.tasks) {
      const auto wish = world().expectations().wishes.find(task.started_by);
      if (wish == world().expectations().wishes.end() || !wish->second.queueing) continue;
      const Queueing& queueing = *wish->second.queueing;
      if (queueing.gang.empty() || task.instance.empty()) continue;
      const bool of_call = queueing.gang == "all";
      const std::string name =
          of_call ? task.started_by : base::format("{}/{}", queueing.gang, queueing.gang_size);
      Gang& gang = gangs_[name];
      gang.size = static_cast<size_t>(of_call ? wish->second.count : queueing.gang_size);
      if (gang.placed.insert(arn).second) placed_now[name].push_back(&task);
    }
    for (const auto& [name, tasks] : placed_now) check(name, gangs_[name], tasks);
  }

  // A named gang may have gathered more than once.
  void check(const std::string& name, const Gang& gang,
             const std::vector<const model::Task*>& tasks) {
    if (gang.placed.size() % gang.size != 0) {
      return fail(base::format("of gang {}, whose {} members start together, {} have been placed",
                               name, gang.size, gang.placed.size()));
    }
    std::map<std::string, size_t> ranks;
    for (const model::Task* const task : tasks) {
      const auto rank = task->gang_environment.find("BERTH_GANG_RANK");
      ++ranks[rank == task->gang_environment.end() ? "" : rank->second];
    }
    for (size_t rank = 0; rank < gang.size; ++rank) {
      const auto found = ranks.find(base::format("{}", rank));
      if (found != ranks.end() && found->second == tasks.size() / gang.size) continue;
      return fail(
          base::format("of gang {}, of which {} members were placed at once, {} have rank {}", name,
                       tasks.size(), found == ranks.end() ? 0 : found->second, rank));
    }
  }

  std::map<std::string, Gang> gangs_;  // By startedBy or by name and size.
};

}  // namespace

std::unique_ptr<Checker> make_gangs_whole(World& world) {
  return std::make_unique<GangsWhole>(world);
}

}  // namespace sim
