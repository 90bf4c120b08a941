// The sentences that DescribeServices shows as a service's events. Their shapes are those that
// people know from ECS; the words and what follows them are ours.
// Source: ECS Developer Guide, "Viewing Amazon ECS service event messages".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/state.h"

namespace reconcile {

// Whether an event that begins with `stem` was written within the last six hours, and after the
// service's last steady state.
bool is_muted(const model::ClusterState& state, const model::Service& service,
              std::string_view stem, base::Time now);

std::string started_event(const model::Service& service, const std::vector<model::TaskArn>& tasks);
std::string stopped_event(const model::Service& service, const std::vector<model::TaskArn>& tasks);
std::string rebalanced_event(const model::Service& service, const model::TaskArn& task,
                             std::string_view zone);
std::string steady_event(const model::Service& service);
std::string completed_event(const model::Service& service, std::string_view deployment);
std::string failed_event(const model::Service& service, std::string_view deployment,
                         std::string_view why);
std::string rollback_event(const model::Service& service, std::string_view deployment);
std::string backoff_event(const model::Service& service);

// The part that tells two events apart that say the same, and all that follows.
struct StemmedEvent {
  std::string stem;
  std::string rest;
};
// Why a task found no place.
StemmedEvent unplaced_event(const model::Service& service, const model::InstanceArn& nearest,
                            std::string_view reason, std::string_view detail);
// The same of a task that was started without a place: it waits for its capacity provider.
StemmedEvent waiting_event(const model::Service& service, const model::Task& task);

// One of the tasks that wait for their images.
struct Pull {
  model::TaskArn task;
  int64_t seconds = 0;
  int32_t percent = 0;
};
StemmedEvent pulling_event(const model::Service& service, size_t tasks, const Pull& pull);
StemmedEvent pulled_event(const model::Service& service, const model::TaskArn& task,
                          int64_t seconds);

}  // namespace reconcile
