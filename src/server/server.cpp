#include "server/server.h"

#include <utility>
#include <vector>

#include "api/generated/ecs.h"
#include "api/generated/ssm.h"
#include "api/generated/sts.h"
#include "auth/permission.h"
#include "base/format.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/random.h"
#include "control/operations.h"
#include "driver/driver.h"
#include "exec/calls.h"
#include "exec/plan.h"
#include "exec/relay.h"
#include "logs/threads.h"
#include "machines/workers.h"
#include "net/http_server.h"
#include "net/loop.h"
#include "server/agent_sockets.h"
#include "server/audit_thread.h"
#include "server/core_thread.h"
#include "server/front.h"
#include "server/rate_limits.h"
#include "server/request_ids.h"
#include "server/secrets_thread.h"
#include "server/shared_keys.h"
#include "server/used_signatures.h"

namespace server {
namespace {

constexpr base::Milliseconds lead_patience{10'000};
constexpr size_t most_verifiers = 64;
constexpr size_t most_admitted = 1'000;  // Refused by their heads, and not waited for.

base::Error protocol_error(int status, std::string_view why) {
  std::string code = "BadRequestException";
  if (status == 408) code = "RequestTimeoutException";
  if (status == 413) code = "RequestEntityTooLargeException";
  if (status == 429) code = "ThrottlingException";
  if (status == 431) code = "RequestHeaderFieldsTooLargeException";
  if (status == 500) code = "InternalFailure";
  if (status == 503) code = "ServiceUnavailableException";
  return {std::move(code), std::string(why)};
}

api::Any caller_identity(const auth::Caller& caller) {
  api::sts::GetCallerIdentityResponse response;
  response.account = caller.account;
  response.arn = caller.arn;
  response.user_id = caller.user_id;
  return api::Any::make(std::move(response));
}

base::Error too_many(const auth::Caller& caller, int64_t rate_limit) {
  return {"ThrottlingException",
          base::format("Rate exceeded: the access key {} makes more than {} calls a second. Slow "
                       "down and try again, or start the server with a higher --rate-limit.",
                       caller.access_key_id, rate_limit)};
}

// A machine that may not join says so in its own log only, and what it claims may be another's: the
// operator is told, with the host. So many at once, however many there are.
constexpr base::Pace refusals_told(1, 20);

base::Error too_many_handshakes(std::string_view instance) {
  return {"ThrottlingException",
          base::format("Rate exceeded: the agent of {} opens websockets too often. It has to wait "
                       "between two attempts.",
                       instance)};
}

std::unexpected<base::Error> not_of_its_tasks(std::string_view instance, std::string_view group,
                                              std::string_view stream) {
  return base::fail(
      "AccessDeniedException",
      base::format("An agent makes the log groups and streams of its tasks: no task on the "
                   "container instance {} writes to the log group {}{}{}.",
                   instance, group, stream.empty() ? "" : ", stream ", stream));
}

auth::KeyRing with_mint(const ServerOptions& options) {
  auth::KeyRing ring(auth::KeyDerivation(options.settings.master_key));
  for (const auth::AccessKey& key : options.keys) ring.put(key);
  return ring;
}

}  // namespace

// Everything of one server. Members are made in the order in which they are needed and stopped in
// the opposite one.
class Impl {
 public:
  Impl(ServerOptions options, std::unique_ptr<store::Store> store, base::Clock& clock)
      : options_(std::move(options)),
        keys_(with_mint(options_), auth::KeyDerivation(options_.settings.master_key),
              options_.settings.account),
        store_(std::move(store)),
        clock_(clock),
        request_ids_(base::system_seed()),
        loop_(options_.io_threads),
        machines_(clock_,
                  [this](control::MachineReport report) { core_->push(std::move(report)); }) {}

