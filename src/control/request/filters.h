// Filters of lists, as Auto Scaling and EC2 take them: a thing passes when it has, for every
// filter, one of the filter's values. "*" stands for any characters, "?" for one. Source: EC2 API
// reference, "Filter".
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace control {

struct ListFilter {
  std::string name;
  std::vector<std::string> values;
};
// From the generated type of either service.
template <class Filters>
std::vector<ListFilter> list_filters(const Filters& filters) {
  std::vector<ListFilter> made;
  for (const auto& filter : filters) {
    made.push_back({filter.name.value_or(""), {filter.values.begin(), filter.values.end()}});
  }
  return made;
}

// What a thing has under the name of a filter; several values where it has several.
using FilterFacts = std::multimap<std::string, std::string, std::less<>>;

bool passes(std::span<const ListFilter> filters, const FilterFacts& facts);

// The first filter whose name is none of `known`; "tag:" and any key is known where "tag:" is.
// nullptr: there is none.
const ListFilter* unknown_filter(std::span<const ListFilter> filters,
                                 std::span<const std::string_view> known);

// "tag-key", "tag-value" and "tag:<key>" of one tag.
void add_tag_facts(FilterFacts& facts, std::string_view key, std::string_view value);

}  // namespace control
