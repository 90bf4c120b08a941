#include "agent/task_tags.h"

#include <utility>

#include "api/generated/ecs.h"

namespace agent {
namespace {

void add_tags(ApiClient& api, const std::string& arn, std::string_view field, json::Value& document,
              json::Value& errors) {
  api::ecs::ListTagsForResourceRequest request;
  request.resource_arn = arn;
  const auto answer = api.call<api::ecs::ListTagsForResourceResponse>(
      api::ecs_service(), "ListTagsForResource", request);
  if (!answer) {
    errors.push(json::Value::object({{"ErrorField", field},
                                     {"ErrorCode", answer.error().code},
                                     {"ErrorMessage", answer.error().message},
                                     {"ResourceARN", arn}}));
    return;
  }
  json::Value tags = json::Value::object();
  for (const api::ecs::Tag& tag : answer->tags) {
    tags.set(tag.key.value_or(""), tag.value.value_or(""));
  }
  document.set(field, std::move(tags));
}

}  // namespace

json::Value with_tags(ApiClient& api, TagsWanted wanted) {
  json::Value errors = json::Value::array();
  add_tags(api, wanted.container_instance_arn, "ContainerInstanceTags", wanted.document, errors);
  add_tags(api, wanted.task_arn, "TaskTags", wanted.document, errors);
  if (!errors.items().empty()) wanted.document.set("Errors", std::move(errors));
  return std::move(wanted.document);
}

}  // namespace agent
