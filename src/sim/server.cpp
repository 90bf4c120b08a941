#include "sim/server.h"

#include <algorithm>
#include <utility>

#include "api/json.h"
#include "control/operations.h"

namespace sim {
namespace {

constexpr std::string_view server_name = "server";
constexpr uint16_t going_away = 1001;
constexpr size_t most_per_turn = 50;
constexpr base::Milliseconds no_patience{0};

store::Store& beneath(std::unique_ptr<store::Store>& mutant, store::Store& faulty) {
  return mutant != nullptr ? *mutant : faulty;
}

template <class... Requests>
void note_task_sets(const api::Any& input, SeenCall& seen) {
  const auto note = [&](const auto* request) {
    if (request != nullptr) seen.task_sets_of = request->service.value_or("");
  };
  (note(input.get_if<Requests>()), ...);
}

SeenCall seen_of(const api::Operation& operation, const api::Any& input) {
  SeenCall seen;
  seen.operation = std::string(operation.name);
  if (const auto* run = input.get_if<api::ecs::RunTaskRequest>()) seen.run_task = *run;
  if (const auto* stop = input.get_if<api::ecs::StopTaskRequest>()) seen.stop_task = *stop;
  if (const auto* report = input.get_if<api::ecs::SubmitTaskStateChangeRequest>()) {
    seen.report = *report;
  }
  if (const auto* create = input.get_if<api::ecs::CreateServiceRequest>()) {
    seen.service = create->service_name.value_or("");
  } else if (const auto* update = input.get_if<api::ecs::UpdateServiceRequest>()) {
    seen.service = update->service.value_or("");
    seen.desired_count = update->desired_count;
  } else if (const auto* remove = input.get_if<api::ecs::DeleteServiceRequest>()) {
    seen.service = remove->service.value_or("");
  } else if (const auto* protection = input.get_if<api::ecs::UpdateTaskProtectionRequest>()) {
    seen.protection = *protection;
  }
  note_task_sets<api::ecs::CreateTaskSetRequest, api::ecs::UpdateTaskSetRequest,
                 api::ecs::UpdateServicePrimaryTaskSetRequest, api::ecs::DeleteTaskSetRequest>(
      input, seen);
  if (const auto* scale = input.get_if<api::ecs::UpdateTaskSetRequest>()) {
    seen.update_task_set = *scale;
  }
  return seen;
}

}  // namespace

Server::Server(Environment& environment, Mutant& mutant, MachineProvider& machines,
               SecretStore& secrets, control::Settings settings, Watcher watcher)
    : environment_(environment),
      mutant_(mutant),
      machines_(machines),
      secrets_(secrets),
      settings_(std::move(settings)),
      watcher_(std::move(watcher)),
      faulty_(memory_, environment.random.next(), {}),
      planted_(mutant.around_store(faulty_)),
      watched_(environment, beneath(planted_, faulty_)) {
  clock_ = environment_.draw_clock();
}

const model::ClusterState* Server::state() const {
  return driver_ == nullptr || out_of_service_ ? nullptr : &driver_->core().state();
}

void Server::apply_rates() {
  faulty_.set_faults(environment_.faults_on ? environment_.rates.store : store::Faults{});
}

void Server::start() {
  if (driver_ != nullptr) return;
  if (environment_.inject(environment_.rates.clock_step)) clock_ = environment_.draw_clock();
  faulty_.restart();
  apply_rates();
  auto started = driver::Driver::start(watched_, settings_, environment_.random.next(), "server",
                                       no_patience, local_now());
  if (!started) {
    environment_.tell(server_name, "cannot start: {}", started.error().message);
    if (environment_.failure) return;
    environment_.events.after(std::chrono::seconds(2), [this] { start(); });
    return;
  }
  driver_ = std::move(*started);
  out_of_service_ = false;
  ++life_;
  environment_.tell(server_name, "is up with {} task(s) on {} instance(s)", state()->tasks.size(),
                    state()->instances.size());
  if (watcher_.loaded) watcher_.loaded(*state());
  schedule_timer();
  if (machines_.is_used()) list_machines();
}

MachineProvider::Report Server::reports() {
  return [this, life = life_](control::MachineReport report) {
    if (life == life_ && driver_ != nullptr) take(std::move(report));
  };
}

// At once, and every minute.
void Server::list_machines() {
  machines_.list(local_now(), reports());
  environment_.events.after(std::chrono::minutes(1), [this, life = life_] {
    if (life == life_ && driver_ != nullptr) list_machines();
  });
}

void Server::die() {
  driver_.reset();
  ++life_;
  inbox_.clear();
  waiting_.clear();
  turn_scheduled_ = false;
  timer_at_ = base::Time::max();
  for (const auto& [session, connection] : std::exchange(connections_, {})) {
    connection->close_by_server(1006, "connection reset");
  }
  mutant_.server_died();
}

void Server::crash(std::string_view why) {
  if (driver_ == nullptr) return;
  environment_.tell(server_name, "dies: {}", why);
  die();
}

void Server::crash_at_commit(uint64_t commits, bool after_the_write) {
  store::Faults faults = environment_.rates.store;
  (after_the_write ? faults.crash_after_commit : faults.crash_before_commit) = commits + 1;
  faulty_.set_faults(faults);
}

void Server::lose_disk() {
  crash("its disk is lost");
  disk_.records.clear();
  disk_.expire_leader();
  watched_.disk_lost();
  secrets_.lose_disk();
}

void Server::take_secret_call(const NamedOperation& operation, const api::Any& input, Reply reply) {
  // Shared by the copies of the answer that are under way.
  const auto answer = std::make_shared<const ApiReply>(
      secrets_.answer(operation, input, settings_, driver_->core().state(), local_now()));
  environment_.events.after(environment_.between(base::Milliseconds{1}, base::Milliseconds{20}),
                            [this, life = life_, answer, reply = std::move(reply)] {
                              if (life == life_) reply(answer);
                            });
}

bool Server::take_call(const NamedOperation& operation, api::Any input, Reply reply) {
  if (driver_ == nullptr) return false;
  if (SecretStore::serves(*operation.service)) {
    take_secret_call(operation, input, std::move(reply));
    return true;
  }
  const control::RequestId id = ++last_request_;
  SeenCall seen = seen_of(*operation.operation, input);
  seen.id = id;
  if (watcher_.called) watcher_.called(seen);
  waiting_.emplace(id, Waiting{std::move(seen), std::move(reply)});
  const control::Action* const action =
      control::find_action(operation.service->name, operation.operation->name);
  CHECK(action != nullptr);
  control::ApiCall call{id, action, std::move(input), {}};
  call.caller.service = operation.service->name;
  take(std::move(call));
  return true;
}

bool Server::take_connection(const std::shared_ptr<Connection>& connection,
                             const std::string& cluster, const std::string& instance,
                             const acs::AgentSession::Connect& how) {
  if (driver_ == nullptr) return false;
  const control::SessionId session = ++last_session_;
  connections_[session] = connection;
  const auto alive = [this, life = life_] { return life == life_; };
  connection->accept({.heard =
                          [this, alive, session](const acs::AgentMessage& message) {
                            if (alive()) take(control::SessionMessage{session, message});
                          },
                      .closed =
                          [this, alive, session](const std::string& reason) {
                            if (!alive()) return;
                            connections_.erase(session);
                            take(control::SessionClosed{session, reason});
                          }});
  take(control::SessionOpened{.session = session,
                              .cluster = model::ClusterName(cluster),
                              .instance = model::InstanceArn(instance),
                              .send_credentials = how.send_credentials,
                              .highest = how.highest});
  return true;
}

void Server::take(control::Input input) {
  inbox_.push_back(std::move(input));
  schedule_turn(environment_.random.chance(50)
                    ? base::Milliseconds{0}
                    : environment_.between(base::Milliseconds{0}, base::Milliseconds{30}));
}

void Server::schedule_turn(base::Milliseconds delay) {
  if (std::exchange(turn_scheduled_, true)) return;
  environment_.events.after(delay, [this, life = life_] {
    if (life != life_ || driver_ == nullptr) return;
    turn_scheduled_ = false;
    turn();
  });
}

void Server::schedule_timer() {
  const base::Time now = environment_.events.now();
  base::Milliseconds wait = clock_.until(driver_->next_timer(), now);
  if (out_of_service_) wait = std::chrono::seconds(1);
  if (now + wait >= timer_at_ && timer_at_ > now) return;
  timer_at_ = now + wait;
  environment_.events.after(wait, [this, life = life_, at = timer_at_] {
    if (life != life_ || driver_ == nullptr || at != timer_at_) return;
    timer_at_ = base::Time::max();
    turn();
  });
}

void Server::turn() {
  const size_t count = std::min(inbox_.size(), most_per_turn);
  std::vector<control::Input> inputs(
      std::make_move_iterator(inbox_.begin()),
      std::make_move_iterator(inbox_.begin() + static_cast<ptrdiff_t>(count)));
  inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<ptrdiff_t>(count));
  if (!inbox_.empty()) schedule_turn(base::Milliseconds{1});
  mutant_.into_driver(inputs);
  const base::Time now = local_now();
  const bool alone = inputs.size() == 1 && driver_->next_timer() > now;
  driver::Released released = driver_->turn(std::move(inputs), now);
  if (faulty_.crashed()) {
    environment_.tell(server_name, "dies in a commit");
    die();
    return environment_.events.after(
        environment_.between(base::Milliseconds{100}, environment_.rates.longest_downtime),
        [this] { start(); });
  }
  mutant_.out_of_driver(released, now);
  out_of_service_ = released.out_of_service.has_value();
  if (released.reloaded) {
    environment_.tell(server_name, "a write failed or its outcome is unknown: {}",
                      out_of_service_ ? "out of service" : "the state was loaded again");
  }
  if (!out_of_service_) {
    std::map<control::RequestId, SeenCall> calls;
    for (const control::Reply& reply : released.replies) {
      const auto found = waiting_.find(reply.id);
      if (found != waiting_.end()) calls.emplace(reply.id, found->second.seen);
    }
    if (released.reloaded && watcher_.loaded) watcher_.loaded(*state());
    if (watcher_.turned) {
      watcher_.turned({.state = *state(),
                       .released = released,
                       .calls = calls,
                       .alone = alone && !released.reloaded,
                       .now = now});
    }
  }
  release(std::move(released));
  schedule_timer();
}

