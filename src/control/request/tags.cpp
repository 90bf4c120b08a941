#include "control/request/tags.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "control/request/errors.h"
#include "reconcile/gpu_rolling.h"
#include "reconcile/queue/tags.h"

namespace control {
namespace {

constexpr size_t most_tags = 50;

bool is_reserved(std::string_view key) {
  return std::ranges::equal(key.substr(0, 4), std::string_view("aws:"), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b;
  });
}

// A misspelt one would be ignored in silence.
base::Result<void> check_own_tags(const Tags& tags) {
  std::vector<std::string_view> known(std::begin(reconcile::queue::all_tags),
                                      std::end(reconcile::queue::all_tags));
  known.push_back(placement_policy_tag);
  known.push_back(reconcile::gpu_rolling_tag);
  for (const api::ecs::Tag& tag : tags) {
    const std::string& key = *tag.key;
    if (!key.starts_with("berth:")) continue;
    if (std::ranges::find(known, key) == known.end()) {
      return invalid_parameter(base::format("'{}' is not a tag that Berth knows. These are: {}.",
                                            key, base::join(known, ", ")));
    }
    if (key == reconcile::gpu_rolling_tag && tag.value != reconcile::gpu_rolling_replace) {
      return invalid_parameter(
          base::format("The tag {} has the value \"{}\"; it is {} or left out.", key,
                       tag.value.value_or(""), reconcile::gpu_rolling_replace));
    }
    TRY_VOID(reconcile::queue::check_tag(key, tag.value.value_or("")));
  }
  TRY_VOID(placement_policy_of(tags));
  return {};
}

}  // namespace

base::Result<void> check_tags(const Tags& tags, std::string_view what) {
  if (tags.size() > most_tags) {
    return invalid_parameter(
        base::format("The {} has {} tags; it can have at most {}.", what, tags.size(), most_tags));
  }
  std::set<std::string> keys;
  for (const api::ecs::Tag& tag : tags) {
    const std::string key = tag.key.value_or("");
    if (key.empty()) return invalid_parameter("The key of a tag should not be null or empty.");
    if (is_reserved(key)) {
      return invalid_parameter(base::format(
          "The tag key '{}' begins with \"aws:\", which is reserved: choose another.", key));
    }
    if (!keys.insert(key).second) {
      return invalid_parameter(base::format("Two tags have the key '{}'.", key));
    }
  }
  return check_own_tags(tags);
}

base::Result<placement::Policy> placement_policy_of(const Tags& cluster_tags) {
  const auto tag = std::ranges::find_if(
      cluster_tags, [](const api::ecs::Tag& one) { return one.key == placement_policy_tag; });
  if (tag == cluster_tags.end()) return placement::Policy::Berth;
  const auto policy = placement::parse_policy(tag->value.value_or(""));
  if (!policy) {
    return invalid_parameter(base::format(
        "The tag {} has the value \"{}\"; the placement policies are berth, fgd, bestfit and "
        "random.",
        placement_policy_tag, tag->value.value_or("")));
  }
  return *policy;
}

}  // namespace control
