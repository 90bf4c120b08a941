#include "control/autoscaling/lists.h"

#include <algorithm>

#include "base/format.h"
#include "control/autoscaling/errors.h"

namespace control::autoscaling {

base::Result<PageRequest> records_request(const std::optional<std::string>& next_token,
                                          const std::optional<int32_t>& max_records, int32_t most) {
  if (max_records && (*max_records < 1 || *max_records > most)) {
    return validation_error(base::format(
        "MaxRecords is {}; the value must be between 1 and {}, inclusive.", *max_records, most));
  }
  auto request = page_request(next_token, max_records, most);
  if (!request) {
    return base::fail("InvalidNextToken",
                      base::format("The token '{}' is invalid.", next_token.value_or("")));
  }
  return request;
}

base::Result<std::vector<ListFilter>> known_filters(
    const api::List<api::autoscaling::Filter>& filters, std::span<const std::string_view> known) {
  std::vector<ListFilter> made = list_filters(filters);
  if (const ListFilter* const unknown = unknown_filter(made, known)) {
    return validation_error(base::format("The filter \"{}\" is not one of: {}.", unknown->name,
                                         base::join(known, ", ")));
  }
  return made;
}

bool wants(const api::List<std::string>& names, std::string_view name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

}  // namespace control::autoscaling
