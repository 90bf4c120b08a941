// Tasks as people name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/installation.h"

namespace cli {

// An ARN or a whole id of a task: it needs no looking up.
bool is_whole_task_name(std::string_view text);

// What can be the beginning of a task's id: at least 4 hexadecimal digits in lower case.
bool may_begin_task_id(std::string_view text);

// The ARNs of a cluster's tasks that have not stopped and then of those that have, of one service
// where it is not empty. Errors: the API's.
base::Result<std::vector<std::string>> list_task_arns(const Credentials& credentials,
                                                      const std::string& cluster,
                                                      const std::string& service);

// The task that is meant by an ARN, an id, or the beginning of one id. Errors: "NotFound";
// "Ambiguous", which lists those that it could be; the API's.
base::Result<std::string> named_task(const Credentials& credentials, const std::string& cluster,
                                     const std::string& name);

}  // namespace cli
