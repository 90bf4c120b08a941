// Which tasks have not stopped, as the threads see it that verify requests: the keys of a task's
// roles are good no longer than the task. Follows from the state alone, so it is right again after
// a restart. One thread writes, the core thread; any thread reads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "model/state.h"

namespace server {

class LiveTasks {
 public:
  LiveTasks();

  // Takes the whole state. Cost: O(tasks).
  void take_all(const model::ClusterState& state);
  // Takes the tasks that may have changed, those too that are forgotten. Cost for one that has come
  // or gone: O(tasks / buckets).
  void take(const model::ClusterState& state, const std::vector<model::TaskArn>& changed);
  bool contains(std::string_view task_arn) const;

 private:
  using Bucket = std::vector<uint64_t>;  // Hashes of ARNs, sorted. Never altered, but replaced.
  static constexpr size_t buckets = 1024;

  void put(const model::TaskArn& task, bool live);

  std::array<std::atomic<std::shared_ptr<const Bucket>>, buckets> buckets_;
};

}  // namespace server
