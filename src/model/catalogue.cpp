#include "model/catalogue.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/format.h"
#include "base/random.h"
#include "base/text.h"

namespace model {
namespace {

constexpr int64_t gib = 1024;

// Kepler was dropped after the 470 branch; everything newer runs the 570 branch.
constexpr std::string_view kepler_driver = "470.256.02", kepler_cuda = "11.4";
constexpr std::string_view driver = "570.133.20", cuda = "12.8";

constexpr GpuLayout k80(int32_t count) {
  return {.count = count,
          .model = "Tesla K80",
          .architecture = "Kepler",
          .memory_mib = 11441,
          .gpus_per_pcie_switch = 2,
          .driver_version = kepler_driver,
          .cuda_version = kepler_cuda};
}

constexpr GpuLayout v100(int32_t count, std::string_view name, int64_t memory_mib) {
  return {.count = count,
          .model = name,
          .architecture = "Volta",
          .memory_mib = memory_mib,
          .nvlink = count > 1 ? NvLinkTopology::HybridCubeMesh : NvLinkTopology::None,
          .gpus_per_pcie_switch = 2,
          .driver_version = driver,
          .cuda_version = cuda};
}

constexpr GpuLayout v100_16(int32_t count) {
  return v100(count, "Tesla V100-SXM2-16GB", 16384);
}
constexpr GpuLayout v100_32(int32_t count) {
  return v100(count, "Tesla V100-SXM2-32GB", 32768);
}

constexpr GpuLayout m60(int32_t count) {
  return {.count = count,
          .model = "Tesla M60",
          .architecture = "Maxwell",
          .memory_mib = 7680,
          .gpus_per_pcie_switch = 2,
          .driver_version = driver,
          .cuda_version = cuda};
}

constexpr GpuLayout pcie_card(int32_t count, std::string_view name, std::string_view architecture,
                              int64_t memory_mib) {
  return {.count = count,
          .model = name,
          .architecture = architecture,
          .memory_mib = memory_mib,
          .driver_version = driver,
          .cuda_version = cuda};
}

constexpr GpuLayout t4(int32_t count) {
  return pcie_card(count, "Tesla T4", "Turing", 15360);
}
constexpr GpuLayout a10g(int32_t count) {
  return pcie_card(count, "NVIDIA A10G", "Ampere", 23028);
}
constexpr GpuLayout l4(int32_t count) {
  return pcie_card(count, "NVIDIA L4", "Ada", 23034);
}
constexpr GpuLayout l40s(int32_t count) {
  return pcie_card(count, "NVIDIA L40S", "Ada", 46068);
}

constexpr GpuLayout switched(int32_t count, std::string_view name, std::string_view architecture,
                             int64_t memory_mib, int32_t links) {
  return {
      .count = count,
      .model = name,
      .architecture = architecture,
      .memory_mib = memory_mib,
      .nvlink = count > 1 ? NvLinkTopology::Switched : NvLinkTopology::None,
      .links_per_gpu = links,
      .gpus_per_pcie_switch = links == 12 ? 2 : 1,  // DGX A100 pairs its GPUs, DGX H100 does not.
      .driver_version = driver,
      .cuda_version = cuda};
}

constexpr GpuLayout h100(int32_t count) {
  return switched(count, "NVIDIA H100 80GB HBM3", "Hopper", 81559, 18);
}
constexpr GpuLayout h200(int32_t count) {
  return switched(count, "NVIDIA H200", "Hopper", 143771, 18);
}

constexpr auto types = std::to_array<InstanceType>({
    {"p2.xlarge", 4, 61 * gib, 1, k80(1)},
    {"p2.8xlarge", 32, 488 * gib, 1, k80(8)},
    {"p2.16xlarge", 64, 732 * gib, 2, k80(16)},
    {"p3.2xlarge", 8, 61 * gib, 1, v100_16(1)},
    {"p3.8xlarge", 32, 244 * gib, 1, v100_16(4)},
    {"p3.16xlarge", 64, 488 * gib, 2, v100_16(8)},
    {"p3dn.24xlarge", 96, 768 * gib, 2, v100_32(8)},
    {"p4d.24xlarge", 96, 1152 * gib, 2, switched(8, "NVIDIA A100-SXM4-40GB", "Ampere", 40960, 12)},
    {"p4de.24xlarge", 96, 1152 * gib, 2, switched(8, "NVIDIA A100-SXM4-80GB", "Ampere", 81920, 12)},
    {"p5.4xlarge", 16, 256 * gib, 1, h100(1)},
    {"p5.48xlarge", 192, 2048 * gib, 2, h100(8)},
    {"p5e.48xlarge", 192, 2048 * gib, 2, h200(8)},
    {"p5en.48xlarge", 192, 2048 * gib, 2, h200(8)},
    {"g3s.xlarge", 4, 61 * gib / 2, 1, m60(1)},
    {"g3.4xlarge", 16, 122 * gib, 1, m60(1)},
    {"g3.8xlarge", 32, 244 * gib, 1, m60(2)},
    {"g3.16xlarge", 64, 488 * gib, 2, m60(4)},
    {"g4dn.xlarge", 4, 16 * gib, 1, t4(1)},
    {"g4dn.2xlarge", 8, 32 * gib, 1, t4(1)},
    {"g4dn.4xlarge", 16, 64 * gib, 1, t4(1)},
    {"g4dn.8xlarge", 32, 128 * gib, 1, t4(1)},
    {"g4dn.12xlarge", 48, 192 * gib, 1, t4(4)},
    {"g4dn.16xlarge", 64, 256 * gib, 2, t4(1)},
    {"g4dn.metal", 96, 384 * gib, 2, t4(8)},
    {"g5.xlarge", 4, 16 * gib, 1, a10g(1)},
    {"g5.2xlarge", 8, 32 * gib, 1, a10g(1)},
    {"g5.4xlarge", 16, 64 * gib, 1, a10g(1)},
    {"g5.8xlarge", 32, 128 * gib, 1, a10g(1)},
    {"g5.12xlarge", 48, 192 * gib, 1, a10g(4)},
    {"g5.16xlarge", 64, 256 * gib, 1, a10g(1)},
    {"g5.24xlarge", 96, 384 * gib, 1, a10g(4)},
    {"g5.48xlarge", 192, 768 * gib, 2, a10g(8)},
    {"g6.xlarge", 4, 16 * gib, 1, l4(1)},
    {"g6.2xlarge", 8, 32 * gib, 1, l4(1)},
    {"g6.4xlarge", 16, 64 * gib, 1, l4(1)},
    {"g6.8xlarge", 32, 128 * gib, 1, l4(1)},
    {"g6.12xlarge", 48, 192 * gib, 1, l4(4)},
    {"g6.16xlarge", 64, 256 * gib, 1, l4(1)},
    {"g6.24xlarge", 96, 384 * gib, 1, l4(4)},
    {"g6.48xlarge", 192, 768 * gib, 2, l4(8)},
    {"g6e.xlarge", 4, 32 * gib, 1, l40s(1)},
    {"g6e.2xlarge", 8, 64 * gib, 1, l40s(1)},
    {"g6e.4xlarge", 16, 128 * gib, 1, l40s(1)},
    {"g6e.8xlarge", 32, 256 * gib, 1, l40s(1)},
    {"g6e.12xlarge", 48, 384 * gib, 1, l40s(4)},
    {"g6e.16xlarge", 64, 512 * gib, 1, l40s(1)},
    {"g6e.24xlarge", 96, 768 * gib, 1, l40s(4)},
    {"g6e.48xlarge", 192, 1536 * gib, 2, l40s(8)},
    {"t3.nano", 2, gib / 2, 1, {}},
    {"t3.micro", 2, 1 * gib, 1, {}},
    {"t3.small", 2, 2 * gib, 1, {}},
    {"t3.medium", 2, 4 * gib, 1, {}},
    {"t3.large", 2, 8 * gib, 1, {}},
    {"t3.xlarge", 4, 16 * gib, 1, {}},
    {"t3.2xlarge", 8, 32 * gib, 1, {}},
    {"m5.large", 2, 8 * gib, 1, {}},
    {"m5.xlarge", 4, 16 * gib, 1, {}},
    {"m5.2xlarge", 8, 32 * gib, 1, {}},
    {"m5.4xlarge", 16, 64 * gib, 1, {}},
    {"m5.8xlarge", 32, 128 * gib, 1, {}},
    {"m5.12xlarge", 48, 192 * gib, 1, {}},
    {"m5.16xlarge", 64, 256 * gib, 2, {}},
    {"m5.24xlarge", 96, 384 * gib, 2, {}},
    {"c5.large", 2, 4 * gib, 1, {}},
    {"c5.xlarge", 4, 8 * gib, 1, {}},
    {"c5.2xlarge", 8, 16 * gib, 1, {}},
    {"c5.4xlarge", 16, 32 * gib, 1, {}},
    {"c5.9xlarge", 36, 72 * gib, 1, {}},
    {"c5.12xlarge", 48, 96 * gib, 1, {}},
    {"c5.18xlarge", 72, 144 * gib, 2, {}},
    {"c5.24xlarge", 96, 192 * gib, 2, {}},
    {"r5.large", 2, 16 * gib, 1, {}},
    {"r5.xlarge", 4, 32 * gib, 1, {}},
    {"r5.2xlarge", 8, 64 * gib, 1, {}},
    {"r5.4xlarge", 16, 128 * gib, 1, {}},
    {"r5.8xlarge", 32, 256 * gib, 1, {}},
    {"r5.12xlarge", 48, 384 * gib, 1, {}},
    {"r5.16xlarge", 64, 512 * gib, 2, {}},
    {"r5.24xlarge", 96, 768 * gib, 2, {}},
});

// Links between each pair of the 8 GPUs of a DGX-1V ("NVIDIA DGX-1 With Tesla V100 System
// Architecture", figure 4); p3.8xlarge has its first quad. Six links leave every GPU of the eight.
constexpr uint8_t cube_mesh[8][8] = {
    {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
    {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
    {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
};

uint32_t links_between(const GpuLayout& gpus, size_t a, size_t b) {
  if (a == b) return 0;
  switch (gpus.nvlink) {
    case NvLinkTopology::None:
      return 0;
    case NvLinkTopology::HybridCubeMesh:
      return cube_mesh[a][b];
    case NvLinkTopology::Switched:
      return static_cast<uint32_t>(gpus.links_per_gpu);
  }
  return 0;
}

// As EC2 numbers them: the first half of the vCPUs are the cores, the second their hyperthreads,
// and each half is split evenly over the NUMA nodes.
std::string cpus_of_node(const InstanceType& type, int32_t node) {
  if (type.numa_nodes == 1) return base::format("0-{}", type.vcpus - 1);
  int32_t cores = type.vcpus / 2;
  int32_t share = cores / type.numa_nodes;
  int32_t first = node * share;
  return base::format("{}-{},{}-{}", first, first + share - 1, cores + first,
                      cores + first + share - 1);
}

// FNV-1a, 64 bits: a seed that depends on every byte of the name.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::string emulated_uuid(std::string_view seed_name, size_t index) {
  base::Random random(hash_of(base::format("{}#{}", seed_name, index)));
  return "GPU-" + random.uuid();
}

bool shares_with_limits(std::string_view architecture) {
  return architecture != "Kepler" && architecture != "Maxwell" && architecture != "Pascal";
}

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::span<const InstanceType> instance_types() {
  return types;
}

const InstanceType* find_instance_type(std::string_view name) {
  auto found = std::ranges::find(types, name, &InstanceType::name);
  return found == types.end() ? nullptr : &*found;
}

std::vector<std::string> similar_instance_types(std::string_view name, size_t limit) {
  // No type has a longer name; a huge one must not cost a huge table.
  constexpr size_t longest = 32;
  if (name.empty() || name.size() > longest) return {};
  std::string wanted = base::lower(name);
  std::vector<std::pair<size_t, size_t>> near;  // Distance and row: among equals, table order.
  for (size_t row = 0; row < types.size(); ++row) {
    size_t distance = edit_distance(wanted, types[row].name);
    // The beginning of a name ("g4dn") is near to all that it begins.
    if (distance <= 2 || types[row].name.starts_with(wanted)) near.emplace_back(distance, row);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (const auto& [distance, row] : near) {
    if (names.size() == limit) break;
    names.emplace_back(types[row].name);
  }
  return names;
}

base::Result<const InstanceType*> require_instance_type(std::string_view name) {
  if (const InstanceType* type = find_instance_type(name)) return type;
  std::vector<std::string> similar = similar_instance_types(name);
  return base::fail(
      "InvalidParameterException",
      base::format("Unknown instance type '{}'. {}", name.substr(0, 64),
                   similar.empty() ? "Use a name such as p3.8xlarge, g4dn.xlarge or c5.2xlarge."
                                   : base::format("Did you mean {}?", base::join(similar, ", "))));
}

std::vector<GpuDevice> emulated_gpus(const InstanceType& type, std::string_view seed_name) {
  const GpuLayout& layout = type.gpus;
  auto count = static_cast<size_t>(layout.count);
  std::vector<std::string> uuids;
  uuids.reserve(count);
  for (size_t i = 0; i < count; ++i) uuids.push_back(emulated_uuid(seed_name, i));

  std::vector<GpuDevice> gpus;
  for (size_t i = 0; i < count; ++i) {
    auto node = static_cast<int32_t>(i * static_cast<size_t>(type.numa_nodes) / count);
    GpuDevice gpu{
        .uuid = uuids[i],
        .model = std::string(layout.model),
        .architecture = std::string(layout.architecture),
        .memory_mib = layout.memory_mib,
        // EC2 gives the last GPU slot 1E and counts backwards.
        .pci_bus_id = base::format("00000000:00:{:02X}.0", 0x1E - (count - 1) + i),
        .pcie_switch =
            base::format("switch-{}", i / static_cast<size_t>(layout.gpus_per_pcie_switch)),
        .numa_node = node,
        .cpu_list = cpus_of_node(type, node),
        .mps_capable = shares_with_limits(layout.architecture),
        .emulated = true,
    };
    for (size_t j = 0; j < count; ++j) {
      uint32_t lanes = links_between(layout, i, j);
      if (lanes > 0) gpu.nvlinks.push_back({uuids[j], lanes});
    }
    std::ranges::sort(gpu.nvlinks, {}, &NvLink::peer);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::string instance_type_of_gpus(std::span<const GpuDevice> gpus) {
  std::map<std::string, std::set<std::string>> physical_by_model;
  for (const GpuDevice& gpu : gpus) {
    // A MIG instance is named "NVIDIA H200 MIG 1g.18gb" by its driver.
    std::string model = gpu.model.substr(0, gpu.model.find(" MIG "));
    physical_by_model[model].insert(gpu.mig_parent.empty() ? gpu.uuid : gpu.mig_parent);
  }
  if (physical_by_model.empty()) return "cpu";
  auto most = std::ranges::max_element(physical_by_model, {},
                                       [](const auto& entry) { return entry.second.size(); });

  std::string slug;
  for (char c : most->first) {
    bool plain = (c >= '0' && c <= '9') || (base::lower(c) >= 'a' && base::lower(c) <= 'z');
    if (plain) {
      slug += base::lower(c);
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (slug.ends_with('-')) slug.pop_back();
  return base::format("gpu.{}-x{}", slug.empty() ? "unknown" : slug, most->second.size());
}

}  // namespace model
