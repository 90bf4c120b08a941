#include "docker/client.h"

#include <cstdlib>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "docker/client_call.h"
#include "docker/decode.h"
#include "docker/log_demultiplexer.h"
#include "docker/wire.h"

namespace docker {
namespace {

std::string container_path(const std::string& id, std::string_view rest) {
  return base::format("/containers/{}{}", base::percent_encoded(id), rest);
}

bool good(int status) {
  return (status >= 200 && status < 300) || status == 304;
}

}  // namespace

std::string host_from_environment() {
  const char* host = std::getenv("DOCKER_HOST");
  return host == nullptr || *host == '\0' ? default_host : host;
}

Result<std::unique_ptr<DockerClient>> DockerClient::create(const std::string& host,
                                                           Timeouts timeouts) {
  auto transport = http_transport(host);
  if (!transport) {
    return fail(Cause::BadParameter, std::string(error_code(Operation::Info)), transport.error());
  }
  return std::make_unique<DockerClient>(std::move(*transport), timeouts);
}

DockerClient::DockerClient(std::unique_ptr<Transport> transport, Timeouts timeouts)
    : transport_(std::move(transport)), timeouts_(timeouts) {
  network_turn_.push(true);
}

Error DockerClient::transport_failure(Operation operation, const TransportError& error,
                                      base::Milliseconds timeout) {
  switch (error.kind) {
    case TransportError::Kind::Cancelled:
      return cancelled_error(operation);
    case TransportError::Kind::Timeout:
      return timeout_error(operation, timeout);
    case TransportError::Kind::Unreachable:
      break;
  }
  api_minor_ = 0;  // What answers next may be another daemon.
  return unreachable_error(operation, transport_->host(), error.message);
}

Result<uint32_t> DockerClient::api_minor(Operation operation) {
  if (const uint32_t agreed = api_minor_; agreed != 0) return agreed;
  const Call call{.method = "GET",
                  .target = "/version",
                  .body = {},
                  .headers = {},
                  .timeout = timeouts_.short_call,
                  .idempotent = true};
  const auto answer = transport_->request(call);
  if (!answer) {
    return std::unexpected(transport_failure(operation, answer.error(), call.timeout));
  }
  if (!good(answer->status)) {
    return std::unexpected(daemon_error(operation, answer->status, decode_message(answer->body)));
  }
  const json::Value version = TRY(parse_body(operation, answer->body));
  const auto minor = choose_api_minor(version);
  if (!minor) {
    return fail(Cause::BadParameter, std::string(error_code(operation)), minor.error());
  }
  api_minor_ = *minor;
  return *minor;
}

Result<Call> DockerClient::to_call(const Sent& sent) {
  const uint32_t minor = TRY(api_minor(sent.operation));
  return Call{.method = sent.method,
              .target = base::format("/v1.{}{}", minor, sent.path),
              .body = sent.body,
              .headers = sent.headers,
              .timeout = sent.timeout,
              .inactivity_timeout = sent.inactivity_timeout,
              .idempotent = sent.idempotent};
}

Error DockerClient::refusal(Operation operation, const Answer& answer) {
  const std::string message = decode_message(answer.body);
  // The daemon was replaced by one of another version since we asked.
  if (answer.status == 400 && message.starts_with("client version")) api_minor_ = 0;
  return daemon_error(operation, answer.status, message);
}

Result<Answer> DockerClient::send(const Sent& sent) {
  const Call call = TRY(to_call(sent));
  auto answer = transport_->request(call);
  if (!answer) {
    return std::unexpected(transport_failure(sent.operation, answer.error(), sent.timeout));
  }
  if (!good(answer->status)) return std::unexpected(refusal(sent.operation, *answer));
  return std::move(*answer);
}

Result<void> DockerClient::stream(const Sent& sent, const std::stop_token& stop,
                                  const OnBytes& on_bytes) {
  const Call call = TRY(to_call(sent));
  const auto answer = transport_->stream(call, stop, on_bytes);
  if (!answer) {
    const bool silent = sent.inactivity_timeout.count() > 0;
    return std::unexpected(transport_failure(sent.operation, answer.error(),
                                             silent ? sent.inactivity_timeout : sent.timeout));
  }
  if (!good(answer->status)) return std::unexpected(refusal(sent.operation, *answer));
  return {};
}

Result<json::Value> DockerClient::get(Operation operation, std::string path) {
  const Answer answer =
      TRY(send({.operation = operation, .path = std::move(path), .timeout = timeouts_.short_call}));
  return parse_body(operation, answer.body);
}

Result<RuntimeInfo> DockerClient::info() {
  api_minor_ = 0;  // Whoever asks wants to know what is there now.
  const json::Value info = TRY(get(Operation::Info, "/info"));
  return decode_info(info, TRY(api_minor(Operation::Info)));
}

Result<void> DockerClient::pull(const PullRequest& request, const OnPullProgress& on_progress) {
  const ImageName name = split_image(request.image);
  Sent sent{
      .operation = Operation::Pull,
      .method = "POST",
      .path = base::format("/images/create?fromImage={}&tag={}",
                           base::percent_encoded(name.repository), base::percent_encoded(name.tag)),
      .timeout = timeouts_.pull_begin,
      .inactivity_timeout = request.inactivity_timeout};
  if (request.auth) {
    sent.headers.push_back({"X-Registry-Auth", registry_auth_header(*request.auth)});
  }
  PullTracker tracker;
  JsonLines lines;
  std::optional<Error> failure;
  const auto on_line = [&](std::string_view text) {
    const auto line = json::parse(text);
    if (!line) {
      failure = malformed_error(Operation::Pull, line.error().message);
      return false;
    }
    if (const auto added = tracker.add(*line); !added) {
      failure = pull_error(request.image, added.error());
      return false;
    }
    if (on_progress) on_progress(tracker.progress());
    return true;
  };
  const Result<void> ended = stream(sent, request.stop, [&](std::string_view bytes) {
    const auto fed = lines.feed(bytes, on_line);
    if (!fed) failure = malformed_error(Operation::Pull, fed.error());
    return fed.value_or(false);
  });
  if (failure) return std::unexpected(std::move(*failure));
  TRY_VOID(ended);
  lines.finish(on_line);
  if (failure) return std::unexpected(std::move(*failure));
  return {};
}

Result<ImageInfo> DockerClient::inspect_image(const std::string& image) {
  const json::Value body =
      TRY(get(Operation::InspectImage,
              base::format("/images/{}/json", base::percent_encoded(image, "/:@"))));
  auto info = decode_image(body);
  if (!info) return malformed(Operation::InspectImage, info.error());
  return std::move(*info);
}

Result<CreatedContainer> DockerClient::create(const std::string& name, const json::Value& body) {
  // Never sent twice: the second would find the name taken by the first.
  const Answer answer =
      TRY(send({.operation = Operation::Create,
                .method = "POST",
                .path = base::format("/containers/create?name={}", base::percent_encoded(name)),
                .timeout = timeouts_.create,
                .idempotent = false,
                .body = json::print(body)}));
  auto created = decode_created(TRY(parse_body(Operation::Create, answer.body)));
  if (!created) return malformed(Operation::Create, created.error());
  return std::move(*created);
}

Result<void> DockerClient::start(const std::string& id) {
  TRY(send({.operation = Operation::Start,
            .method = "POST",
            .path = container_path(id, "/start"),
            .timeout = timeouts_.start}));
  return {};
}

Result<void> DockerClient::stop(const std::string& id, base::Milliseconds timeout) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(timeout);
  TRY(send({.operation = Operation::Stop,
            .method = "POST",
            .path = container_path(id, base::format("/stop?t={}", seconds.count())),
            .timeout = seconds + timeouts_.stop_extra}));
  return {};
}

