// What a service needs done now: a pure function of the cluster's state, the time and a seed. The
// control plane carries the decisions out as model::Changes and places the tasks.
//
// A pass: reconcile(); carry out the stops, then the starts; where a task found no place,
// reconcile() once more with `unplaced`, and carry out only the stops and events of that second
// answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "model/state.h"

namespace reconcile {

struct Options {
  // A RUNNING task without a health check counts as healthy after this long; one that ends by
  // itself before counts as failed to start.
  base::Milliseconds settle{5'000};
  // Tasks on an instance whose agent stays away for longer are replaced.
  base::Milliseconds lost_after{600'000};
  int32_t most_at_once = 250;  // Tasks that one pass starts, or stops, at most.
};

// What a pass could not place of what it wanted to start.
struct Unplaced {
  int32_t count = 0;
  model::InstanceArn nearest;  // Empty: there was no instance to blame.
  std::string reason;          // "RESOURCE:GPU": placement/refusal.h.
  std::string detail;
};

struct Input {
  const model::ClusterState& state;
  const model::Service& service;
  base::Time now;
  Options options;
  // DAEMON: the ACTIVE instances that its constraints allow, in order. Others: empty.
  std::vector<model::InstanceArn> fit = {};
  // The Availability Zones with an ACTIVE instance whose agent is connected: zones_of().
  std::vector<std::string> zones = {};
  std::optional<Unplaced> unplaced = std::nullopt;
};

struct Start {
  std::string id;  // Of the deployment or task set: startedBy.
  model::TaskSource source;
  int32_t count = 0;
  model::InstanceArn on;  // DAEMON: there and nowhere else.
  std::string zone;       // Rebalancing: there or not at all, and no word where that cannot be.
};

struct Stop {
  model::TaskArn task;
  std::string reason;
};

struct Decisions {
  std::vector<Stop> stops;
  std::vector<Start> starts;
  std::vector<std::string> events;
  std::optional<model::Service> service;          // As it is to be from now on, where it changes.
  std::vector<model::ServiceRevision> revisions;  // New ones.
  std::map<model::ServiceDeploymentArn, model::ServiceDeployment> rollouts;  // Changed ones.
  base::Time wake = base::Time::max();  // When time alone may change the answer.
  bool more = false;                    // Options::most_at_once has cut the pass short.
};

Decisions reconcile(const Input& input, base::Random& random);

}  // namespace reconcile
