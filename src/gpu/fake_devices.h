// Devices for tests of whoever uses them: plain fields in, the same fields out.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "gpu/devices.h"

namespace gpu {

class FakeDevices final : public Devices {
 public:
  Inventory inventory;
  std::map<std::string, DeviceUse> uses;  // A listed GPU without an entry is empty.
  std::vector<HealthEvent> events;        // Handed out once by the next health().
  bool says_emulated = true;

  bool emulated() const override { return says_emulated; }
  base::Result<Inventory> discover() override { return inventory; }
  base::Result<DeviceUse> use(const std::string& uuid) override {
    TRY_VOID(require(uuid));
    auto found = uses.find(uuid);
    return found == uses.end() ? DeviceUse{} : found->second;
  }
  base::Result<ContainerGpuSetup> container_setup(std::span<const std::string> uuids) override {
    ContainerGpuSetup setup;
    for (const std::string& uuid : uuids) TRY_VOID(require(uuid));
    if (!uuids.empty()) {
      setup.env["NVIDIA_VISIBLE_DEVICES"] = base::format("{}", base::join(uuids, ","));
    }
    return setup;
  }
  std::vector<HealthEvent> health() override { return std::exchange(events, {}); }

 private:
  base::Result<void> require(const std::string& uuid) const {
    if (std::ranges::any_of(inventory.gpus, [&](const auto& g) { return g.uuid == uuid; })) {
      return {};
    }
    return base::fail("InvalidParameterException", base::format("No GPU {} here.", uuid));
  }
};

}  // namespace gpu
