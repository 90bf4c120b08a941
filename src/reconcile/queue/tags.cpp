#include "reconcile/queue/tags.h"

#include "base/format.h"
#include "base/text.h"

namespace reconcile::queue {
namespace {

constexpr int64_t most_seconds = int64_t{366} * 24 * 3600;
constexpr int64_t most_priority = 1'000'000;

std::unexpected<base::Error> bad_tag(std::string_view tag, std::string_view value,
                                     std::string_view right) {
  return base::fail("InvalidParameterException",
                    base::format("Tag {} is \"{}\"; it must be {}.", tag, value, right));
}

struct Range {
  int64_t least = 0;
  int64_t most = 0;
};

base::Result<int64_t> read_number(std::string_view tag, std::string_view text, Range range) {
  const auto number = base::parse_number<int64_t>(text);
  if (!number || *number < range.least || *number > range.most) {
    return bad_tag(tag, text,
                   base::format("a whole number from {} to {}", range.least, range.most));
  }
  return *number;
}

base::Result<base::Milliseconds> read_seconds(std::string_view tag, std::string_view text) {
  return std::chrono::seconds(TRY(read_number(tag, text, {1, most_seconds})));
}

base::Result<void> read_tag(const std::string& key, const std::string& value, Tags& tags) {
  if (key == priority_tag) {
    tags.priority =
        static_cast<int32_t>(TRY(read_number(key, value, {-most_priority, most_priority})));
  } else if (key == max_seconds_tag) {
    tags.max_run = TRY(read_seconds(key, value));
  } else if (key == queue_seconds_tag) {
    tags.queue_time = TRY(read_seconds(key, value));
  } else if (key == gang_size_tag) {
    tags.gang_size = static_cast<int32_t>(TRY(read_number(key, value, {2, most_gang_members})));
  } else if (key == share_tag || key == gang_tag) {
    if (value.empty()) return bad_tag(key, value, "a name");
    (key == share_tag ? tags.share : tags.gang) = value;
  }
  return {};
}

}  // namespace

base::Result<void> check_tag(const std::string& key, const std::string& value) {
  Tags alone;
  return read_tag(key, value, alone);
}

base::Result<Tags> read_tags(const api::List<api::ecs::Tag>& tags) {
  Tags read;
  for (const api::ecs::Tag& tag : tags) {
    if (!tag.key || !tag.key->starts_with("berth:")) continue;
    TRY_VOID(read_tag(*tag.key, tag.value.value_or(""), read));
  }
  if (read.gang == gang_of_call && read.gang_size != 0) {
    return base::fail("InvalidParameterException",
                      base::format("Tag {} is \"{}\", the tasks of one RunTask call, so that {} "
                                   "must be left out: their number is the call's count.",
                                   gang_tag, gang_of_call, gang_size_tag));
  }
  if (!read.gang.empty() && read.gang != gang_of_call && read.gang_size == 0) {
    return base::fail("InvalidParameterException",
                      base::format("Tag {} names the gang \"{}\" without {}, the number of tasks "
                                   "that start together: give it, from 2 to {}.",
                                   gang_tag, read.gang, gang_size_tag, most_gang_members));
  }
  if (read.gang.empty() && read.gang_size != 0) {
    return base::fail("InvalidParameterException",
                      base::format("Tag {} needs the tag {} with the gang's name beside it.",
                                   gang_size_tag, gang_tag));
  }
  return read;
}

}  // namespace reconcile::queue
