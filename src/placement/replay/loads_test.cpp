#include "placement/replay/loads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/resources.h"
#include "placement/replay/generator.h"

namespace placement::replay {
namespace {

double percent_of(const std::vector<TracePod>& pods, auto counts, auto among) {
  const auto all = std::ranges::count_if(pods, among);
  const auto part =
      std::ranges::count_if(pods, [&](const TracePod& pod) { return among(pod) && counts(pod); });
  return 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

bool has_gpus(const TracePod& pod) {
  return pod.gpus > 0;
}

TEST(Loads, make_up_what_they_say) {
  const Trace trace = generate({.instances = 100, .tasks = 8000});
  for (const Load& load : loads()) {
    const auto pods = with_load(trace.nodes, trace.pods, load, 7);
    ASSERT_EQ(pods.size(), trace.pods.size());
    const auto expect = [&](int32_t asked, auto counts, auto among) {
      const double before = percent_of(trace.pods, counts, among);
      const double now = percent_of(pods, counts, among);
      if (asked != as_in_trace) EXPECT_NEAR(now, asked, 2) << load.name;
      if (load.name == "default") EXPECT_EQ(now, before);
    };
    expect(
        load.cpu_only_percent, [](const TracePod& pod) { return pod.gpus == 0; },
        [](const TracePod&) { return true; });
    expect(
        load.sharing_percent,
        [](const TracePod& pod) { return pod.gpu_milli < model::whole_gpu_milli; }, has_gpus);
    expect(load.several_percent, [](const TracePod& pod) { return pod.gpus > 1; }, has_gpus);
    expect(
        load.constrained_percent, [](const TracePod& pod) { return !pod.models.empty(); },
        has_gpus);
  }
}

TEST(Loads, constrained_tasks_can_run_on_the_models_they_name) {
  const Trace trace = generate({.instances = 100, .tasks = 4000, .several_gpus_percent = 20});
  const auto pods =
      with_load(trace.nodes, trace.pods, {.name = "all", .constrained_percent = 100}, 1);
  for (const TracePod& pod : pods) {
    if (pod.gpus == 0 || pod.models.empty()) continue;
    EXPECT_TRUE(std::ranges::any_of(trace.nodes, [&](const TraceNode& node) {
      return node.model == pod.models[0] && node.gpus >= pod.gpus &&
             node.cpu_milli >= pod.cpu_milli && node.memory_mib >= pod.memory_mib;
    })) << pod.name;
  }
}

TEST(Loads, are_the_same_for_the_same_seed_and_others_for_another) {
  const Trace trace = generate({.instances = 20, .tasks = 500});
  const Load& load = loads()[1];
  EXPECT_EQ(with_load(trace.nodes, trace.pods, load, 1),
            with_load(trace.nodes, trace.pods, load, 1));
  EXPECT_NE(with_load(trace.nodes, trace.pods, load, 1),
            with_load(trace.nodes, trace.pods, load, 2));
}

}  // namespace
}  // namespace placement::replay