  base::Result<void> start() {
    // Each connection waits for one answer at a time.
    audit_.emplace(TRY(AuditLog::open(options_.audit)), options_.max_connections + most_admitted,
                   clock_);
    net::HttpServerOptions http;
    http.address = options_.address;
    http.port = options_.port;
    http.tls = options_.tls;
    http.body_limit = body_limit;
    http.admit = [this](const net::HttpRequest& head) { return admit(head); };
    http.max_connections = options_.max_connections;
    http.max_newcomers = options_.max_connections / 4;
    http.max_newcomers_of_address = options_.max_connections / 8;
    http.max_connections_of_account = options_.max_connections / 2;
    // Living agents answer the pings that come at half of it.
    http.web_socket.idle_timeout = std::chrono::minutes(5);
    http.on_protocol_error = [this](int status, std::string_view why) {
      net::HttpResponse response =
          write_error(nullptr, Wire::Json, protocol_error(status, why), request_ids_.next());
      // What is too much is told as AWS tells it, so that SDKs wait and try again.
      response.status = status == 429 ? 400 : status;
      return response;
    };
    secrets_.emplace(TRY(secrets::Service::open(
                         options_.secrets_path, options_.secrets_key,
                         {options_.settings.account.region, options_.settings.account.id})),
                     clock_);
    logs_.emplace(TRY(logs::open_store(options_.logs_path, options_.settings.account.region,
                                       options_.settings.account.id, options_.logs_limits)),
                  clock_);
    // The port is taken before the store, so that a second server on it harms nothing; requests
    // wait until the core is there.
    http_ = TRY(net::HttpServer::create(
        loop_, std::move(http),
        [this](net::HttpRequest request, net::Responder responder) {
          handle(std::move(request), std::move(responder));
        },
        [this](net::HttpRequest request, net::Upgrade upgrade) {
          handle_upgrade(request, upgrade);
        }));
    const std::string scheme = options_.tls ? "https" : "http";
    url_ =
        base::format("{}://{}:{}", scheme,
                     options_.address == "0.0.0.0" ? "127.0.0.1" : options_.address, http_->port());
    options_.settings.poll_endpoint =
        options_.advertised_url.empty() ? url_ : options_.advertised_url;
    auto driver =
        TRY(driver::Driver::start(*store_, options_.settings, base::system_seed(),
                                  options_.settings.poll_endpoint, lead_patience, clock_.now()));
    exec_.emplace(clock_, [this](exec::LogCall call, exec::Relay::LogAnswered answered) {
      return logs_->try_push({call.operation,
                              std::move(call.input),
                              {.kind = logs::Writer::Kind::Server},
                              std::move(answered)});
    });
    core_.emplace(
        std::move(driver), keys_, clock_,
        [this](control::MachineOrder order) { machines_.push(std::move(order)); },
        [this](const std::string& instance) { exec_->end_all_of(instance); });
    exec_calls_.emplace(core_access(), *exec_, options_.settings.poll_endpoint);
    sockets_.emplace(*core_, loop_, clock_);
    ready_ = true;
    return {};
  }

  void stop() {
    ready_ = false;
    machines_.stop();
    if (exec_) exec_->stop();  // Before its connections are closed: its sessions are told why.
    if (http_) http_->stop();
    if (core_) core_->stop();
    if (secrets_) secrets_->stop();
    if (logs_) logs_->stop();
    if (audit_) audit_->stop();  // After all who answer.
    loop_.stop();
  }

  void use_machines(std::unique_ptr<machines::MachineProvider> provider) {
    machines_.start(std::move(provider));
  }

  base::Result<void> use_certificate(const net::TlsServerOptions& options) {
    return http_->use_certificate(options);
  }

  uint16_t port() const { return http_->port(); }
  const std::string& url() const { return url_; }

 private:
  // Verifiers belong to one thread at a time; there are as many as I/O threads use at once.
  template <class Read>
  auto with_verifier(Read&& read) {
    auto pooled = verifiers_.pop_batch(1, base::Milliseconds{0});
    auth::Verifier verifier = pooled.empty()
                                  ? auth::Verifier({.region = options_.settings.account.region,
                                                    .services = service_names()})
                                  : std::move(pooled.front());
    auto result = read(verifier);
    verifiers_.try_push(std::move(verifier));
    return result;
  }

  net::Admission admit(const net::HttpRequest& head) {
    auto key = with_verifier([&](const auth::Verifier& verifier) {
      return read_claimed_key(head, verifier, *keys_.get(), clock_.now());
    });
    if (key) return {.account = std::move(*key), .refusal = {}};
    const std::string request_id = request_ids_.next();
    if (is_refusal(key.error())) {
      audit_->record({claimed_call(head, request_id, clock_.now()), base::fail(key.error()), {}});
    }
    return {
        .account = {},
        .refusal = write_error(addressed_service(head), wire_of(head), key.error(), request_id)};
  }

