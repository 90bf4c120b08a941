// The environment of the process.
#pragma once

#include <cstdlib>
#include <string>

namespace cli {

// Empty: it is not set.
inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace cli
