// The numbers of manifests and payloads over the control plane's own restarts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

#include "control/testing.h"

namespace control {
namespace {

using testing::Plane;

// Whatever the clock does at each start, and however much is said in between.
RC_GTEST_PROP(SequenceNumbers, only_grow_over_restarts_with_any_clock, ()) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  int64_t highest = 0;
  const auto lives = *rc::gen::container<std::vector<std::pair<int, int>>>(
      8, rc::gen::pair(rc::gen::inRange(-100'000, 100'000), rc::gen::inRange(0, 3)));
  SessionId session = 0;
  for (const auto& [moved_s, tasks] : lives) {
    plane.now += std::chrono::seconds(moved_s);
    plane.core =
        Core(model::ClusterState(plane.core.state()), Settings{}, ++plane.reseed, plane.now);
    plane.sent.clear();
    plane.step(SessionOpened{.session = ++session,
                             .cluster = model::ClusterName("default"),
                             .instance = instance,
                             .highest = 1});
    for (int i = 0; i < tasks; ++i) static_cast<void>(plane.run_task("cpu"));
    for (const ToAgent& sent : plane.sent) {
      int64_t number = 0;
      if (const auto* const manifest = std::get_if<acs::TaskManifestMessage>(&sent.message)) {
        number = manifest->timeline;
      } else if (const auto* const payload = std::get_if<acs::PayloadMessage>(&sent.message)) {
        number = payload->seq_num;
      } else {
        continue;
      }
      RC_ASSERT(number > highest);
      highest = number;
    }
    RC_ASSERT(plane.core.state().sequence_numbers_reserved >= highest);
  }
}

}  // namespace
}  // namespace control
