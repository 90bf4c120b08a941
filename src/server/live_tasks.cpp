#include "server/live_tasks.h"

#include <algorithm>
#include <functional>

namespace server {
namespace {

// The ARNs that are asked for stand signed in this server's own tokens, so nobody can make two
// that meet.
uint64_t hash_of_arn(std::string_view arn) {
  return std::hash<std::string_view>{}(arn);
}

bool is_live(const model::Task* task) {
  return task != nullptr && task->last_status != model::TaskStatus::Stopped;
}

}  // namespace

LiveTasks::LiveTasks() {
  for (auto& bucket : buckets_) bucket.store(std::make_shared<const Bucket>());
}

void LiveTasks::take_all(const model::ClusterState& state) {
  std::vector<Bucket> all(buckets);
  for (const auto& [arn, task] : state.tasks) {
    const uint64_t hash = hash_of_arn(arn.str());
    if (is_live(&task)) all[hash % buckets].push_back(hash);
  }
  for (size_t i = 0; i < buckets; ++i) {
    std::ranges::sort(all[i]);
    buckets_[i].store(std::make_shared<const Bucket>(std::move(all[i])));
  }
}

void LiveTasks::put(const model::TaskArn& task, bool live) {
  const uint64_t hash = hash_of_arn(task.str());
  auto& slot = buckets_[hash % buckets];
  const std::shared_ptr<const Bucket> now = slot.load();
  const auto place = std::ranges::lower_bound(*now, hash);
  const bool there = place != now->end() && *place == hash;
  if (there == live) return;
  auto next = std::make_shared<Bucket>();
  next->reserve(now->size() + 1);
  next->assign(now->begin(), place);
  if (live) next->push_back(hash);
  next->insert(next->end(), there ? place + 1 : place, now->end());
  slot.store(std::move(next));
}

void LiveTasks::take(const model::ClusterState& state, const std::vector<model::TaskArn>& changed) {
  for (const model::TaskArn& arn : changed) put(arn, is_live(model::find_task(state, arn)));
}

bool LiveTasks::contains(std::string_view task_arn) const {
  const uint64_t hash = hash_of_arn(task_arn);
  return std::ranges::binary_search(*buckets_[hash % buckets].load(), hash);
}

}  // namespace server
