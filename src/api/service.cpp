#include "api/service.h"

#include <algorithm>

namespace api {
namespace {

template <class Entry>
const Entry* find_by_name(std::span<const Entry> sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &Entry::name);
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

const Operation* find(const Service& service, std::string_view operation_name) {
  return find_by_name(service.operations, operation_name);
}

const ErrorType* find_error(const Service& service, std::string_view name) {
  return find_by_name(service.errors, name);
}

}  // namespace api
