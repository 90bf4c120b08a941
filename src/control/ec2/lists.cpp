#include "control/ec2/lists.h"

#include "base/format.h"
#include "control/ec2/errors.h"

namespace control::ec2 {

base::Result<PageRequest> results_request(const std::optional<std::string>& next_token,
                                          const std::optional<int32_t>& max_results, int32_t most) {
  if (max_results && (*max_results < 1 || *max_results > most)) {
    return invalid_value(
        base::format("Value ( {} ) for parameter maxResults is invalid. Expecting "
                     "a value between 1 and {}.",
                     *max_results, most));
  }
  auto request = page_request(next_token, max_results, most);
  if (!request) {
    return base::fail("InvalidNextToken",
                      base::format("The token '{}' is invalid.", next_token.value_or("")));
  }
  return request;
}

base::Result<std::vector<ListFilter>> known_filters(const api::List<api::ec2::Filter>& filters,
                                                    std::span<const std::string_view> known) {
  std::vector<ListFilter> made = list_filters(filters);
  if (const ListFilter* const unknown = unknown_filter(made, known)) {
    return invalid_value(base::format("The filter '{}' is invalid. Those of this list are: {}.",
                                      unknown->name, base::join(known, ", ")));
  }
  return made;
}

}  // namespace control::ec2