  // `answer` once the audit log has the refusal; at once where it is no refusal.
  void refuse(AuditedCall call, base::Error error, std::move_only_function<void()> answer) {
    if (!is_refusal(error)) return answer();
    audit_->record({std::move(call), base::fail(std::move(error)),
                    [this, answer = std::move(answer)](const AuditedResult&) mutable {
                      loop_.post(std::move(answer));
                    }});
  }

  void handle(net::HttpRequest request, const net::Responder& responder) {
    const std::string request_id = request_ids_.next();
    const Wire wire = wire_of(request);
    if (request.target == "/health") {
      responder.respond({.status = ready_ ? 200 : 503, .headers = {}, .body = "berth\n"});
      return;
    }
    if (!ready_) {
      responder.respond(write_error(
          addressed_service(request), wire,
          {"ServiceUnavailableException", "The control plane is starting."}, request_id));
      return;
    }
    auto call = with_verifier([&](auth::Verifier& verifier) -> base::Result<Call> {
      Call read = TRY(read_call(request, verifier, *keys_.get(), clock_.now()));
      TRY_VOID(keys_.check(read.caller));
      return read;
    });
    if (!call) {
      refuse(claimed_call(request, request_id, clock_.now()), call.error(),
             [responder, response = write_error(addressed_service(request), wire, call.error(),
                                                request_id)] { responder.respond(response); });
      return;
    }
    if (!call->caller.access_key_id.empty()) responder.vouch(call->caller.access_key_id);
    if (!rate_limits_.pass(call->caller.access_key_id, call->operation->name, clock_.monotonic())) {
      responder.respond(write_error(call->service, wire,
                                    too_many(call->caller, options_.rate_limit), request_id));
      return;
    }
    dispatch(std::move(*call), wire, request_id, responder);
  }

  void dispatch(Call call, Wire wire, const std::string& request_id,
                const net::Responder& responder) {
    const api::Service* const service = call.service;
    const Destination destination = call.destination;
    // The core asks by itself, for the cluster and the instance that a call is about. Everybody
    // may know who he is.
    if (destination != Destination::Core && destination != Destination::CallerIdentity) {
      const auto allowed = allow_elsewhere(call);
      if (!allowed) {
        refuse(audited_call(call, request_id), allowed.error(),
               [responder, response = write_error(service, wire, allowed.error(), request_id)] {
                 responder.respond(response);
               });
        return;
      }
    }
    bool taken = false;
    switch (destination) {
      case Destination::CallerIdentity:
        responder.respond(write_answer(call, wire, caller_identity(call.caller), request_id));
        return;
      case Destination::ExecuteCommand:
        return execute_command(std::move(call), wire, request_id, responder);
      case Destination::SessionManager:
        taken = session_call(std::move(call), wire, request_id, responder);
        break;
      case Destination::Secrets: {
        SecretsWork work{call.service, call.operation, std::move(call.input), {}, {}};
        if (const auto* const task = std::get_if<auth::TaskAccess>(&call.caller.access)) {
          work.reach = task->secrets;
        }
        work.answered = answer_later(std::move(call), wire, request_id, responder);
        taken = secrets_->try_push(std::move(work));
        break;
      }
      case Destination::Logs:
        taken = logs_call(std::move(call), wire, request_id, responder);
        break;
      case Destination::Core: {
        CallWork work{{0, call.action, std::move(call.input), call.caller,
                       std::string(host_of(call.remote_address))},
                      {}};
        work.answered = answer_later(std::move(call), wire, request_id, responder);
        taken = core_->try_push(std::move(work));
        break;
      }
    }
    if (!taken) responder.respond(write_error(service, wire, too_busy(), request_id));
  }

  exec::CoreAccess core_access() {
    return {.ask =
                [this](std::string_view operation, api::Any input, const auth::Caller& caller,
                       Answered answered) {
                  const control::Action* const action = control::find_action("ecs", operation);
                  CHECK(action != nullptr);
                  Work work =
                      CallWork{{0, action, std::move(input), caller, {}}, std::move(answered)};
                  if (core_->try_push(std::move(work))) return;
                  std::get<CallWork>(work).answered(base::fail(too_busy()));
                },
            .give_order = [this](exec::Order order) { return core_->try_push(std::move(order)); },
            .busy = too_busy()};
  }

