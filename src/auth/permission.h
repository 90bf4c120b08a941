// What a verified caller may do.
#pragma once

#include <string_view>

#include "auth/key_ring.h"
#include "base/result.h"

namespace auth {

// What is asked for. `cluster` (a name), `container_instance` (an ARN) and `resource` (a log
// group's name, a parameter's or secret's name or ARN, a task's or tagged thing's ARN) are empty
// where the operation names none.
struct Ask {
  std::string_view service;    // "ecs".
  std::string_view operation;  // "RunTask".
  std::string_view cluster = {};
  std::string_view container_instance = {};
  std::string_view resource = {};
};

// A full key may do everything. An agent's key may do what the managed policy
// AmazonEC2ContainerServiceforEC2Role allows (CreateCluster excepted, CreateLogGroup added for
// awslogs-create-group, and task protection for its containers), on its own cluster and as the
// instance that has registered with it; before that as none. It reads the tags of that instance and
// of the tasks on it. A task's key may ask who it is, write
// and read the log groups, and read the secrets, that the task's definition names, and protect its
// own task: official agents sign for the container that asks with the keys of its task's role. Who
// has not signed may join a cluster. Pure. Errors: AccessDeniedException.
base::Result<void> allow(const Caller& caller, const Ask& ask);

}  // namespace auth