void Server::send(const std::vector<control::ToAgent>& messages) {
  for (const control::ToAgent& message : messages) {
    const auto* const payload = std::get_if<acs::PayloadMessage>(&message.message);
    if (payload != nullptr && environment_.on_written) {
      for (const acs::Task& task : payload->tasks) {
        for (const acs::Container& container : task.containers) {
          environment_.on_written("a payload", api::print(container));
        }
      }
    }
    const auto connection = connections_.find(message.session);
    if (connection != connections_.end()) connection->second->send_to_agent(message.message);
  }
}

void Server::release(driver::Released released) {
  for (control::Reply& reply : released.replies) {
    const auto found = waiting_.find(reply.id);
    if (found == waiting_.end()) continue;
    // Shared by the copies of the answer that are under way.
    found->second.reply(std::make_shared<const ApiReply>(std::move(reply.result)));
    waiting_.erase(found);
  }
  for (const control::MachineOrder& order : released.machine_orders) {
    machines_.carry_out(order, reports());
  }
  mutant_.on_the_wire(released.messages);
  send(released.messages);
  for (const control::CloseSession& close : released.closes) {
    const auto connection = connections_.find(close.session);
    if (connection == connections_.end()) continue;
    connection->second->send_to_agent(acs::ServerError{close.reason.code, close.reason.message});
    connection->second->close_by_server(going_away, close.reason.code);
    connections_.erase(connection);
  }
  if (!released.reloaded) return;
  for (const auto& [session, connection] : std::exchange(connections_, {})) {
    connection->close_by_server(going_away, "the control plane has restarted");
  }
}

}  // namespace sim
