// The one door to fmt: text from values.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace base {

using fmt::format;
using fmt::join;

}  // namespace base
