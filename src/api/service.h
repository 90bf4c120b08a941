// The AWS services that Berth speaks, as tables: every operation with its shapes, every error.
// Generated from the official SDK (tools/apigen).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "api/shape.h"

namespace api {

struct Operation {
  std::string_view name;  // "RunTask"
  const Shape* input;     // Structures; create values with Any::create.
  const Shape* output;
};

struct ErrorType {
  std::string_view name;        // "ClusterNotFoundException"
  std::string_view query_code;  // <Code> of the query protocol; elsewhere the same as the name.
  uint16_t http_status;
  bool server_fault;
};

enum class Protocol : uint8_t { Json11, Query, Ec2Query };

struct Service {
  std::string_view name;  // As in a SigV4 credential scope: "ecs".
  std::string_view
      target_prefix;  // X-Amz-Target before the dot: "AmazonEC2ContainerServiceV20141113".
  std::string_view api_version;  // "2014-11-13"
  std::string_view xml_namespace;
  Protocol protocol;
  std::span<const Operation> operations;  // In the order of their names.
  std::span<const ErrorType> errors;      // Likewise.
};

const Service& autoscaling_service();
const Service& ec2_service();
const Service& ecs_service();
const Service& logs_service();
const Service& secretsmanager_service();
const Service& ssm_service();
const Service& sts_service();
const Service& berth_service();  // Berth's own, of api/berth.h.

// nullptr when the service has no such operation. O(log n).
const Operation* find(const Service& service, std::string_view operation_name);
// nullptr when `name` is none of the service's own errors.
const ErrorType* find_error(const Service& service, std::string_view name);

}  // namespace api
