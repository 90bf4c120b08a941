// How long a test waits for a store.
#pragma once

#include "base/time.h"

namespace store {

inline constexpr base::Milliseconds at_once{0};

}  // namespace store
