#include <algorithm>
#include <array>
#include <type_traits>

#include "logs/operations/operations.h"

namespace logs {
namespace {

// Gives a typed operation the type of the table.
template <auto function>
struct Untyped;

template <class Request, class Response,
          base::Result<Response> (*function)(Context&, const Request&)>
struct Untyped<function> {
  static base::Result<api::Any> run(Context& context, const api::Operation& operation,
                                    const api::Any& request) {
    if constexpr (std::is_void_v<Response>) {
      TRY_VOID(function(context, request.as<Request>()));
      return api::Any::create(*operation.output);
    } else {
      return api::Any::make(TRY(function(context, request.as<Request>())));
    }
  }
};

template <auto function>
constexpr OperationEntry entry(std::string_view name, Effect effect) {
  return {.name = name, .effect = effect, .run = &Untyped<function>::run};
}

constexpr std::array operations = {
    entry<create_log_group>("CreateLogGroup", Effect::Adds),
    entry<create_log_stream>("CreateLogStream", Effect::Adds),
    entry<delete_log_group>("DeleteLogGroup", Effect::Writes),
    entry<delete_log_stream>("DeleteLogStream", Effect::Writes),
    entry<delete_retention_policy>("DeleteRetentionPolicy", Effect::Writes),
    entry<describe_log_groups>("DescribeLogGroups", Effect::Reads),
    entry<describe_log_streams>("DescribeLogStreams", Effect::Reads),
    entry<filter_log_events>("FilterLogEvents", Effect::Reads),
    entry<get_log_events>("GetLogEvents", Effect::Reads),
    entry<list_tags_for_resource>("ListTagsForResource", Effect::Reads),
    entry<put_log_events>("PutLogEvents", Effect::Adds),
    entry<put_log_group_deletion_protection>("PutLogGroupDeletionProtection", Effect::Writes),
    entry<put_retention_policy>("PutRetentionPolicy", Effect::Writes),
    entry<tag_resource>("TagResource", Effect::Writes),
    entry<untag_resource>("UntagResource", Effect::Writes),
};
static_assert(std::ranges::is_sorted(operations, {}, &OperationEntry::name));

}  // namespace

std::span<const OperationEntry> operation_table() {
  return operations;
}

const OperationEntry* find_operation(std::string_view name) {
  const auto found = std::ranges::lower_bound(operations, name, {}, &OperationEntry::name);
  return found != operations.end() && found->name == name ? &*found : nullptr;
}

}  // namespace logs
