#include "agent/control_link.h"

#include <algorithm>
#include <utility>

#include "acs/messages.h"
#include "agent/host_address.h"
#include "agent/websocket_url.h"
#include "base/format.h"
#include "base/log.h"
#include "net/address.h"
#include "net/websocket_client.h"

namespace agent {
namespace {

constexpr base::Milliseconds announce_retry{2'000};
constexpr size_t longest_control_message = size_t{8} << 20;

// AWS's names for a report that will never be taken.
bool is_pointless(const ApiError& error) {
  return error.code == "InvalidParameterException" || error.code == "ClientException" ||
         error.code == "InvalidParameterValue";
}

core::SubmitDone submit_done(uint64_t id,
                             const ApiResult<api::ecs::SubmitTaskStateChangeResponse>& result) {
  if (result) return {id, core::SubmitOutcome::Accepted, {}};
  return {id,
          is_pointless(result.error()) ? core::SubmitOutcome::Refused : core::SubmitOutcome::Retry,
          static_cast<const base::Error&>(result.error())};
}

ApiResult<std::string> register_instance(
    ApiClient& api, const api::ecs::RegisterContainerInstanceRequest& request) {
  auto response = api.call<api::ecs::RegisterContainerInstanceResponse>(
      api::ecs_service(), "RegisterContainerInstance", request,
      {.timeout = std::chrono::seconds(30),
       .repeatable = request.container_instance_arn.has_value()});
  if (!response) return std::unexpected(std::move(response).error());
  if (!response->container_instance || !response->container_instance->container_instance_arn) {
    return std::unexpected(ApiError{{"ServerException", "the answer names no container instance"},
                                    ApiError::Kind::Failed});
  }
  return *response->container_instance->container_instance_arn;
}

// As after an older backup was restored. One that was deregistered is known.
bool is_unknown(const ApiError& error) {
  return error.kind == ApiError::Kind::Refused &&
         error.message.find("not found") != std::string::npos;
}

// The control plane has forgotten the instance, or deregistered it: it is a new one then.
bool is_forgotten(const ApiError& error) {
  return is_unknown(error) || (error.kind == ApiError::Kind::Refused &&
                               error.message.find("deregistered") != std::string::npos);
}

base::Error with_remedy(base::Error error) {
  if (error.code == "UnrecognizedClientException") {
    error.message +=
        " The server does not know this machine's key: it was taken back, or a backup older than "
        "the key was restored. `berth token create` on the server makes a token; start the agent "
        "with it.";
  }
  return error;
}

// As seen from the server: the other machines of its cluster most likely reach it there too.
std::string own_host_address(const AgentOptions& options) {
  std::vector<std::string> urls = options.server_urls;
  if (!options.advertised_url.empty()) urls.push_back(options.advertised_url);
  return host_address(urls, net::address_towards);
}

}  // namespace

ControlLink::ControlLink(Parts parts) : parts_(parts) {
  if (parts.options.docker_host.empty()) return;
  exec_ = std::make_unique<ExecSessions>(parts.loop, parts.api.tls(), parts.options.docker_host);
}

void ControlLink::want_registration(core::Register registration) {
  registration_ = std::move(registration);
}

void ControlLink::want_session(const acs::AgentSession::Command& command) {
  if (const auto* wanted = std::get_if<acs::AgentSession::Connect>(&command)) {
    connect_ = *wanted;
    return;
  }
  const auto& disconnect = std::get<acs::AgentSession::Disconnect>(command);
  if (socket_ != nullptr) socket_->close(net::close_going_away, disconnect.reason);
}

void ControlLink::send(const std::vector<acs::AgentMessage>& messages) {
  if (socket_ == nullptr) return;
  for (const acs::AgentMessage& message : messages) socket_->send(acs::encode(message));
}

void ControlLink::submit(core::Submit submit) {
  calls_.post([&api = parts_.api, &inbox = parts_.inbox, submit = std::move(submit)] {
    const auto result = api.call<api::ecs::SubmitTaskStateChangeResponse>(
        api::ecs_service(), "SubmitTaskStateChange", submit.request);
    inbox.push(core::Input(submit_done(submit.id, result)));
  });
}

void ControlLink::gpus_changed(gpu::Inventory inventory) {
  inventory_ = std::move(inventory);
  announce_ = true;
}

std::optional<core::Input> ControlLink::on_registration(const RegistrationDone& done,
                                                        base::Time now) {
  registering_ = false;
  if (!done.docker_version.empty()) docker_version_ = done.docker_version;
  const auto& arn = done.container_instance_arn;
  if (arn) {
    told_reason_ = done.told_reason;
    trouble_.clear();
    if (done.for_core) return core::Registered{*arn};
    return std::nullopt;
  }
  trouble_ = base::format("{}: {}", arn.error().code, arn.error().message);
  if (done.for_core) {
    return core::RegisterFailed{static_cast<const base::Error&>(arn.error()),
                                arn.error().kind == ApiError::Kind::Refused};
  }
  base::log_warning("The control plane was not told of this instance's state: {}", trouble_);
  announce_ = true;
  retry_at_ = now + announce_retry;
  return std::nullopt;
}

std::optional<core::Input> ControlLink::on_opened(SocketOpened opened) {
  if (opened.id != socket_id_) {
    opened.socket->abort();
    return std::nullopt;
  }
  socket_ = std::move(opened.socket);
  telemetry_endpoint_ = std::move(opened.telemetry_endpoint);
  trouble_.clear();
  return core::SessionOpened{};
}

std::optional<core::Input> ControlLink::on_closed(const SocketClosed& closed) {
  if (closed.id != socket_id_) return std::nullopt;
  socket_.reset();
  trouble_ = closed.reason.empty()
                 ? base::format("The control plane closed the connection ({}).", closed.code)
                 : closed.reason;
  if (closed.is_unknown) registration_ = core::Register{connecting_arn_};
  return core::SessionClosed{{closed.code, closed.reason}};
}

void ControlLink::advance(const std::string& arn, base::Time now) {
  wake_at_ = base::Time::max();
  if (!inventory_ || registering_) return;
  if (registration_) {
    start_registration(registration_->container_instance_arn, true);
    registration_.reset();
    return;
  }
  if (arn.empty() || !docker_reason_) return;
  if (now < retry_at_) {
    wake_at_ = retry_at_;
    return;
  }
  const bool docker_answers = docker_reason_->empty();
  const bool went_away = !docker_answers && told_reason_.empty() && socket_ == nullptr;
  const bool came_back = docker_answers && !told_reason_.empty() && connect_;
  if (went_away || came_back || announce_) {
    announce_ = false;
    return start_registration(arn, false);
  }
  if (connect_ && docker_answers) connect(arn);
}

void ControlLink::start_registration(std::string arn, bool for_core) {
  registering_ = true;
  calls_.post([parts = parts_, inventory = *inventory_, arn = std::move(arn), for_core] {
    const auto docker = parts.docker.info();
    RegistrationFacts facts{.options = parts.options,
                            .machine = parts.machine,
                            .gpus = inventory,
                            .docker = docker ? &*docker : nullptr,
                            .status_reason = docker ? "" : docker.error().message,
                            .container_instance_arn = arn,
                            .host_address = own_host_address(parts.options)};
    auto answer = register_instance(parts.api, registration_request(facts));
    if (!answer && for_core && !arn.empty() && is_forgotten(answer.error())) {
      base::log_warning("{} is not known any more ({}); this machine registers anew.", arn,
                        answer.error().message);
      facts.container_instance_arn.clear();
      answer = register_instance(parts.api, registration_request(facts));
    }
    parts.inbox.push(RegistrationDone{std::move(answer), facts.status_reason,
                                      docker ? docker->version : "", for_core});
  });
}

void ControlLink::connect(const std::string& arn) {
  const uint64_t id = ++socket_id_;
  const bool send_credentials = connect_->send_credentials;
  const int64_t highest = connect_->highest;
  connect_.reset();
  connecting_arn_ = arn;
  calls_.post([parts = parts_, exec = exec_.get(), docker_version = docker_version_, arn, id,
               send_credentials, highest] {
    const auto fail = [&inbox = parts.inbox, id](const base::Error& error,
                                                 bool is_unknown = false) {
      inbox.push(
          SocketClosed{SocketKind::Control, id, 0, error.code + ": " + error.message, is_unknown});
    };
    api::ecs::DiscoverPollEndpointRequest request;
    request.cluster = parts.options.cluster;
    request.container_instance = arn;
    const auto endpoint = parts.api.call<api::ecs::DiscoverPollEndpointResponse>(
        api::ecs_service(), "DiscoverPollEndpoint", request);
    if (!endpoint) return fail(with_remedy(endpoint.error()), is_unknown(endpoint.error()));
    auto url = websocket_url(endpoint->endpoint.value_or(""),
                             {{"clusterArn", parts.options.cluster},
                              {"containerInstanceArn", arn},
                              {"agentHash", parts.options.hash},
                              {"agentVersion", parts.options.version},
                              {"dockerVersion", docker_version_text(docker_version)},
                              {"protocolVersion", "2"},
                              {"sendCredentials", send_credentials ? "true" : "false"},
                              {"seqNum", std::to_string(std::max(highest, int64_t{1}))},
                              {"berthPlace", parts.machine.running_place}});
    if (!url) return fail(url.error());
    net::WebSocketRequest open{.url = *url, .headers = parts.api.sign_get(*url)};
    open.tls = parts.api.tls();
    open.options.max_message_bytes = longest_control_message;
    net::WebSocketHandlers handlers{
        .on_message =
            [&inbox = parts.inbox, id, exec](const std::string& text, bool) {
              if (exec != nullptr && exec->take(text)) return;
              auto message = acs::decode_server_message(text);
              if (message) {
                inbox.push(ControlMessage{id, std::move(*message)});
              } else {
                base::log_warning("A message of the control plane is dropped: {}",
                                  message.error().message);
              }
            },
        .on_close =
            [&inbox = parts.inbox, id](uint16_t code, std::string reason) {
              inbox.push(SocketClosed{SocketKind::Control, id, code, std::move(reason)});
            }};
    net::connect_websocket(
        parts.loop, std::move(open), std::move(handlers),
        [&inbox = parts.inbox, id, fail,
         telemetry = endpoint->telemetry_endpoint.value_or("")](auto socket) {
          if (!socket) return fail(socket.error());
          inbox.push(SocketOpened{SocketKind::Control, id, std::move(*socket), telemetry});
        });
  });
}

void ControlLink::stop() {
  if (socket_ != nullptr) socket_->close(net::close_going_away, "The agent stops.");
  calls_.stop();
  if (exec_ != nullptr) exec_->stop();
}

}  // namespace agent
