// What the operations on task sets share.
#pragma once

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/service.h"

namespace control::ecs {

// Errors: InvalidParameterException.
base::Result<double> scale_percent_of(const api::ecs::Scale& scale);

// Alters the one task set and makes it durable. `alter` takes a model::TaskSet&.
template <class Alter>
void alter_task_set(Step& step, const model::Service& service, const std::string& id,
                    Alter&& alter) {
  model::Service updated = service;
  for (model::TaskSet& set : updated.task_sets) {
    if (set.id != id) continue;
    alter(set);
    set.updated_at = step.now;
  }
  step.change(model::ServicePut{std::move(updated)});
}

}  // namespace control::ecs
