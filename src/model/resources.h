// What a task asks of an instance, and what it holds there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/shape.h"

namespace model {

struct HostPort {
  uint16_t port = 0;
  bool udp = false;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};
API_DESCRIBED(HostPort);

// The part of a GPU that whole-card requests take, and the unit of fractions: thousandths.
inline constexpr int32_t whole_gpu_milli = 1000;

enum class GpuRequestKind : uint8_t {
  Count,     // `count` whole GPUs. Source: resourceRequirements[].value, "2".
  All,       // Every GPU of the instance. Source: resourceRequirements[].value, "ALL".
  Memory,    // A share of one GPU, `memory_mib` of its VRAM. Source: sharingStrategy.nvidiaMps, or
             // value "20GiB".
  Fraction,  // A share of one GPU, `milli` thousandths of it. Source: value "0.5".
  Profile,   // One MIG instance of `mig_profile`. Source: value "1g.10gb".
};

// What one container asks. One container has at most one request.
struct GpuRequest {
  std::string container;
  GpuRequestKind kind = GpuRequestKind::Count;
  uint32_t count = 0;               // Count: 1 or more.
  int64_t memory_mib = 0;           // Memory: 1 or more.
  int32_t milli = 0;                // Fraction: 1 to 999.
  int32_t max_compute_percent = 0;  // Memory: a ceiling, 1 to 100; 0 = not given.
  std::string mig_profile;          // Profile: "1g.10gb".
  friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};

// All that one task asks: the sums over its containers.
struct ResourceRequest {
  int64_t cpu_units = 0;             // 1024 = one core.
  int64_t memory_mib = 0;            // Hard limits, or the reservations where they are given.
  std::vector<HostPort> host_ports;  // Fixed ones only; dynamic ports are the agent's choice.
  std::vector<GpuRequest> gpus;
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

// A GPU, or a share of one, given to one container.
struct GpuAssignment {
  std::string container;
  std::string gpu;                  // UUID.
  bool shared = false;              // False: the whole device.
  int64_t memory_mib = 0;           // Shared: pinned VRAM.
  int32_t milli = 0;                // Shared by fraction: thousandths of the device.
  int32_t max_compute_percent = 0;  // Shared: 0 = not given.
  friend bool operator==(const GpuAssignment&, const GpuAssignment&) = default;
};
API_DESCRIBED(GpuAssignment);

// What a placed task holds on its instance until its containers are gone.
struct HeldResources {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::vector<HostPort> host_ports;
  std::vector<GpuAssignment> gpus;
  std::string cpuset;  // Cores near its GPUs, "0-7"; empty = not pinned.
  friend bool operator==(const HeldResources&, const HeldResources&) = default;
};
API_DESCRIBED(HeldResources);

}  // namespace model