  void execute_command(Call call, Wire wire, const std::string& request_id,
                       const net::Responder& responder) {
    auto request = std::move(call.input.as<api::ecs::ExecuteCommandRequest>());
    const auth::Caller caller = call.caller;
    exec_calls_->execute_command(std::move(request), caller,
                                 answer_later(std::move(call), wire, request_id, responder));
  }

  // An agent makes the log groups and streams of the tasks that run on its instance; what it may
  // write to is kept with them (logs/stream_writers.h).
  // False: there is no room for it.
  bool logs_call(Call call, Wire wire, const std::string& request_id,
                 const net::Responder& responder) {
    const auto* const agent = std::get_if<auth::AgentAccess>(&call.caller.access);
    LogQuestion question{model::InstanceArn(agent == nullptr ? "" : agent->container_instance),
                         text_member(call.input, "logGroupName"),
                         text_member(call.input, "logStreamName"),
                         {}};
    logs::Work work{call.operation, std::move(call.input), {}, {}};
    if (agent != nullptr) {
      work.writer = {.kind = logs::Writer::Kind::Agent, .instance = agent->container_instance};
    } else if (std::holds_alternative<auth::TaskAccess>(call.caller.access)) {
      work.writer = {.kind = logs::Writer::Kind::TaskRole};
    }
    const bool makes = agent != nullptr && call.operation->name.starts_with("Create");
    work.answered = answer_later(std::move(call), wire, request_id, responder);
    if (!makes) return logs_->try_push(std::move(work));
    question.answered = [this, work = std::move(work), group = question.group,
                         stream = question.stream](bool yes) mutable {
      if (!yes) return work.answered(not_of_its_tasks(work.writer.instance, group, stream));
      if (!logs_->try_push(std::move(work))) work.answered(base::fail(too_busy()));
    };
    return core_->try_push(std::move(question));
  }

  // What the plugin behind `aws ecs execute-command` asks of Session Manager.
  // False: there is no room for it.
  bool session_call(Call call, Wire wire, const std::string& request_id,
                    const net::Responder& responder) {
    if (const auto* const resume = call.input.get_if<api::ssm::ResumeSessionRequest>()) {
      exec::Resumption plan =
          exec::plan_resumption(resume->session_id.value_or(""), options_.settings.poll_endpoint);
      std::string id = *plan.response.session_id;
      return exec_->resume(id, std::move(plan.client_token),
                           [id, response = std::move(plan.response),
                            answer = answer_later(std::move(call), wire, request_id, responder)](
                               bool known) mutable {
                             if (!known) response = {.session_id = std::move(id)};
                             answer(api::Any::make(std::move(response)));
                           });
    }
    std::string id = call.input.as<api::ssm::TerminateSessionRequest>().session_id.value_or("");
    return exec_->terminate(id, [id, answer = answer_later(std::move(call), wire, request_id,
                                                           responder)](bool known) mutable {
      if (!known) {
        return answer(base::fail("DoesNotExistException",
                                 "There is no session " + id + ", or it has ended."));
      }
      answer(api::Any::make(api::ssm::TerminateSessionResponse{.session_id = std::move(id)}));
    });
  }

  // Of the services whose threads do not know the cluster's state.
  static base::Result<void> allow_elsewhere(const Call& call) {
    return auth::allow(call.caller, {.service = call.service->name,
                                     .operation = call.operation->name,
                                     .resource = text_member(call.input, "logGroupName")});
  }

  void tell_of_refusal(const Call& call, const base::Error& error) {
    if (call.operation->name != "RegisterContainerInstance") return;
    if (!refusals_told.pass(refusals_due_, clock_.monotonic())) return;
    base::log_warning("a container instance at {} was refused, with the key {}: {}",
                      call.remote_address, call.caller.access_key_id, error.message);
  }

