// How long the threads of the server wait.
#pragma once

#include "base/time.h"

namespace server {

inline constexpr base::Milliseconds longest_wait{1'000};  // For work; then for what became due.
// Between two looks for what a database no longer needs.
inline constexpr base::Milliseconds sweep_interval{600'000};

}  // namespace server