Result<void> DockerClient::kill(const std::string& id, const std::string& signal) {
  TRY(send(
      {.operation = Operation::Kill,
       .method = "POST",
       .path = container_path(id, base::format("/kill?signal={}", base::percent_encoded(signal))),
       .timeout = timeouts_.short_call,
       .idempotent = signal == "SIGKILL" || signal == "KILL" || signal == "9"}));
  return {};
}

Result<void> DockerClient::remove(const std::string& id, RemoveOptions options) {
  const auto answer =
      send({.operation = Operation::Remove,
            .method = "DELETE",
            .path = container_path(
                id, base::format("?force={:d}&v={:d}", options.force, options.volumes)),
            .timeout = timeouts_.remove});
  if (!answer && answer.error().cause != Cause::NotFound) return std::unexpected(answer.error());
  return {};
}

Result<ContainerState> DockerClient::inspect_for(Operation operation, const std::string& id) {
  auto state = decode_container(TRY(get(operation, container_path(id, "/json"))));
  if (!state) return malformed(operation, state.error());
  return std::move(*state);
}

Result<ContainerState> DockerClient::inspect(const std::string& id) {
  return inspect_for(Operation::Inspect, id);
}

Result<std::vector<ContainerSummary>> DockerClient::list(const ListFilter& filter) {
  const std::string filters = filters_parameter(filter.labels, "");
  auto list = decode_list(TRY(get(Operation::List, base::format("/containers/json?all=1&filters={}",
                                                                base::percent_encoded(filters)))));
  if (!list) return malformed(Operation::List, list.error());
  return std::move(*list);
}