  // Takes the answer on the thread that made it and writes it on an I/O thread, once the audit log
  // has what belongs there.
  Answered answer_later(Call call, Wire wire, std::string request_id, net::Responder responder) {
    return [this, call = std::move(call), wire, request_id = std::move(request_id),
            responder](std::expected<api::Any, base::Error> result) mutable {
      const bool audited = call.audited || (!result && is_refusal(result.error()));
      AuditedCall told = audited ? audited_call(call, request_id) : AuditedCall{};
      auto answer = [this, call = std::move(call), wire, request_id = std::move(request_id),
                     responder = std::move(responder)](AuditedResult written) mutable {
        loop_.post([this, call = std::move(call), wire, request_id = std::move(request_id),
                    responder = std::move(responder), result = std::move(written)] {
          if (!result) tell_of_refusal(call, result.error());
          responder.respond(result ? write_answer(call, wire, *result, request_id)
                                   : write_error(call.service, wire, result.error(), request_id));
        });
      };
      if (!audited) return answer(std::move(result));
      audit_->record({std::move(told), std::move(result), std::move(answer)});
    };
  }

  void handle_upgrade(const net::HttpRequest& request, const net::Upgrade& upgrade) {
    const std::string request_id = request_ids_.next();
    if (!ready_) {
      upgrade.refuse(write_error(nullptr, Wire::Json,
                                 {"ServiceUnavailableException", "The control plane is starting."},
                                 request_id));
      return;
    }
    if (exec::Relay::is_for(request.target)) {
      exec_->open(request, upgrade);  // Its tokens are the proof.
      return;
    }
    std::optional<auth::Caller> caller;
    const auto opened = with_verifier([&](auth::Verifier& verifier) -> base::Result<void> {
      const base::Time now = clock_.now();
      const SignedUpgrade opening = TRY(read_upgrade(request, verifier, *keys_.get(), now));
      TRY_VOID(keys_.check(opening.caller));
      caller = opening.caller;
      const std::string instance = AgentSockets::instance_of(request.target);
      if (!handshakes_.pass(opening.caller, instance, clock_.monotonic())) {
        return base::fail(too_many_handshakes(instance));
      }
      TRY_VOID(used_signatures_->take(opening.signature, opening.signed_at, opening.good_until, now,
                                      clock_.monotonic()));
      return sockets_->open(request, opening.caller, upgrade);
    });
    if (!opened) {
      AuditedCall call = claimed_call(request, request_id, clock_.now());
      call.caller = std::move(caller);
      call.operation = AgentSockets::operation_of(request.target);
      refuse(std::move(call), opened.error(),
             [upgrade, response = write_error(nullptr, Wire::Json, opened.error(), request_id)] {
               upgrade.refuse(response);
             });
    }
  }

  ServerOptions options_;
  SharedKeys keys_;
  std::unique_ptr<store::Store> store_;
  base::Clock& clock_;
  RequestIds request_ids_;
  RateLimits rate_limits_{options_.rate_limit};
  Handshakes handshakes_;
  std::unique_ptr<UsedSignatures> used_signatures_ =
      std::make_unique<UsedSignatures>(clock_.monotonic());  // Large.
  std::atomic<int64_t> refusals_due_ = 0;                    // Of refusals_told.
  std::string url_;
  std::atomic<bool> ready_ = false;
  base::Queue<auth::Verifier> verifiers_{most_verifiers};
  net::Loop loop_;
  machines::MachineWorkers machines_;
  std::optional<AuditThread> audit_;
  std::optional<SecretsThread> secrets_;
  std::optional<logs::Threads> logs_;
  std::optional<exec::Relay> exec_;
  std::optional<CoreThread> core_;
  std::optional<exec::Calls> exec_calls_;
  std::optional<AgentSockets> sockets_;
  std::unique_ptr<net::HttpServer> http_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() {
  stop();
}

base::Result<std::unique_ptr<Server>> Server::start(ServerOptions options,
                                                    std::unique_ptr<store::Store> store,
                                                    base::Clock& clock) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(store), clock);
  std::unique_ptr<Server> made(new Server(std::move(impl)));
  TRY_VOID(made->impl_->start());
  return made;
}

uint16_t Server::port() const {
  return impl_->port();
}
const std::string& Server::url() const {
  return impl_->url();
}
base::Result<void> Server::use_certificate(const net::TlsServerOptions& options) {
  return impl_->use_certificate(options);
}
void Server::use_machines(std::unique_ptr<machines::MachineProvider> provider) {
  impl_->use_machines(std::move(provider));
}
void Server::stop() {
  impl_->stop();
}

}  // namespace server
