// The awslogs driver: a container's output, line by line, into a log stream of the control plane's
// CloudWatch Logs.
//
// Every line is delivered exactly once and in order: events are numbered (see logs/service.h), the
// number of the next one is kept in the journal, and after a restart the same lines get the same
// numbers. An empty line is no event, as with Docker's own driver.
#pragma once

#include <functional>
#include <stop_token>

#include "agent/api_client.h"
#include "agent/core/runtime.h"
#include "agent/journal.h"
#include "base/time.h"
#include "docker/runtime.h"

namespace agent {

// Makes the stream, and its group with awslogs-create-group, where they are missing.
ApiResult<void> make_log_stream(ApiClient& api, const core::ShipLogs& request);

struct LogShipping {
  const core::ShipLogs& request;
  LogPosition position;  // Where it was left; that of another container counts from its start.
  docker::ContainerStreams& streams;
  ApiClient& api;
  base::Clock& clock;
  std::stop_token stop;
  std::function<void(const LogPosition&)> moved;  // After each delivery, on the calling thread.
};

// Blocks until the container has stopped and all its output is delivered; tries again for as long
// as the log service does not take it. Errors: Docker's, and Cause::Cancelled.
core::OperationResult ship_logs(const LogShipping& shipping);

}  // namespace agent