Result<void> DockerClient::events(const EventsRequest& request, const OnEvent& on_event) {
  Sent sent{.operation = Operation::Events,
            .path = base::format("/events?filters={}", base::percent_encoded(filters_parameter(
                                                           request.labels, "container"))),
            .timeout = timeouts_.short_call};
  if (request.since_ns) sent.path += base::format("&since={}", format_since(*request.since_ns));
  JsonLines lines;
  std::optional<Error> failure;
  bool ended_by_caller = false;
  const auto on_line = [&](std::string_view text) {
    const auto line = json::parse(text);
    const auto event =
        line ? decode_event(*line) : Decoded<ContainerEvent>(std::unexpect, line.error().message);
    if (!event) {
      failure = malformed_error(Operation::Events, event.error());
      return false;
    }
    ended_by_caller = !on_event(*event);
    return !ended_by_caller;
  };
  const Result<void> ended = stream(sent, request.stop, [&](std::string_view bytes) {
    const auto fed = lines.feed(bytes, on_line);
    if (!fed) failure = malformed_error(Operation::Events, fed.error());
    return fed.value_or(false);
  });
  if (failure) return std::unexpected(std::move(*failure));
  if (ended_by_caller) return {};
  if (!ended && ended.error().cause == Cause::Cancelled) return {};
  TRY_VOID(ended);
  // The daemon never ends this stream of its own but when it goes away.
  return std::unexpected(transport_failure(
      Operation::Events, {TransportError::Kind::Unreachable, "it ended the stream of events"}, {}));
}

Result<void> DockerClient::logs(const LogsRequest& request, const OnLogLine& on_line) {
  const ContainerState state = TRY(inspect_for(Operation::Logs, request.id));
  Sent sent{.operation = Operation::Logs,
            .path = container_path(
                state.runtime_id,
                base::format("/logs?stdout=1&stderr=1&timestamps=1&follow={:d}", request.follow)),
            .timeout = timeouts_.short_call};
  // A container that is silent and not followed must still end at some time.
  if (!request.follow) sent.inactivity_timeout = timeouts_.short_call;
  if (request.tail) sent.path += base::format("&tail={}", *request.tail);
  LogDemultiplexer demultiplexer(state.tty ? LogForm::Raw : LogForm::Multiplexed);
  std::optional<Error> failure;
  bool ended_by_caller = false;
  const Result<void> ended = stream(sent, request.stop, [&](std::string_view bytes) {
    const auto fed = demultiplexer.feed(bytes, on_line);
    if (!fed) failure = malformed_error(Operation::Logs, fed.error());
    ended_by_caller = fed.has_value() && !*fed;
    return fed.value_or(false);
  });
  if (failure) return std::unexpected(std::move(*failure));
  if (ended_by_caller) return {};
  if (!ended && ended.error().cause == Cause::Cancelled) return {};
  TRY_VOID(ended);
  const auto finished = demultiplexer.finish(on_line);
  if (!finished) return malformed(Operation::Logs, finished.error());
  return {};
}

Result<ContainerStats> DockerClient::stats(const std::string& id) {
  auto stats = decode_stats(
      TRY(get(Operation::Stats, container_path(id, "/stats?stream=false&one-shot=true"))));
  if (!stats) {
    return fail(Cause::Conflict, std::string(error_code(Operation::Stats)),
                base::format("container {} is {}", id, stats.error()));
  }
  return std::move(*stats);
}

}  // namespace docker
