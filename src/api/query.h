// The AWS query protocol and that of EC2: form bodies in, XML out. Pure.
// Sources: Smithy 2.0, "AWS query protocol" and "AWS EC2 query protocol".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/service.h"
#include "api/shape.h"
#include "base/result.h"

namespace api {

struct QueryRequest {
  std::string action;   // "GetCallerIdentity"; empty when the body names none.
  std::string version;  // "2011-06-15"
  // Every other pair in its order, decoded: {"Tags.member.1.Key", "team"}.
  std::vector<std::pair<std::string, std::string>> parameters;
};

// Reads application/x-www-form-urlencoded text (also a URL's query).
// Errors: MalformedQueryString for a broken %-escape or text that is not UTF-8.
base::Result<QueryRequest> parse_query(std::string_view body);

// What stands behind the "?" of an HTTP request's target, as it came; empty when there is none.
std::string_view query_of(std::string_view target);
// The value of a parameter of the target's query, decoded; empty when it is absent or the query is
// malformed.
std::string query_parameter(std::string_view target, std::string_view name);

// Reads the parameters into the struct of `shape` at `out`. Unknown parameters are ignored.
// `protocol`: Query ("Tags.member.1.Key") or Ec2Query ("Tag.1.Key").
// Errors: as parse_into of api/json.h, with the same paths ("Tags[0].Key").
base::Result<void> parse_into(const QueryRequest& request, const Shape& shape, void* out,
                              const ParseOptions& options = {},
                              Protocol protocol = Protocol::Query);

// The XML of a reply: <ActionResponse><ActionResult>...</ActionResult><ResponseMetadata>..., and of
// EC2: <ActionResponse><requestId>...</requestId>...
std::string print_query_response(const Service& service, std::string_view action,
                                 const Shape& shape, const void* output,
                                 std::string_view request_id);

// The XML of an error, <ErrorResponse><Error>..., and of EC2: <Response><Errors><Error>...; its
// Code is the service's query_code of error.code where that is one of its own errors. Type is
// Receiver for server faults (also InternalFailure and ServiceUnavailable), else Sender; EC2 has
// none.
std::string print_query_error(const Service& service, const base::Error& error,
                              std::string_view request_id);

}  // namespace api
