#include "control/autoscaling/group_tags.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/format.h"
#include "control/autoscaling/errors.h"

namespace control::autoscaling {
namespace {
constexpr size_t most_tags = 50;
}  // namespace

base::Result<void> put_group_tags(const api::List<api::autoscaling::Tag>& given,
                                  std::vector<model::GroupTag>& tags) {
  std::set<std::string> keys;
  for (const api::autoscaling::Tag& tag : given) {
    const std::string key = tag.key.value_or("");
    if (key.starts_with("aws:")) {
      return validation_error(base::format(
          "The tag key \"{}\" begins with aws:, which is reserved. Choose another key.", key));
    }
    if (!keys.insert(key).second) {
      return validation_error(
          base::format("The tag key \"{}\" is given twice for the same resource.", key));
    }
    const auto place = std::ranges::lower_bound(tags, key, {}, &model::GroupTag::key);
    model::GroupTag made{.key = key,
                         .value = tag.value.value_or(""),
                         .propagate_at_launch = tag.propagate_at_launch.value_or(false)};
    if (place != tags.end() && place->key == key) {
      *place = std::move(made);
    } else {
      tags.insert(place, std::move(made));
    }
  }
  if (tags.size() > most_tags) {
    return base::fail("LimitExceededFault",
                      base::format("The group would have {} tags; {} is the most it can have.",
                                   tags.size(), most_tags));
  }
  return {};
}

}  // namespace control::autoscaling
