// What an operator decides about a control plane; fixed while it runs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "model/ids.h"
#include "reconcile/machines/group_policy.h"
#include "reconcile/queue/queue.h"
#include "reconcile/reconcile.h"

namespace control {

struct Settings {
  model::Account account;
  // What DiscoverPollEndpoint answers: where agents open their websockets.
  std::string poll_endpoint = "http://127.0.0.1:7117";
  // An instance counts as connected for this long after it registered, and after a restart of the
  // control plane, before its agent has opened a session.
  base::Milliseconds connect_grace{60'000};
  // An agent that lost its last session counts as connected for this long: it comes back at once
  // when it only renewed its connection.
  base::Milliseconds disconnect_grace{10'000};
  base::Milliseconds heartbeat_interval{30'000};
  // A heartbeat without an answer for this long: the connection is dead.
  base::Milliseconds heartbeat_timeout{20'000};
  // An unacknowledged payload is sent again after this long.
  base::Milliseconds redeliver_after{15'000};
  // Every secret that is given out follows from it (auth/key_derivation.h): 32 unpredictable bytes.
  std::string master_key;
  // How long the keys of tasks' roles are good, and how long before that they are sent anew.
  base::Milliseconds credentials_lifetime{6 * 3'600'000};
  base::Milliseconds credentials_renewal{3'600'000};
  // A RUNNING task of a service without a health check counts as healthy after this long; one that
  // ends by itself before counts as failed to start.
  base::Milliseconds service_settle{5'000};
  // Service tasks on an instance whose agent stays away for longer are replaced; others are kept.
  base::Milliseconds instance_lost_after{600'000};
  // A task that waits for a capacity provider over an Auto Scaling group ends after this long.
  base::Milliseconds provisioning_limit{900'000};
  // Of machines of Auto Scaling groups; lost_after is instance_lost_after.
  reconcile::machines::Options machines;
  // What a machine may register; MIG devices count one each.
  size_t most_gpus_per_instance = 64;
  // How long stopped tasks, INACTIVE instances and client tokens are remembered.
  base::Milliseconds stopped_task_kept{3'600'000};
  base::Milliseconds client_token_kept{24 * 3'600'000};
  // How tasks wait for the cluster's own machines.
  reconcile::queue::Settings queue = {};
  // What decides: src/reconcile, or a simulation's decorator around it. About services,
  std::function<reconcile::Decisions(const reconcile::Input&, base::Random&)> reconciler =
      reconcile::reconcile;
  // about the tasks in a queue,
  std::function<reconcile::queue::Outcome(const reconcile::queue::Input&,
                                          const std::vector<reconcile::queue::WaitingTask>&,
                                          base::Time, const reconcile::queue::Settings&)>
      queue_policy = reconcile::queue::run;
  // about the machines of a group.
  std::function<reconcile::machines::GroupDecisions(const reconcile::machines::GroupInput&)>
      group_policy = reconcile::machines::decide_group;
};

}  // namespace control
