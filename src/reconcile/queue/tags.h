// What the tags of a task ask of the queue of its cluster (capacity provider BERTH_QUEUE).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "base/time.h"

namespace reconcile::queue {

inline constexpr std::string_view priority_tag = "berth:priority";
inline constexpr std::string_view share_tag = "berth:share";
inline constexpr std::string_view max_seconds_tag = "berth:max-seconds";
inline constexpr std::string_view queue_seconds_tag = "berth:queue-seconds";
inline constexpr std::string_view gang_tag = "berth:gang";
inline constexpr std::string_view gang_size_tag = "berth:gang-size";

inline constexpr std::string_view all_tags[] = {priority_tag,      share_tag, max_seconds_tag,
                                                queue_seconds_tag, gang_tag,  gang_size_tag};

// All tasks of the one RunTask call are the gang.
inline constexpr std::string_view gang_of_call = "all";
inline constexpr int32_t most_gang_members = 1000;

struct Tags {
  int32_t priority = 0;                          // Higher goes first.
  std::string share;                             // Empty: the task's group.
  std::optional<base::Milliseconds> max_run;     // It runs no longer than this, its owner says.
  std::optional<base::Milliseconds> queue_time;  // It waits no longer than this.
  std::string gang;                              // Empty: none. gang_of_call, or a name.
  int32_t gang_size = 0;                         // Of a named gang: 2 or more.
};

// One tag by itself; a key that is none of all_tags is no error.
// Errors: InvalidParameterException naming the tag and its right form.
base::Result<void> check_tag(const std::string& key, const std::string& value);
// All of them, which have to go together. Errors: the same.
base::Result<Tags> read_tags(const api::List<api::ecs::Tag>& tags);

}  // namespace reconcile::queue
