// One function per API operation, each in its own file, and the table that names them.
//
// An operation checks everything about its request before it writes anything, so that one that
// fails has changed nothing, but that an agent that asks for a stream that is there may write to it
// (stream_writers.h); only a failing database can leave a half-written one behind, and then
// the Service rolls back (errors with the codes of sqlite/database.h).
// Source of each: the CloudWatch Logs API reference's page of that name.
#pragma once

#include <span>
#include <string_view>

#include "api/any.h"
#include "api/generated/logs.h"
#include "api/service.h"
#include "base/result.h"
#include "logs/context.h"

namespace logs {

base::Result<void> create_log_group(Context&, const api::logs::CreateLogGroupRequest&);
base::Result<void> create_log_stream(Context&, const api::logs::CreateLogStreamRequest&);
base::Result<void> delete_log_group(Context&, const api::logs::DeleteLogGroupRequest&);
base::Result<void> delete_log_stream(Context&, const api::logs::DeleteLogStreamRequest&);
base::Result<void> delete_retention_policy(Context&,
                                           const api::logs::DeleteRetentionPolicyRequest&);
base::Result<api::logs::DescribeLogGroupsResponse> describe_log_groups(
    Context&, const api::logs::DescribeLogGroupsRequest&);
base::Result<api::logs::DescribeLogStreamsResponse> describe_log_streams(
    Context&, const api::logs::DescribeLogStreamsRequest&);
base::Result<api::logs::FilterLogEventsResponse> filter_log_events(
    Context&, const api::logs::FilterLogEventsRequest&);
base::Result<api::logs::GetLogEventsResponse> get_log_events(Context&,
                                                             const api::logs::GetLogEventsRequest&);
base::Result<api::logs::ListTagsForResourceResponse> list_tags_for_resource(
    Context&, const api::logs::ListTagsForResourceRequest&);
base::Result<api::logs::PutLogEventsResponse> put_log_events(Context&,
                                                             const api::logs::PutLogEventsRequest&);
base::Result<void> put_log_group_deletion_protection(
    Context&, const api::logs::PutLogGroupDeletionProtectionRequest&);
base::Result<void> put_retention_policy(Context&, const api::logs::PutRetentionPolicyRequest&);
base::Result<void> tag_resource(Context&, const api::logs::TagResourceRequest&);
base::Result<void> untag_resource(Context&, const api::logs::UntagResourceRequest&);

enum class Effect : uint8_t {
  Reads,
  Writes,
  Adds,  // Writes, and the file grows by it.
};

struct OperationEntry {
  std::string_view name;
  Effect effect;
  // The request must be of the operation's input shape.
  base::Result<api::Any> (*run)(Context&, const api::Operation&, const api::Any& request);
};

// In the order of their names.
std::span<const OperationEntry> operation_table();
// nullptr for an operation that is not built.
const OperationEntry* find_operation(std::string_view name);

}  // namespace logs
