// The limit of open files of this process.
#pragma once

#include <cstddef>

namespace base {

// What it is now.
size_t open_files_limit();

// Raises it as far as this user may, at most to a million: programs that are started with it may go
// through all numbers below it. What it is then.
size_t raise_open_files_limit();

}  // namespace base
