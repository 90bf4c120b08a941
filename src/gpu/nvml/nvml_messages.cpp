#include "gpu/nvml/nvml_messages.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"

namespace gpu {
namespace {

struct XidRow {
  uint64_t xid;
  XidMeaning meaning;
};

constexpr XidRow xids[] = {
    {13,
     {true, "a program made the graphics engine fault (bad memory access); look at the program"}},
    {31, {true, "a program touched memory that it does not have; look at the program"}},
    {43, {true, "a program's channel was reset after its own fault; the GPU is fine"}},
    {45, {true, "channels were torn down because their program ended"}},
    {46, {false, "the GPU stopped processing; reset it (nvidia-smi -r) or reboot"}},
    {48,
     {false, "a double-bit memory error that ECC cannot correct; reset the GPU (nvidia-smi -r)"}},
    {61, {false, "an internal microcontroller stopped; reset the GPU (nvidia-smi -r) or reboot"}},
    {62, {false, "an internal microcontroller halted; reset the GPU (nvidia-smi -r) or reboot"}},
    {63, {true, "a faulty memory row or page was set aside; it takes effect at the next reset"}},
    {64,
     {false, "a faulty memory row could not be set aside; reset the GPU, replace it if it recurs"}},
    {68, {true, "a program made the video decoder fault; look at the program"}},
    {74, {false, "an NVLink error; reset the GPUs of this link, check bridge and seating"}},
    {79,
     {false,
      "the GPU has fallen off the PCIe bus; power-cycle the machine, check power and seating"}},
    {92, {false, "a high rate of single-bit memory errors; run NVIDIA's field diagnostics"}},
    {94, {true, "an uncorrectable memory error was contained to the program that met it"}},
    {95, {false, "an uncorrectable memory error was not contained; reset the GPU (nvidia-smi -r)"}},
    {109, {true, "a program's context switch timed out; look at the program"}},
    {119, {false, "the GPU's system processor timed out; reset the GPU or reboot"}},
    {120, {false, "the GPU's system processor failed; reset the GPU or reboot"}},
};

}  // namespace

std::string_view fix_for(NvmlReturn code) {
  switch (code) {
    case NvmlReturn::GpuIsLost:
      return "It has fallen off the PCIe bus: look for NVRM and Xid in dmesg, then power-cycle the "
             "machine; check its power cables and seating if it recurs.";
    case NvmlReturn::ResetRequired:
      return "Stop what uses it and reset it (nvidia-smi -r), or reboot.";
    case NvmlReturn::NoPermission:
      return "Run the agent as root, or let its user read and write /dev/nvidia*.";
    case NvmlReturn::DriverNotLoaded:
      return "Load the driver (modprobe nvidia).";
    case NvmlReturn::LibraryDriverMismatch:
      return "The driver was updated under the running kernel module: reboot.";
    default:
      return "Look for NVRM and Xid in dmesg; reset the GPU (nvidia-smi -r) or reboot.";
  }
}

std::string init_failure(NvmlReturn code, std::string_view library_words,
                         std::string_view kernel_driver) {
  switch (code) {
    case NvmlReturn::DriverNotLoaded:
      return "The NVIDIA kernel driver is not loaded. Load it (modprobe nvidia); if that fails, "
             "reinstall the driver for the running kernel (uname -r).";
    case NvmlReturn::LibraryDriverMismatch:
      return base::format(
          "The NVIDIA library and the loaded kernel driver ({}) have different versions: the "
          "driver "
          "was updated without a restart. Reboot, or stop every GPU program and reload the nvidia "
          "modules.",
          kernel_driver.empty() ? "of unknown version" : kernel_driver);
    case NvmlReturn::NoPermission:
      return "The NVIDIA driver refuses access. Run the agent as root, or let its user read and "
             "write /dev/nvidiactl and /dev/nvidia*.";
    default:
      return base::format("The NVIDIA driver does not answer: {} (NVML code {}). {}", library_words,
                          static_cast<int32_t>(code), fix_for(code));
  }
}

XidMeaning meaning_of_xid(uint64_t xid) {
  const XidRow* found = std::ranges::find(xids, xid, &XidRow::xid);
  if (found == std::end(xids)) {
    return {false, "see NVIDIA's table of Xid errors; reset the GPU (nvidia-smi -r) or reboot"};
  }
  return found->meaning;
}

}  // namespace gpu
