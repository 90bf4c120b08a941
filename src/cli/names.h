// Which of several things a name means that somebody has typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cli {

struct Named {
  std::string id;                        // A beginning of it does, too, where no other has it.
  std::vector<std::string> other_names;  // Meant as a whole.
};

// The index of the one that `name` means: one whose id or other name it is, else the one whose id
// begins with it. `what` and `command` are for the sentence: "container instance", "berth nodes".
// Errors: "NotFound"; "Ambiguous", which lists the ids that it could be.
base::Result<size_t> pick(const std::vector<Named>& things, std::string_view name,
                          std::string_view what, std::string_view command);

}  // namespace cli
