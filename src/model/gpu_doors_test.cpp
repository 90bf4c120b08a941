#include "model/gpu_doors.h"

#include <gtest/gtest.h>

namespace model {
namespace {

TEST(GpuDoors, a_path_is_read_as_the_kernel_reads_it) {
  EXPECT_EQ(plain_path("/dev/nvidia0"), "/dev/nvidia0");
  EXPECT_EQ(plain_path("//dev//nvidia0/"), "/dev/nvidia0");
  EXPECT_EQ(plain_path("/dev/./nvidia0"), "/dev/nvidia0");
  EXPECT_EQ(plain_path("/x/../dev/y/../nvidia0"), "/dev/nvidia0");
  EXPECT_EQ(plain_path("/../../dev"), "/dev");
  EXPECT_EQ(plain_path("/"), "/");
}

TEST(GpuDoors, a_device_of_a_gpu_is_known_however_it_is_spelled) {
  for (const char* path : {"/dev/nvidia0", "//dev/nvidia0", "/dev/./nvidiactl", "/dev/nvidia-uvm",
                           "/a/../dev/nvidia-caps/nvidia-cap1"}) {
    EXPECT_TRUE(is_gpu_path(path)) << path;
    EXPECT_TRUE(holds_gpu_devices(path)) << path;
  }
  EXPECT_FALSE(is_gpu_path("/dev/null"));
  EXPECT_FALSE(holds_gpu_devices("/dev/null"));
  EXPECT_FALSE(is_gpu_path("/data/dev/nvidia0"));
}

TEST(GpuDoors, docker_takes_a_directory_for_all_devices_in_it) {
  EXPECT_TRUE(holds_gpu_devices("/dev"));
  EXPECT_TRUE(holds_gpu_devices("/dev/../"));
  EXPECT_FALSE(is_gpu_path("/dev"));
  EXPECT_FALSE(holds_gpu_devices("/dev/dri"));
}

TEST(GpuDoors, the_runtimes_directory_of_requests_is_one) {
  EXPECT_TRUE(is_gpu_path("/var/run/nvidia-container-devices/all"));
  EXPECT_TRUE(is_gpu_path("/run//nvidia-container-devices"));
}

}  // namespace
}  // namespace model
