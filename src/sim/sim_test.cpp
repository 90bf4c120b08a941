#include "sim/sim.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/mutants/mutants.h"
#include "sim/workloads/workloads.h"

namespace sim {
namespace {

std::string told(const RunResult& result) {
  std::string text = result.failure
                         ? base::format("{}: {}", result.failure->checker, result.failure->sentence)
                         : std::string("no failure");
  for (const TraceLine& line : result.latest) text += "\n" + print(line);
  return base::format("{}\n{}\nAgain: {}", command_of(result), text, command_of(result));
}

struct Range {
  const char* workload;
  uint64_t first;
  uint64_t count;
};

class Seeds : public testing::TestWithParam<Range> {};

// Each third runs twice.
TEST_P(Seeds, pass_every_checker_and_run_the_same_again) {
  const Range& range = GetParam();
  const Workload* const workload = find_workload(range.workload);
  ASSERT_NE(workload, nullptr);
  for (uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const RunResult result = seed % 3 == 0 ? run_twice(seed, *workload) : run_once(seed, *workload);
    ASSERT_FALSE(result.failure.has_value()) << told(result);
  }
}

// 1,020 seeds; in parts, so that the one that fails is soon seen.
INSTANTIATE_TEST_SUITE_P(Sim, Seeds,
                         testing::Values(Range{"mixed", 1, 90}, Range{"mixed", 91, 90},
                                         Range{"mixed", 181, 90}, Range{"run_task_storm", 1, 60},
                                         Range{"agent_churn", 1, 60}, Range{"gpu_failures", 1, 60},
                                         Range{"server_restarts", 1, 60},
                                         Range{"rolling_deployment", 1, 60}, Range{"drain", 1, 45},
                                         Range{"scale_in", 1, 45}, Range{"trace_replay", 1, 60},
                                         Range{"queue", 1, 60}, Range{"gangs", 1, 60},
                                         Range{"machines", 1, 60}, Range{"secrets", 1, 60},
                                         Range{"task_sets", 1, 60}),
                         [](const testing::TestParamInfo<Range>& info) {
                           return base::format("{}_{}", info.param.workload, info.param.first);
                         });

class Mutants : public testing::TestWithParam<const MutantKind*> {};

TEST_P(Mutants, is_caught_within_200_seeds) {
  const MutantKind& fault = *GetParam();
  const Workload* const workload = find_workload(fault.workload);
  ASSERT_NE(workload, nullptr);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const std::unique_ptr<Mutant> mutant = fault.make();
    const RunResult result = run_once(seed, *workload, mutant.get());
    if (!result.failure) continue;
    RecordProperty("seeds", static_cast<int>(seed));
    RecordProperty("checker", result.failure->checker);
    std::printf("%s: seed %d, %s: %s\n", std::string(fault.name).c_str(), static_cast<int>(seed),
                result.failure->checker.c_str(), result.failure->sentence.c_str());
    return;
  }
  FAIL() << fault.name << " (" << fault.what << ") was not caught";
}

std::vector<const MutantKind*> all_mutant_kinds() {
  std::vector<const MutantKind*> all;
  for (const MutantKind& fault : all_mutants()) all.push_back(&fault);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sim, Mutants, testing::ValuesIn(all_mutant_kinds()),
                         [](const testing::TestParamInfo<const MutantKind*>& info) {
                           return std::string(info.param->name);
                         });

TEST(SimStory, tells_when_who_did_what_and_how_to_see_it_again) {
  std::vector<std::string> lines;
  const RunResult result = run_once(7, workloads().front(), nullptr,
                                    [&](const TraceLine& line) { lines.push_back(print(line)); });
  ASSERT_FALSE(result.failure.has_value()) << told(result);
  ASSERT_GT(lines.size(), 20U);
  EXPECT_EQ(lines.front().substr(0, 25), "    0.000 s  world       ");
  EXPECT_EQ(command_of(result), "berth-sim --seed 7 --workload mixed");
  EXPECT_GT(result.containers, 0U);
}

TEST(SimStory, another_seed_is_another_story) {
  EXPECT_NE(run_once(1, workloads().front()).hash, run_once(2, workloads().front()).hash);
}

}  // namespace
}  // namespace sim
