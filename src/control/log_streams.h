// Which log streams the tasks of an instance write to.
#pragma once

#include <string_view>

#include "model/state.h"

namespace control {

// Whether a task on the instance that has not stopped writes to this stream of the log group, as
// its definition says; with an empty `stream`: to the group at all. Where the definition leaves the
// stream's name to Docker, any id of a container is one.
// Source: ECS Developer Guide, "Send Amazon ECS logs to CloudWatch", awslogs-stream-prefix; Docker,
// "Amazon CloudWatch Logs logging driver", awslogs-stream.
bool writes_logs(const model::ClusterState& state, const model::InstanceArn& instance,
                 std::string_view group, std::string_view stream);

}  // namespace control
