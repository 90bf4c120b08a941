// What must be in a data directory before a server goes on from it.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace cli {

// Whether what lies in `dir` can be what a server goes on from. Errors: "Corrupt" where a restore
// was cut off, where state.db is gone from a directory that a server has used, or the key from
// beside the secrets. The log names what else is gone and is begun anew.
base::Result<void> check_complete(const std::filesystem::path& dir);

}  // namespace cli
