#include "sim/agent_link.h"

#include <utility>

#include "sim/registration.h"

namespace sim {
namespace {

using agent::core::SubmitOutcome;

constexpr base::Milliseconds announce_retry{2'000};
constexpr base::Milliseconds handshake_limit = std::chrono::seconds(20);

bool got_no_answer(const base::Error& error) {
  return error.code == unreachable;
}

// As the real agent: what the control plane says of an instance that it does not know any more.
bool is_forgotten(const base::Error& error) {
  return !got_no_answer(error) && (error.message.find("not found") != std::string::npos ||
                                   error.message.find("deregistered") != std::string::npos);
}

bool is_pointless(const base::Error& error) {
  return error.code == "InvalidParameterException" || error.code == "ClientException";
}

}  // namespace

AgentLink::AgentLink(Environment& environment, Machine& machine, Link& link, Server& server,
                     Tell tell)
    : environment_(environment),
      machine_(machine),
      link_(link),
      server_(server),
      tell_(std::move(tell)) {
  for (const auto& [uuid, gpu] : machine_.gpus().all()) {
    if (gpu.on_bus) found_gpus_.insert(uuid);
  }
}

void AgentLink::die() {
  life_->over = true;
  if (connection_ != nullptr) connection_->close_by_agent("the agent's process has died");
  connection_.reset();
}

void AgentLink::want_registration(agent::core::Register registration) {
  registration_ = std::move(registration);
}

void AgentLink::want_session(const acs::AgentSession::Command& command) {
  if (const auto* wanted = std::get_if<acs::AgentSession::Connect>(&command)) {
    connect_ = *wanted;
    return;
  }
  if (connection_ == nullptr) return;
  connection_->close_by_agent(std::get<acs::AgentSession::Disconnect>(command).reason);
  environment_.events.after(base::Milliseconds{1}, [this, life = life_, socket = socket_] {
    if (!life->over) socket_closed(socket, 1000, "");
  });
}

void AgentLink::send(const std::vector<acs::AgentMessage>& messages) {
  if (!connected_) return;
  for (const acs::AgentMessage& message : messages) connection_->send_to_server(message);
}

void AgentLink::submit(const agent::core::Submit& submit) {
  call_api<api::ecs::SubmitTaskStateChangeResponse>(
      environment_, link_, server_, "SubmitTaskStateChange", submit.request,
      [this, life = life_,
       id = submit.id](const base::Result<api::ecs::SubmitTaskStateChangeResponse>& answer) {
        if (life->over) return;
        if (answer) return tell_(agent::core::SubmitDone{id, SubmitOutcome::Accepted, {}});
        tell_(agent::core::SubmitDone{
            id, is_pointless(answer.error()) ? SubmitOutcome::Refused : SubmitOutcome::Retry,
            answer.error()});
      });
}

void AgentLink::docker_is(std::string reason) {
  docker_reason_ = std::move(reason);
}

void AgentLink::announce() {
  announce_ = true;
  advance(arn_);
}

void AgentLink::advance(const std::string& arn) {
  arn_ = arn;
  if (registering_) return;
  if (registration_) {
    const std::string known = registration_->container_instance_arn;
    registration_.reset();
    return start_registration(known, true);
  }
  if (arn.empty() || !docker_reason_) return;
  if (environment_.events.now() < retry_at_) return;
  const bool docker_answers = docker_reason_->empty();
  const bool went_away = !docker_answers && told_reason_.empty() && !connected_;
  const bool came_back = docker_answers && !told_reason_.empty() && connect_;
  if (went_away || came_back || announce_) {
    announce_ = false;
    return start_registration(arn, false);
  }
  if (connect_ && docker_answers) connect(arn);
}

void AgentLink::start_registration(const std::string& arn, bool for_core) {
  registering_ = true;
  const std::string reason =
      machine_.docker_up() ? "" : "Cannot connect to the Docker daemon. Is it running?";
  using Response = api::ecs::RegisterContainerInstanceResponse;
  const auto answered = [this, life = life_, for_core, reason](const base::Result<Response>& it) {
    if (!life->over) registered(for_core, reason, it);
  };
  const auto again = [this, life = life_, arn, for_core, reason,
                      answered](const base::Result<Response>& answer) {
    if (life->over) return;
    if (answer || !for_core || arn.empty() || !is_forgotten(answer.error())) {
      return answered(answer);
    }
    environment_.tell(base::format("agent {}", machine_.name()), "is not known any more: {}",
                      answer.error().message);
    call_api<Response>(environment_, link_, server_, "RegisterContainerInstance",
                       registration_request(machine_, found_gpus_, reason, ""), answered);
  };
  call_api<Response>(environment_, link_, server_, "RegisterContainerInstance",
                     registration_request(machine_, found_gpus_, reason, arn), again);
}

void AgentLink::registered(
    bool for_core, const std::string& told_reason,
    const base::Result<api::ecs::RegisterContainerInstanceResponse>& answer) {
  registering_ = false;
  if (answer) {
    told_reason_ = told_reason;
    const auto& instance = answer->container_instance;
    CHECK(instance && instance->container_instance_arn);
    if (for_core) tell_(agent::core::Registered{*instance->container_instance_arn});
  } else if (for_core) {
    tell_(agent::core::RegisterFailed{answer.error(), !got_no_answer(answer.error())});
  } else {
    announce_ = true;
    retry_at_ = environment_.events.now() + announce_retry;
    environment_.events.after(announce_retry, [this, life = life_] {
      if (!life->over) advance(arn_);
    });
  }
  advance(arn_);
}

void AgentLink::connect(const std::string& arn) {
  const acs::AgentSession::Connect how = *connect_;
  connect_.reset();
  const uint64_t socket = ++socket_;
  api::ecs::DiscoverPollEndpointRequest request;
  request.cluster = "default";
  request.container_instance = arn;
  call_api<api::ecs::DiscoverPollEndpointResponse>(
      environment_, link_, server_, "DiscoverPollEndpoint", request,
      [this, life = life_, arn, socket,
       how](const base::Result<api::ecs::DiscoverPollEndpointResponse>& answer) {
        if (life->over || socket != socket_) return;
        if (answer) return open(arn, socket, how);
        socket_closed(socket, 0, answer.error().code + ": " + answer.error().message);
      });
}

void AgentLink::open(const std::string& arn, uint64_t socket,
                     const acs::AgentSession::Connect& how) {
  const auto current = [this, life = life_, socket] { return !life->over && socket == socket_; };
  connection_ = std::make_shared<Connection>(
      environment_, link_, socket,
      Connection::AgentSide{.opened =
                                [this, current] {
                                  if (!current()) return;
                                  connected_ = true;
                                  tell_(agent::core::SessionOpened{});
                                },
                            .heard =
                                [this, current](const acs::ServerMessage& message) {
                                  if (current()) tell_(agent::core::SessionMessage{message});
                                },
                            .closed =
                                [this, current, socket](uint16_t code, const std::string& why) {
                                  if (current()) socket_closed(socket, code, why);
                                }});
  link_.carry([this, current, connection = connection_, arn, how] {
    if (!current() || connection->was_accepted()) return;
    if (!server_.take_connection(connection, "default", arn, how)) {
      socket_closed(socket_, 0, "connection refused");
    }
  });
  environment_.events.after(handshake_limit, [this, current, socket] {
    if (current() && !connected_) socket_closed(socket, 0, "no answer to the handshake");
  });
}

void AgentLink::socket_closed(uint64_t socket, uint16_t code, const std::string& reason) {
  if (socket != socket_) return;
  ++socket_;  // Nothing of this socket is heard any more.
  connected_ = false;
  if (connection_ != nullptr) connection_->close_by_agent("");
  connection_.reset();
  tell_(agent::core::SessionClosed{{code, reason}});
}

}  // namespace sim
