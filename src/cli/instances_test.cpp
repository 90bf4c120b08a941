#include "cli/instances.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace cli {
namespace {

api::ecs::ContainerInstance machine(const std::string& id, const std::string& host, int gpus) {
  api::ecs::ContainerInstance instance;
  instance.container_instance_arn =
      base::format("arn:aws:ecs:us-east-1:123456789012:container-instance/default/{}", id);
  auto& name = instance.attributes.emplace_back();
  name.name = "berth.host-name";
  name.value = host;
  for (int index = 0; index < gpus; ++index) {
    instance.berth_gpus.emplace_back().gpu_id = base::format("GPU-{}-{}", id, index);
  }
  return instance;
}

// "node3 2", or the error's code.
std::string meant(std::string_view name) {
  Instances instances;
  instances.push_back(machine("7f3a01", "node3", 4));
  instances.push_back(machine("b0c002", "node4", 1));
  const auto found = named_gpu(instances, name);
  if (!found) return found.error().code;
  return base::format("{} {}", host_name_of(*found->instance), found->index);
}

TEST(NamedGpu, is_meant_by_its_id_its_beginning_or_its_host_and_number) {
  EXPECT_EQ("node3 2", meant("GPU-7f3a01-2"));
  EXPECT_EQ("node4 0", meant("GPU-b"));
  EXPECT_EQ("node3 2", meant("node3:2"));
  EXPECT_EQ("node3 0", meant("7f3:0"));
  EXPECT_EQ("Ambiguous", meant("GPU-7f"));
  for (const char* const none : {"node4:1", "node5:0", "node3:", "node3:x", "node3", "GPU-c", ""}) {
    EXPECT_EQ("NotFound", meant(none)) << none;
  }
}

}  // namespace
}  // namespace cli
