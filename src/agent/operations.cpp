#include "agent/operations.h"

#include <utility>

#include "agent/docker_calls.h"
#include "agent/log_shipping.h"
#include "base/format.h"
#include "base/log.h"

namespace agent {
namespace {

void answer(Inbox& inbox, core::OperationId id, core::OperationResult result) {
  inbox.push(core::Input(core::OperationDone{id, std::move(result)}));
}

// Docker's own awslogs driver makes the stream when the container starts, and a container whose
// stream cannot be had does not start. A log service that does not answer is another matter: the
// container starts, and its output waits.
std::optional<core::OperationError> prepare_logs(ApiClient& api, const core::ShipLogs& logs) {
  const ApiResult<void> made = make_log_stream(api, logs);
  if (made || made.error().kind != ApiError::Kind::Refused) return std::nullopt;
  std::string message = base::format(
      "failed to initialize logging driver: failed to create Cloudwatch log stream: {}: "
      "{}",
      made.error().code, made.error().message);
  if (made.error().code == "ResourceNotFoundException") {
    message += base::format(
        " Create the log group {}, or set the log option awslogs-create-group to true.",
        logs.group);
  }
  return core::OperationError{core::Cause::BadParameter, "CannotStartContainerError",
                              std::move(message)};
}

}  // namespace

Operations::Operations(Parts parts) : parts_(std::move(parts)) {}

void Operations::begin(core::Operation operation, Context context) {
  if (auto* create = std::get_if<core::CreateContainer>(&operation.request)) {
    gpu_.post([this, id = operation.id, request = std::move(*create)]() mutable {
      auto setup = parts_.gpus->setup(request.gpus);
      parts_.inbox.push(GpuSetupDone{id, std::move(request), std::move(setup)});
    });
  } else if (auto* probe = std::get_if<core::ProbeGpu>(&operation.request)) {
    gpu_.post([this, id = operation.id, request = std::move(*probe)] {
      answer(parts_.inbox, id, parts_.gpus->probe(request));
    });
  } else if (std::holds_alternative<core::PullImage>(operation.request)) {
    std::stop_token stop = token_for(operation.id, {});
    call(pulls_, std::move(operation), std::move(stop));
  } else if (std::holds_alternative<core::ShipLogs>(operation.request)) {
    ship(std::move(operation), std::move(context.log_position));
  } else if (std::holds_alternative<core::StartContainer>(operation.request)) {
    start_container(std::move(operation), std::move(context.logs));
  } else if (std::holds_alternative<core::StopContainer>(operation.request)) {
    call(slow_stops_, std::move(operation), {});
  } else {
    call(quick_, std::move(operation), {});
  }
}

void Operations::on_gpu_setup(GpuSetupDone done) {
  if (!done.setup) return answer(parts_.inbox, done.id, std::unexpected(done.setup.error()));
  done.request.body = with_gpus(std::move(done.request.body), *done.setup);
  call(quick_, {done.id, std::move(done.request)}, {});
}

void Operations::call(Workers& workers, core::Operation operation, std::stop_token stop) {
  workers.post([this, operation = std::move(operation), stop = std::move(stop)] {
    answer(parts_.inbox, operation.id, call_docker(operation.request, parts_.docker, stop));
  });
}

void Operations::start_container(core::Operation operation, std::optional<core::ShipLogs> logs) {
  quick_.post([this, operation = std::move(operation), logs = std::move(logs)] {
    if (logs) {
      if (auto error = prepare_logs(parts_.api, *logs)) {
        return answer(parts_.inbox, operation.id, std::unexpected(std::move(*error)));
      }
    }
    answer(parts_.inbox, operation.id, call_docker(operation.request, parts_.docker, {}));
  });
}

void Operations::ship(core::Operation operation, LogPosition position) {
  auto request = std::get<core::ShipLogs>(std::move(operation.request));
  std::stop_token stop = token_for(operation.id, request.task_arn);
  for (const char* option : {"awslogs-datetime-format", "awslogs-multiline-pattern"}) {
    if (!request.options.contains(option)) continue;
    base::log_warning(
        "Container {} of task {}: the log option {} is not built; each line is an "
        "event of its own.",
        request.container_name, request.task_arn, option);
  }
  logs_.post([this, id = operation.id, request = std::move(request), position = std::move(position),
              stop = std::move(stop)]() mutable {
    const LogKey key{request.task_arn, request.container_name};
    answer(parts_.inbox, id,
           ship_logs({.request = request,
                      .position = std::move(position),
                      .streams = parts_.docker.streams,
                      .api = parts_.api,
                      .clock = parts_.clock,
                      .stop = stop,
                      .moved = [&](const LogPosition& moved) {
                        parts_.inbox.push(LogsMoved{key, moved});
                      }}));
  });
}

std::stop_token Operations::token_for(core::OperationId id, std::string task_arn) {
  Stop& stop = stops_[id];
  stop.task_arn = std::move(task_arn);
  return stop.source.get_token();
}

void Operations::cancel(core::OperationId id) {
  const auto found = stops_.find(id);
  if (found != stops_.end()) found->second.source.request_stop();
}

void Operations::forget_task(const std::string& arn) {
  for (auto& [id, stop] : stops_) {
    if (stop.task_arn == arn) stop.source.request_stop();
  }
}

void Operations::find_gpus(std::optional<GpuBaselines> baselines) {
  gpu_.post([this, baselines = std::move(baselines)]() mutable {
    GpusFound found;
    auto inventory = parts_.gpus->discover();
    if (inventory) {
      found.inventory = std::move(*inventory);
    } else {
      base::log_error("This container instance registers without GPUs: {}",
                      inventory.error().message);
    }
    for (const std::string& problem : found.inventory.problems) base::log_warning("{}", problem);
    if (baselines) {
      found.baselines = *baselines;
      parts_.gpus->set_baselines(std::move(*baselines));
    } else {
      found.baselines = parts_.gpus->take_baselines(found.inventory);
    }
    parts_.inbox.push(std::move(found));
  });
}

void Operations::look_at_gpu_health() {
  gpu_.post([this] {
    auto events = parts_.gpus->health();
    if (!events.empty()) parts_.inbox.push(GpuHealthChanged{std::move(events)});
  });
}

void Operations::stop() {
  for (auto& [id, stop] : stops_) stop.source.request_stop();
  gpu_.stop();
  logs_.stop();
  pulls_.stop();
  quick_.stop();
  slow_stops_.stop();
}

}  // namespace agent
