// The times and the room of the tests of exec sessions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace exec {

inline const base::Time noon{std::chrono::seconds(1'750'000'000)};
inline constexpr size_t room = size_t{64} << 20;

inline base::Time after(int64_t ms) {
  return noon + base::Milliseconds(ms);
}

}  // namespace exec
