// How the lists of Auto Scaling are paged and filtered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/generated/autoscaling.h"
#include "base/result.h"
#include "control/request/filters.h"
#include "control/request/paging.h"

namespace control::autoscaling {

// Errors: InvalidNextToken; ValidationError for a MaxRecords out of 1..`most`.
base::Result<PageRequest> records_request(const std::optional<std::string>& next_token,
                                          const std::optional<int32_t>& max_records, int32_t most);

// Errors: ValidationError for a filter whose name is none of `known`.
base::Result<std::vector<ListFilter>> known_filters(
    const api::List<api::autoscaling::Filter>& filters, std::span<const std::string_view> known);

// Whether a list that names what it wants, or nothing for all, wants this one.
bool wants(const api::List<std::string>& names, std::string_view name);

}  // namespace control::autoscaling
