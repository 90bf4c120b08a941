#include "agent/container_meter.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

ContainerSample sample(const std::string& id, int64_t second, uint64_t cpu_ms,
                       uint64_t memory_mib = 64) {
  return {.runtime_id = id,
          .read_at = base::Time(std::chrono::seconds(second)),
          .cpu_total_ns = cpu_ms * 1'000'000,
          .cores = 4,
          .memory_bytes = memory_mib << 20};
}

TEST(ContainerMeter, the_cpu_is_what_was_used_between_two_looks_of_all_the_cores) {
  ContainerMeter meter;
  meter.take({sample("a", 100, 5'000)});
  EXPECT_TRUE(meter.figures().empty());
  meter.take({sample("a", 120, 25'000, 96)});  // 20 s on one of 4 cores.
  const ContainerFigures& figures = meter.figures().at("a");
  EXPECT_EQ(figures.cpu, (acs::StatsSet{.min = 25, .max = 25, .sample_count = 1, .sum = 25}));
  EXPECT_EQ(figures.memory, (acs::StatsSet{.min = 96, .max = 96, .sample_count = 1, .sum = 96}));
  meter.take({sample("a", 140, 25'000)});
  EXPECT_EQ(meter.figures().at("a").cpu.sum, 0);
}

TEST(ContainerMeter, counters_that_start_anew_or_a_clock_that_stands_still_say_nothing) {
  ContainerMeter meter;
  meter.take({sample("a", 100, 5'000), sample("b", 100, 5'000)});
  meter.take({sample("a", 120, 1'000), sample("b", 100, 6'000)});
  EXPECT_TRUE(meter.figures().empty());
  meter.take({sample("a", 140, 1'800)});
  EXPECT_EQ(meter.figures().size(), 1U);
  EXPECT_EQ(meter.figures().at("a").cpu.sum, 1);
}

TEST(ContainerMeter, a_container_that_is_gone_is_forgotten) {
  ContainerMeter meter;
  meter.take({sample("a", 100, 0), sample("b", 100, 0)});
  meter.take({sample("b", 120, 0)});
  meter.take({sample("a", 140, 9'000), sample("b", 140, 0)});
  EXPECT_FALSE(meter.figures().contains("a"));
  EXPECT_TRUE(meter.figures().contains("b"));
}

}  // namespace
}  // namespace agent
