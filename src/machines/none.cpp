#include "machines/none.h"

namespace machines {
namespace {

class NoMachines final : public MachineProvider {
 public:
  base::Result<std::string> launch(const control::LaunchMachine&) override {
    return base::fail("NoMachineProvider",
                      "This server has no machine provider: start it with --machines exec:FOLDER, "
                      "or berth up with --machines emulated.");
  }
  base::Result<void> terminate(const control::TerminateMachine& order) override {
    return base::fail("NoMachineProvider", "This server has no machine provider that could end " +
                                               order.id +
                                               ": start it with the --machines that launched it.");
  }
  // Nobody knows.
  base::Result<std::vector<control::ListedMachine>> list() override {
    return base::fail("NoMachineProvider", "This server has no machine provider.");
  }
  void cancel() override {}
};

}  // namespace

std::unique_ptr<MachineProvider> no_machines() {
  return std::make_unique<NoMachines>();
}

}  // namespace machines
