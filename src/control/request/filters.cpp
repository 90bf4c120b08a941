#include "control/request/filters.h"

#include <algorithm>

namespace control {
namespace {

bool fits(std::string_view pattern, std::string_view text) {
  size_t star = std::string_view::npos;  // Where the last "*" stood, and what it has swallowed.
  size_t swallowed = 0;
  size_t at = 0;
  for (size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      swallowed = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++swallowed;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool passes_one(const ListFilter& filter, const FilterFacts& facts) {
  const auto [first, last] = facts.equal_range(filter.name);
  return std::any_of(first, last, [&](const auto& fact) {
    return std::ranges::any_of(filter.values,
                               [&](const std::string& value) { return fits(value, fact.second); });
  });
}

}  // namespace

bool passes(std::span<const ListFilter> filters, const FilterFacts& facts) {
  return std::ranges::all_of(filters,
                             [&](const ListFilter& filter) { return passes_one(filter, facts); });
}

const ListFilter* unknown_filter(std::span<const ListFilter> filters,
                                 std::span<const std::string_view> known) {
  const auto found = std::ranges::find_if(filters, [&](const ListFilter& filter) {
    const std::string_view name = filter.name;
    return std::ranges::find(known, name.starts_with("tag:") ? "tag:" : name) == known.end();
  });
  return found == filters.end() ? nullptr : &*found;
}

void add_tag_facts(FilterFacts& facts, std::string_view key, std::string_view value) {
  facts.emplace("tag-key", key);
  facts.emplace("tag-value", value);
  facts.emplace("tag:" + std::string(key), value);
}

}  // namespace control
