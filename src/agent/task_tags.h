// What taskWithTags adds to the document of a task: the tags that the control plane knows.
// Source: ECS Developer Guide, "Task metadata endpoint version 4", ${..}/taskWithTags.
#pragma once

#include <string>

#include "agent/api_client.h"
#include "json/value.h"

namespace agent {

// The task's document, with TaskTags and ContainerInstanceTags to come.
struct TagsWanted {
  json::Value document;
  std::string task_arn;
  std::string container_instance_arn;
};

// Blocks. Tags that cannot be had are told under Errors, as the official agent does.
json::Value with_tags(ApiClient& api, TagsWanted wanted);

}  // namespace agent
