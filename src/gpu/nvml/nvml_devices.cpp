#include "gpu/nvml/nvml_devices.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/units.h"
#include "gpu/mps/mps_support.h"
#include "gpu/nvml/nvml_discovery.h"
#include "gpu/nvml/nvml_messages.h"
#include "gpu/nvml/pci.h"

namespace gpu {
namespace {

// The version of the loaded kernel module, from a line such as
// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024".
std::string loaded_driver(const std::string& procfs) {
  std::ifstream file(procfs + "/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    bool digits_and_dots = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits_and_dots && word.find('.') != std::string::npos) return word;
  }
  return {};
}

// An initialised library; everything ends with it.
class Session {
 public:
  explicit Session(NvmlLibrary library) : library_(std::move(library)) {}
  ~Session() {
    if (events_ != nullptr) library_.call.event_set_free(events_);
    library_.call.shutdown();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const NvmlFunctions& call() const { return library_.call; }

  // Xid events of these GPUs from now on. Devices that have no events (some virtual GPUs) are
  // watched by health's own look at each GPU only.
  void watch(std::span<const WholeGpu> gpus) {
    const NvmlFunctions& nvml = call();
    if (nvml.event_set_create == nullptr || nvml.event_set_free == nullptr ||
        nvml.register_events == nullptr || nvml.event_wait == nullptr ||
        nvml.event_set_create(&events_) != NvmlReturn::Success) {
      events_ = nullptr;
      return;
    }
    for (const WholeGpu& gpu : gpus) {
      NvmlReturn both =
          nvml.register_events(gpu.handle, nvml_event_xid | nvml_event_double_bit_ecc, events_);
      if (both == NvmlReturn::NotSupported) {  // A GPU without ECC.
        nvml.register_events(gpu.handle, nvml_event_xid, events_);
      }
    }
  }

  std::optional<NvmlEvent> next_event() {
    NvmlEvent event;
    if (events_ == nullptr || call().event_wait(events_, &event, 0) != NvmlReturn::Success) {
      return {};
    }
    return event;
  }

 private:
  NvmlLibrary library_;
  NvmlEventSet events_ = nullptr;
};

template <class Record>
NvmlReturn read_list(NvmlProcessList list, NvmlDevice device, std::vector<Record>& processes) {
  // The list may grow between the two calls, so there is room to spare and another try.
  for (int attempt = 0; attempt < 5; ++attempt) {
    auto count = static_cast<uint32_t>(processes.size());
    NvmlReturn code = list(device, &count, count == 0 ? nullptr : processes.data());
    if (code != NvmlReturn::InsufficientSize) {
      processes.resize(code == NvmlReturn::Success ? count : 0);
      return code;
    }
    processes.resize(count + 16);
  }
  return NvmlReturn::InsufficientSize;
}

// Adds the processes of one kind by pid. A kind that the GPU does not have has no processes.
template <class Record>
NvmlReturn add_processes(NvmlProcessList list, NvmlDevice device,
                         std::map<int64_t, int64_t>& used_mib_by_pid) {
  if (list == nullptr) return NvmlReturn::Success;
  std::vector<Record> processes;
  NvmlReturn code = read_list(list, device, processes);
  if (code == NvmlReturn::NotSupported) return NvmlReturn::Success;
  for (const Record& process : processes) {
    bool told = process.used_bytes != ~uint64_t{0};
    int64_t used_mib = told ? static_cast<int64_t>(process.used_bytes / base::bytes_per_mib) : 0;
    int64_t& known = used_mib_by_pid[process.pid];
    known = std::max(known, used_mib);
  }
  return code;
}

template <class Record>
NvmlReturn all_processes(const NvmlFunctions& call, NvmlDevice device,
                         std::map<int64_t, int64_t>& used_mib_by_pid) {
  for (NvmlProcessList list :
       {call.compute_processes, call.graphics_processes, call.mps_processes}) {
    NvmlReturn code = add_processes<Record>(list, device, used_mib_by_pid);
    if (code != NvmlReturn::Success) return code;
  }
  return NvmlReturn::Success;
}

// What a device does not tell stays as it is; a MIG instance tells nothing of this.
void measure(const NvmlFunctions& call, NvmlDevice device, DeviceUse& use) {
  NvmlUtilization busy;
  if (call.utilization != nullptr && call.utilization(device, &busy) == NvmlReturn::Success) {
    use.utilisation_percent = static_cast<int32_t>(busy.gpu);
  }
  uint32_t celsius = 0;
  if (call.temperature != nullptr &&
      call.temperature(device, nvml_temperature_gpu, &celsius) == NvmlReturn::Success) {
    use.temperature_celsius = celsius;
  }
  uint32_t milliwatts = 0;
  if (call.power_usage != nullptr && call.power_usage(device, &milliwatts) == NvmlReturn::Success) {
    use.power_watts = milliwatts / 1000.0;
  }
}

class NvmlDevices final : public Devices {
 public:
  NvmlDevices(OpenNvml open, MachinePaths paths)
      : open_(std::move(open)), paths_(std::move(paths)) {}

  bool emulated() const override { return false; }

