// A MachineProvider for tests: machines are entries of a list. Any thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/queue.h"
#include "machines/provider.h"

namespace machines {

class FakeMachines final : public MachineProvider {
 public:
  struct World {
    std::map<std::string, std::string> ids;  // By token.
    std::vector<std::string> calls;          // "launch TOKEN TYPE", "terminate ID", "list".
    std::set<std::string> failing;           // "launch", "terminate", "list".
    std::set<std::string> lost;  // Tokens whose launch works, and the answer says that it did not.
  };

  FakeMachines() { world_.push(World{}); }

  // Looks at the world, or alters it, while nobody else does.
  auto with(auto&& use) {
    World world = std::move(*world_.pop());
    auto result = use(world);
    world_.push(std::move(world));
    return result;
  }

  base::Result<std::string> launch(const control::LaunchMachine& order) override {
    return with([&](World& world) -> base::Result<std::string> {
      world.calls.push_back("launch " + order.token + " " + order.instance_type);
      if (world.failing.contains("launch")) return base::fail("Failed", "no machine is left");
      std::string& id = world.ids[order.token];
      if (id.empty()) id = "i-" + order.token;
      if (world.lost.contains(order.token)) return base::fail("Failed", "the answer is lost");
      return id;
    });
  }
  base::Result<void> terminate(const control::TerminateMachine& order) override {
    return with([&](World& world) -> base::Result<void> {
      world.calls.push_back("terminate " + order.id);
      if (world.failing.contains("terminate")) return base::fail("Failed", "it is stuck");
      std::erase_if(world.ids, [&](const auto& one) { return one.second == order.id; });
      return {};
    });
  }
  base::Result<std::vector<control::ListedMachine>> list() override {
    return with([&](World& world) -> base::Result<std::vector<control::ListedMachine>> {
      world.calls.push_back("list");
      if (world.failing.contains("list")) return base::fail("Failed", "the list is torn");
      std::vector<control::ListedMachine> found;
      for (const auto& [token, id] : world.ids) found.push_back({token, id});
      return found;
    });
  }
  void cancel() override {}

 private:
  base::Queue<World> world_{1};  // Who has taken it has it alone.
};

}  // namespace machines
