// What `backup` and `restore` say while they work, and in the end.
#pragma once

#include "base/time.h"
#include "cli/archive.h"
#include "json/value.h"

namespace cli {

// Tells on standard error how far it is, once a second, when it takes more than two. `clock`
// outlives it.
ArchiveProgress progress_on_terminal(base::Clock& clock);

json::Value describe_archive(const Archive& archive);
// "state.db 1.2 MiB, logs.db 15.0 MiB".
std::string list_files(const Archive& archive);

}  // namespace cli
