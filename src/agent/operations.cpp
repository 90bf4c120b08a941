#include "agent/operations.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/docker_calls.h"
#include "agent/ecr.h"
#include "agent/gpu_doors.h"
#include "agent/log_shipping.h"
#include "agent/metadata_server.h"
#include "agent/namespace_socket.h"
#include "base/format.h"
#include "base/log.h"

namespace agent {
namespace {

constexpr base::Milliseconds progress_interval{500};

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

// Without an endpoint the container runs all the same, as it would after its agent's end.
void open_socket(Inbox& inbox, const AgentOptions& options, const std::string& task_arn,
                 const std::string& runtime_id, int64_t pid) {
  MetadataPlace place = metadata_place();
  if (!options.allow_instance_metadata) place.refused = instance_metadata_address;
  const auto socket = listen_in_namespace(pid, runtime_id, place);
  if (!socket && socket.error().code == "NotFound") return;  // It needs none any more.
  if (!socket) {
    base::log_warning("A container of task {} has no metadata endpoint: {}", task_arn,
                      socket.error().message);
    return;
  }
  if (!inbox.push(MetadataSocket{task_arn, runtime_id, pid, *socket})) ::close(*socket);
}

}  // namespace

Operations::Operations(Parts parts) : parts_(std::move(parts)) {}

void Operations::begin(core::Operation operation, Context context) {
  if (auto* create = std::get_if<core::CreateContainer>(&operation.request)) {
    gpu_.post([this, id = operation.id, request = std::move(*create),
               keys = std::move(context.keys)]() mutable {
      const auto checked = check_devices_are_no_gpus(request.body);
      auto setup = checked ? parts_.gpus->setup(request.gpus) : std::unexpected(checked.error());
      parts_.inbox.push(GpuSetupDone{id, std::move(request), std::move(keys), std::move(setup)});
    });
  } else if (auto* probe = std::get_if<core::ProbeGpu>(&operation.request)) {
    gpu_.post([this, id = operation.id, request = std::move(*probe)] {
      answer(parts_.inbox, id, parts_.gpus->probe(request));
    });
  } else if (std::holds_alternative<core::PullImage>(operation.request)) {
    std::stop_token stop = token_for(operation.id, {});
    pull(std::move(operation), std::move(context.keys), std::move(stop));
  } else if (std::holds_alternative<core::ShipLogs>(operation.request)) {
    ship(std::move(operation), std::move(context.log_position));
  } else if (std::holds_alternative<core::StartContainer>(operation.request)) {
    start_container(std::move(operation), std::move(context));
  } else if (std::holds_alternative<core::StopContainer>(operation.request)) {
    call(slow_stops_, std::move(operation));
  } else {
    call(quick_, std::move(operation));
  }
}

void Operations::on_gpu_setup(GpuSetupDone done) {
  if (!done.setup) return answer(parts_.inbox, done.id, std::unexpected(done.setup.error()));
  done.request.body = with_gpus(std::move(done.request.body), *done.setup);
  create({done.id, std::move(done.request)}, std::move(done.keys));
}

SetupParts Operations::setup_parts() const {
  return {parts_.docker, parts_.api, parts_.options, parts_.clock};
}

void Operations::create(core::Operation operation, Keys keys) {
  quick_.post([this, operation = std::move(operation), keys = std::move(keys)]() mutable {
    auto request = complete_request(
        setup_parts(), std::get<core::CreateContainer>(std::move(operation.request)), keys);
    if (!request) {
      return answer(parts_.inbox, operation.id, std::unexpected(std::move(request).error()));
    }
    const core::Request complete = std::move(*request);
    auto created = call_docker(complete, parts_.docker);
    if (!created) {
      created.error().message = without_secrets(std::move(created.error().message),
                                                std::get<core::CreateContainer>(complete));
    }
    answer(parts_.inbox, operation.id, std::move(created));
  });
}

void Operations::pull(core::Operation operation, Keys keys, std::stop_token stop) {
  pulls_.post(
      [this, operation = std::move(operation), keys = std::move(keys), stop = std::move(stop)] {
        const auto& request = std::get<core::PullImage>(operation.request);
        std::optional<docker::RegistryAuth> login;
        if (request.auth) {
          auto fetched = log_in(*request.auth, keys);
          if (!fetched) {
            return answer(parts_.inbox, operation.id, std::unexpected(std::move(fetched).error()));
          }
          login = std::move(*fetched);
        }
        answer(parts_.inbox, operation.id,
               pull_image({.image = request.image, .auth = std::move(login), .stop = stop},
                          parts_.docker, tell_progress(operation.id)));
      });
}

SetupResult<docker::RegistryAuth> Operations::log_in(const acs::RegistryAuthentication& registry,
                                                     const Keys& keys) {
  if (registry.type != "ecr" || !registry.ecr_auth_data) {
    return fetch_registry_auth(parts_.api, registry, keys);
  }
  return fetch_ecr_auth(parts_.options.ecr, *registry.ecr_auth_data, parts_.clock);
}

void Operations::answer_tags(TagsWanted wanted, net::Responder responder) {
  asked_.post([this, wanted = std::move(wanted), responder = std::move(responder)]() mutable {
    responder.respond(json_response(200, with_tags(parts_.api, std::move(wanted))));
  });
}

void Operations::answer_protection(ProtectionWanted wanted, net::Responder responder) {
  asked_.post([this, wanted = std::move(wanted), responder = std::move(responder)] {
    responder.respond(ask_protection(parts_.api, wanted));
  });
}

// Docker tells of each layer several times a second.
docker::OnPullProgress Operations::tell_progress(core::OperationId id) {
  return [this, id, next = base::Time::min()](const docker::PullProgress& progress) mutable {
    const base::Time now = parts_.clock.now();
    if (now < next) return;
    next = now + progress_interval;
    parts_.inbox.push(
        core::Input(core::PullProgress{id, progress.bytes_done, progress.bytes_expected}));
  };
}

void Operations::call(Workers& workers, core::Operation operation) {
  workers.post([this, operation = std::move(operation)] {
    answer(parts_.inbox, operation.id, call_docker(operation.request, parts_.docker));
  });
}

void Operations::start_container(core::Operation operation, Context context) {
  quick_.post([this, operation = std::move(operation), context = std::move(context)] {
    if (context.logs) {
      if (auto error = prepare_logs(parts_.api, *context.logs)) {
        return answer(parts_.inbox, operation.id, std::unexpected(std::move(*error)));
      }
    }
    if (!context.endpoint_of.empty()) {
      // Another agent of this machine may have taken it back at its end.
      const auto dropped = drop_in_own_network(metadata_address);
      if (!dropped) base::log_warning("{}", dropped.error().message);
    }
    // Its own network refuses it a moment after the start, and this before.
    if (!context.endpoint_of.empty() && !parts_.options.allow_instance_metadata) {
      const auto dropped = drop_forwarded(instance_metadata_address);
      if (!dropped) base::log_warning("{}", dropped.error().message);
    }
    auto started = call_docker(operation.request, parts_.docker);
    if (!started || context.endpoint_of.empty()) {
      return answer(parts_.inbox, operation.id, std::move(started));
    }
    // The endpoint is there before anybody hears that the container runs.
    const std::string& id = std::get<core::StartContainer>(operation.request).runtime_id;
    auto seen = call_docker(core::InspectContainer{id}, parts_.docker);
    const auto* const info = seen ? std::get_if<core::ContainerInfo>(&*seen) : nullptr;
    if (info != nullptr && info->pid > 0) {
      open_socket(parts_.inbox, parts_.options, context.endpoint_of, id, info->pid);
    }
    answer(parts_.inbox, operation.id, info != nullptr ? std::move(seen) : std::move(started));
  });
}

void Operations::clean_up(CleanupRequest request) {
  quick_.post([this, request = std::move(request)] {
    parts_.inbox.push(agent::clean_up(parts_.docker, parts_.options.cleanup, request));
  });
}

void Operations::open_endpoint(const std::string& task_arn, const std::string& runtime_id,
                               int64_t pid) {
  quick_.post([this, task_arn, runtime_id, pid] {
    open_socket(parts_.inbox, parts_.options, task_arn, runtime_id, pid);
  });
}

void Operations::answer_stats(StatsWanted wanted, net::Responder responder) {
  const bool has_gpus =
      std::ranges::any_of(wanted.containers, [](const auto& one) { return !one.gpus.empty(); });
  if (!has_gpus) return on_gpu_figures({std::move(wanted), {}, std::move(responder)});
  gpu_.post([this, wanted = std::move(wanted), responder = std::move(responder)]() mutable {
    std::vector<GpuFigures> gpus;
    for (const StatsWanted::Of& container : wanted.containers) {
      for (const std::string& uuid : container.gpus) {
        if (auto use = parts_.gpus->use(uuid)) gpus.push_back({uuid, std::move(*use)});
      }
    }
    parts_.inbox.push(GpuFiguresDone{std::move(wanted), std::move(gpus), std::move(responder)});
  });
}

void Operations::on_gpu_figures(GpuFiguresDone done) {
  asked_.post([this, done = std::move(done)] {
    json::Value all = json::Value::object();
    for (const StatsWanted::Of& container : done.wanted.containers) {
      const auto stats = parts_.docker.streams.stats(container.runtime_id);
      if (!stats) {
        if (done.wanted.as_map) continue;  // It has just ended.
        done.responder.respond(json_response(500, json::Value(stats.error().message)));
        return;
      }
      std::vector<GpuFigures> gpus;
      for (const GpuFigures& gpu : done.gpus) {
        if (std::ranges::find(container.gpus, gpu.uuid) != container.gpus.end()) {
          gpus.push_back(gpu);
        }
      }
      json::Value document = stats_document(*stats, gpus);
      if (!done.wanted.as_map) {
        done.responder.respond(json_response(200, document));
        return;
      }
      all.set(container.runtime_id, std::move(document));
    }
    done.responder.respond(json_response(200, all));
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
  quick_.post([this, arn] { forget_setup(setup_parts(), arn); });
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

void Operations::look_at_gpus(std::vector<std::string> uuids) {
  gpu_.post([this, uuids = std::move(uuids)] {
    GpusLookedAt seen{.events = parts_.gpus->health(), .figures = {}};
    for (const std::string& uuid : uuids) {
      // One that cannot be read shows by its health.
      if (auto use = parts_.gpus->use(uuid)) seen.figures.push_back({uuid, std::move(*use)});
    }
    parts_.inbox.push(std::move(seen));
  });
}

void Operations::look_at_containers(std::vector<std::string> running) {
  quick_.post([this, running = std::move(running)] {
    ContainersLookedAt seen;
    for (const std::string& id : running) {
      const auto stats = parts_.docker.streams.stats(id);
      if (!stats) continue;  // It has just ended, or Docker has, which shows elsewhere.
      seen.samples.push_back({.runtime_id = id,
                              .read_at = stats->read_at,
                              .cpu_total_ns = stats->cpu_total_ns,
                              .cores = stats->online_cpus,
                              .memory_bytes = stats->memory_usage_bytes});
    }
    parts_.inbox.push(std::move(seen));
  });
}

void Operations::stop() {
  for (auto& [id, stop] : stops_) stop.source.request_stop();
  gpu_.stop();
  logs_.stop();
  pulls_.stop();
  quick_.stop();
  asked_.stop();
  slow_stops_.stop();
}

}  // namespace agent