  base::Result<Inventory> discover() override {
    // A new session: handles do not survive a GPU reset, a change of MIG instances or a driver
    // that was reloaded.
    session_.reset();
    machine_ = {};
    reported_lost_.clear();
    cpu_machine_ = false;
    base::Result<NvmlLibrary> library = open_();
    if (!library) return without_driver(library.error());
    NvmlReturn code = library->call.init();
    if (code != NvmlReturn::Success) {
      base::Error error{"GpuDriverException", init_failure(code, library->call.error_string(code),
                                                           loaded_driver(paths_.procfs))};
      if (code == NvmlReturn::DriverNotLoaded) return without_driver(std::move(error));
      return base::fail(std::move(error));
    }
    session_ = std::make_unique<Session>(std::move(*library));
    machine_ = TRY(read_machine(session_->call(), paths_.sysfs));
    session_->watch(machine_.whole);
    machine_.inventory.mps = find_mps_control(paths_.programs);
    return machine_.inventory;
  }

  base::Result<DeviceUse> use(const std::string& uuid) override {
    NvmlDevice device = TRY(device_of(uuid));
    const NvmlFunctions& call = session_->call();
    NvmlMemoryUse memory;
    std::map<int64_t, int64_t> used_mib_by_pid;
    NvmlReturn code = read_memory(call, device, memory);
    if (code == NvmlReturn::Success) {
      code = call.processes_are_v1 ? all_processes<NvmlProcessV1>(call, device, used_mib_by_pid)
                                   : all_processes<NvmlProcess>(call, device, used_mib_by_pid);
    }
    if (code != NvmlReturn::Success) {
      return base::fail("GpuDriverException", base::format("GPU {} cannot be read: {}. {}", uuid,
                                                           call.error_string(code), fix_for(code)));
    }
    DeviceUse result{.used_mib = memory.used_mib, .total_mib = memory.total_mib};
    for (auto [pid, used_mib] : used_mib_by_pid) result.processes.push_back({pid, used_mib});
    measure(call, device, result);
    return result;
  }

  base::Result<ContainerGpuSetup> container_setup(std::span<const std::string> uuids) override {
    ContainerGpuSetup setup;
    if (uuids.empty() && cpu_machine_) return setup;
    // Where nvidia is dockerd's default runtime, an image that asks for all GPUs would get them:
    // "void" is the runtime's word for none at all.
    setup.env["NVIDIA_VISIBLE_DEVICES"] = "void";
    if (uuids.empty()) return setup;
    for (const std::string& uuid : uuids) TRY(device_of(uuid));
    setup.runtime = "nvidia";
    setup.env["NVIDIA_VISIBLE_DEVICES"] = base::format("{}", base::join(uuids, ","));
    return setup;
  }

  std::vector<HealthEvent> health() override {
    std::vector<HealthEvent> result;
    if (session_ == nullptr) return result;
    // Bounded, so that a GPU in a storm of errors cannot hold the caller.
    for (int i = 0; i < 256; ++i) {
      std::optional<NvmlEvent> event = session_->next_event();
      if (!event) break;
      result.push_back(health_event(*event));
    }
    for (const WholeGpu& gpu : machine_.whole) {
      NvmlMemoryUse memory;
      NvmlReturn code = read_memory(session_->call(), gpu.handle, memory);
      bool lost = code == NvmlReturn::GpuIsLost || code == NvmlReturn::ResetRequired;
      if (!lost || !reported_lost_.insert(gpu.uuid).second) continue;
      result.push_back(
          {.uuid = gpu.uuid,
           .reason = base::format("{}. {}", session_->call().error_string(code), fix_for(code))});
    }
    return result;
  }

 private:
  // Without cards this is a CPU machine, and that is no error.
  base::Result<Inventory> without_driver(base::Error error) {
    std::vector<PciGpu> cards = nvidia_pci_gpus(paths_.sysfs);
    cpu_machine_ = cards.empty();
    if (cpu_machine_) return Inventory{};
    std::vector<std::string> addresses;
    addresses.reserve(cards.size());
    for (const PciGpu& card : cards) addresses.push_back(card.address);
    error.message += base::format(" {} NVIDIA GPU{} cannot be used until then: {}.", cards.size(),
                                  cards.size() == 1 ? "" : "s", base::join(addresses, ", "));
    return base::fail(std::move(error));
  }

  base::Result<NvmlDevice> device_of(const std::string& uuid) const {
    auto found = machine_.by_uuid.find(uuid);
    if (session_ == nullptr || found == machine_.by_uuid.end()) {
      return base::fail(
          "InvalidParameterException",
          base::format("This machine has no GPU {}, or none that can be read.", uuid));
    }
    return found->second;
  }

  HealthEvent health_event(const NvmlEvent& event) const {
    HealthEvent result;
    auto gpu = std::ranges::find(machine_.whole, event.device, &WholeGpu::handle);
    if (gpu != machine_.whole.end()) result.uuid = gpu->uuid;
    if (event.type == nvml_event_xid) {
      XidMeaning meaning = meaning_of_xid(event.data);
      result.xid = static_cast<int64_t>(event.data);
      result.usable = meaning.usable;
      result.reason = base::format("Xid {}: {}.", event.data, meaning.text);
    } else {
      result.reason = "A double-bit memory error that ECC cannot correct; reset the GPU.";
    }
    return result;
  }

  OpenNvml open_;
  MachinePaths paths_;
  std::unique_ptr<Session> session_;  // Null: nothing was discovered, or there is no driver.
  NvmlMachine machine_;               // Its handles live as long as session_.
  std::set<std::string> reported_lost_;
  bool cpu_machine_ = false;  // The last discover() found neither driver nor cards.
};

}  // namespace

std::unique_ptr<Devices> nvml_devices() {
  return nvml_devices([] { return load_nvml(); }, {});
}

std::unique_ptr<Devices> nvml_devices(OpenNvml open, MachinePaths paths) {
  return std::make_unique<NvmlDevices>(std::move(open), std::move(paths));
}

}  // namespace gpu
