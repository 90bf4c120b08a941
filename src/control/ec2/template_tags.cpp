#include "control/ec2/template_tags.h"

#include <algorithm>
#include <string>

#include "api/shape.h"
#include "base/format.h"
#include "control/ec2/errors.h"

namespace control::ec2 {
namespace {
constexpr size_t most_tags = 50;
}  // namespace

base::Result<Tags> template_tags(const api::List<api::ec2::TagSpecification>& specifications) {
  Tags tags;
  for (const api::ec2::TagSpecification& one : specifications) {
    if (one.resource_type != api::ec2::ResourceType::LaunchTemplate) {
      return invalid_value(base::format(
          "'{}' is not a valid taggable resource type for this operation; launch-template is.",
          one.resource_type ? api::to_string(*one.resource_type) : ""));
    }
    TRY_VOID(put_tags(one.tags, tags));
  }
  return tags;
}

base::Result<void> put_tags(const api::List<api::ec2::Tag>& given, Tags& tags) {
  for (const api::ec2::Tag& tag : given) {
    const std::string key = tag.key.value_or("");
    if (key.empty() || key.starts_with("aws:")) {
      return invalid_value(base::format(
          "The tag key \"{}\" is not allowed: a key has 1 to 128 characters and does not begin "
          "with aws:, which is reserved.",
          key));
    }
    const auto place = std::ranges::find(tags, tag.key, &api::ecs::Tag::key);
    api::ecs::Tag made{.key = key, .value = tag.value.value_or("")};
    if (place == tags.end()) {
      tags.push_back(std::move(made));
    } else {
      *place = std::move(made);
    }
  }
  if (tags.size() > most_tags) {
    return base::fail("TagLimitExceeded",
                      base::format("The launch template would have {} tags; {} is the most it can "
                                   "have.",
                                   tags.size(), most_tags));
  }
  return {};
}

}  // namespace control::ec2
