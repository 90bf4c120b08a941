// How the state's records look in the API's answers.
#pragma once

#include "api/generated/ecs.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control::ecs {

struct ClusterInclude {
  bool tags = false;
  bool settings = false;
  bool configurations = false;
  bool statistics = false;
  bool attachments = false;
};
// Cost: O(instances of the cluster) for its counts.
api::ecs::Cluster describe_cluster(const Step& step, const model::Cluster& cluster,
                                   const ClusterInclude& include);

api::ecs::ContainerInstance describe_instance(const Step& step,
                                              const model::ContainerInstance& instance,
                                              bool include_tags);
api::ecs::Task describe_task(const Step& step, const model::Task& task, bool include_tags);

// A failure entry as the ECS API reports them beside the successes of a call with HTTP 200.
api::ecs::Failure failure(std::string arn, std::string_view reason, std::string detail = {});

}  // namespace control::ecs
