// A service as anybody can see it: from its records and those of its tasks, without a word of
// src/reconcile.
#pragma once

#include <cstdint>
#include <vector>

#include "control/step/settings.h"
#include "model/state.h"
#include "sim/expectations.h"

namespace sim {

// Its agent has been away for so long, or its instance was given up: what runs there is known by
// hearsay only.
bool is_on_lost_instance(const model::ClusterState& state, const control::Settings& settings,
                         const model::Task& task, base::Time now);

// With the deployment controller EXTERNAL: it has task sets instead of deployments.
bool is_external(const model::Service& service);

// nullptr for one that nobody of this world has registered.
const Family* family_of(const Expectations& expectations,
                        const model::TaskDefinitionArn& definition);

struct ServiceView {
  const model::ClusterState& state;
  const model::Service& service;
  const control::Settings& settings;
  base::Time now;

  bool is_daemon() const { return service.scheduling == api::ecs::SchedulingStrategy::Daemon; }
  // Its tasks that are wanted to run, where an agent can be reached or may yet come back.
  std::vector<const model::Task*> live() const;
  bool is_lost(const model::Task& task) const {
    return is_on_lost_instance(state, settings, task, now);
  }
  // Of the deployment that is wanted, on an instance that is not drained.
  bool is_current(const model::Task& task) const;
  // It does its work: it has been RUNNING for as long as a task without a health check needs to
  // count as healthy; one that is about to be replaced, from its start on.
  bool serves(const model::Task& task) const;
  int32_t serving() const;
  // How many must serve, unless others than the scheduler take them away, and how many there may
  // be. "rounded up", "rounded down": ECS API reference, DeploymentConfiguration.
  int32_t least() const;
  int32_t most() const;
};

}  // namespace sim
