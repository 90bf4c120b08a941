// Records as text.
#pragma once

#include <optional>
#include <string>

#include "api/json.h"

namespace model {

// The JSON text of the record with that key; nullopt: there is none.
template <class Records, class Key>
std::optional<std::string> print_record(const Records& records, const Key& key) {
  const auto found = records.find(key);
  return found == records.end() ? std::nullopt : std::optional(api::print(found->second));
}

}  // namespace model
