// How the lists of EC2 are paged and filtered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/generated/ec2.h"
#include "base/result.h"
#include "control/request/filters.h"
#include "control/request/paging.h"

namespace control::ec2 {

// Errors: InvalidNextToken; InvalidParameterValue for a MaxResults out of 1..`most`.
base::Result<PageRequest> results_request(const std::optional<std::string>& next_token,
                                          const std::optional<int32_t>& max_results, int32_t most);

// Errors: InvalidParameterValue for a filter whose name is none of `known`.
base::Result<std::vector<ListFilter>> known_filters(const api::List<api::ec2::Filter>& filters,
                                                    std::span<const std::string_view> known);

}  // namespace control::ec2
