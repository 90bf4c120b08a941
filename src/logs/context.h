// What an operation works with.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "logs/json_fields.h"
#include "logs/tables/events.h"
#include "logs/tables/groups.h"
#include "logs/tables/streams.h"
#include "logs/writer.h"

namespace logs {

// The region and account that ARNs name.
struct Owner {
  std::string region;
  std::string account;
};

// Lent to an operation for one call.
struct Context {
  const Owner& owner;
  Groups& groups;
  Streams& streams;
  Events& events;
  JsonFields& json_fields;
  const Writer& writer;  // Who calls.
  base::Time now;
};

// Milliseconds since 1970-01-01 UTC.
int64_t now_ms(const Context& context);

// "arn:aws:logs:REGION:ACCOUNT:log-group:NAME", without the ":*" that some answers add.
std::string group_arn(const Owner& owner, std::string_view group_name);

// Errors: InvalidParameterException for a name that no group can have, ResourceNotFoundException.
base::Result<Group> existing_group(Context& context, const std::optional<std::string>& name);
// Of requests that take either member; both or none is InvalidParameterException.
base::Result<Group> existing_group(Context& context, const std::optional<std::string>& name,
                                   const std::optional<std::string>& identifier);
// Of an ARN as the tagging operations give it.
base::Result<Group> existing_group_by_arn(Context& context, const std::optional<std::string>& arn);
base::Result<Stream> existing_stream(Context& context, const Group& group,
                                     const std::optional<std::string>& name);

}  // namespace logs
