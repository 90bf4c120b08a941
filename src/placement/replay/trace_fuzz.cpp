// Any bytes as the two files of a trace, cut at the first zero byte: refused with a line and a
// column, or printed and read back as the same; and a small trace can be replayed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "placement/replay/replay.h"
#include "placement/replay/report.h"
#include "placement/replay/trace.h"

namespace {

namespace replay = placement::replay;

constexpr size_t most_nodes = 8;
constexpr size_t most_pods = 32;
constexpr int32_t most_gpus = 16;

// Replays what is small enough to be quick.
void replay_small(const std::vector<replay::TraceNode>& nodes,
                  const std::vector<replay::TracePod>& pods) {
  if (nodes.size() > most_nodes || pods.size() > most_pods) return;
  if (std::ranges::any_of(nodes, [](const auto& node) { return node.gpus > most_gpus; })) return;
  replay::Options options;
  options.order = replay::Order::Given;
  const auto result = replay::run(nodes, pods, options);
  if (!result) return;
  CHECK(result->placed <= result->tasks);
  for (const replay::Point& point : result->points) CHECK(point.allocation_percent <= 100.001);
  CHECK(!replay::print_json(*result).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = std::min(text.find('\0'), size);
  const auto nodes = replay::parse_nodes(text.substr(0, cut));
  const auto pods = replay::parse_pods(text.substr(std::min(cut + 1, size)));
  const auto times = replay::parse_times(text.substr(std::min(cut + 1, size)));
  if (pods && times) CHECK(pods->size() == times->size());
  if (nodes) CHECK(replay::parse_nodes(replay::print_nodes(*nodes)).value() == *nodes);
  if (pods) CHECK(replay::parse_pods(replay::print_pods(*pods)).value() == *pods);
  if (nodes && pods) replay_small(*nodes, *pods);
  return 0;
}
