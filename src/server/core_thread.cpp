#include "server/core_thread.h"

#include <algorithm>

#include "acs/messages.h"
#include "base/format.h"
#include "base/log.h"
#include "base/pace.h"
#include "control/log_streams.h"
#include "model/capabilities.h"
#include "model/ids.h"
#include "server/thread_waits.h"

namespace server {
namespace {

constexpr base::Milliseconds out_of_service_wait{1'000};
// However many there are.
constexpr base::Pace closes_told(1, 20);
constexpr const char* key_taken_back = "the key was taken back";

// An official agent takes 1001 for good order and comes back at once, whatever the reason. After
// 1008 it waits: an hour where the reason is InactiveInstanceException. Source: amazon-ecs-agent,
// ecs-agent/wsclient/client.go (permissibleCloseCode).
uint16_t close_code_of(const base::Error& reason) {
  return reason.code == "ServerException" ? net::close_going_away : net::close_policy_violation;
}

// What people call it: its host, its type.
std::vector<std::string> names_of(const model::ContainerInstance& instance) {
  std::vector<std::string> names;
  for (const std::string_view name :
       {model::attribute_host_name, std::string_view("ecs.instance-type")}) {
    const auto found = instance.attributes.find(std::string(name));
    if (found != instance.attributes.end()) names.push_back(found->second);
  }
  if (names.empty()) names.push_back(instance.ec2_instance_id);
  return names;
}

// Who looks for a machine that is gone finds it here.
void log_connection(const model::ClusterState& state, const model::AgentConnectionChanged& told) {
  const model::ContainerInstance* const instance = model::find_instance(state, told.arn);
  if (instance == nullptr) return;
  const std::string which =
      base::format("container instance {} ({}) of cluster {}", model::short_id(told.arn.str()),
                   base::join(names_of(*instance), ", "), instance->cluster.str());
  if (told.connected && !told.silent) {
    base::log_info("{} is connected", which);
  } else if (told.silent) {
    base::log_warning("{} does not answer: {}", which, told.reason);
  } else {
    base::log_warning("{} is not connected, and gets no more tasks: {}", which, told.reason);
  }
}

}  // namespace

base::Error too_busy() {
  return {"ThrottlingException", "Rate exceeded: the control plane is busy. Try again."};
}

CoreThread::CoreThread(std::unique_ptr<driver::Driver> driver, SharedKeys& keys, base::Clock& clock,
                       MachineOrdered machine_ordered, KeyGone key_gone)
    : driver_(std::move(driver)),
      keys_(keys),
      machine_ordered_(std::move(machine_ordered)),
      key_gone_(std::move(key_gone)),
      clock_(clock) {
  keys_.take_all(driver_->core().state());
  thread_ = std::thread([this] { run(); });
}

CoreThread::~CoreThread() {
  stop();
}

void CoreThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

std::vector<control::Input> CoreThread::take_inputs(std::vector<Work> works) {
  std::vector<control::Input> inputs;
  inputs.reserve(works.size());
  for (Work& work : works) {
    if (auto* const call = std::get_if<CallWork>(&work)) {
      call->call.id = ++last_request_;
      answers_.emplace(call->call.id, std::move(call->answered));
      inputs.emplace_back(std::move(call->call));
    } else if (auto* const opened = std::get_if<SessionOpenedWork>(&work)) {
      sockets_[opened->opened.session] = std::move(opened->socket);
      newest_[opened->opened.instance] = opened->opened.session;
      inputs.emplace_back(std::move(opened->opened));
    } else if (auto* const stream = std::get_if<StreamOpenedWork>(&work)) {
      // Its key may have gone while it was on its way here.
      if (keys_.get()->find(stream->access_key_id) == nullptr) {
        stream->socket->close(net::close_policy_violation, key_taken_back);
      } else {
        streams_.insert_or_assign(stream->stream, std::move(*stream));
      }
    } else if (const auto* const over = std::get_if<StreamClosedWork>(&work)) {
      streams_.erase(over->stream);
    } else if (auto* const message = std::get_if<control::SessionMessage>(&work)) {
      inputs.emplace_back(std::move(*message));
    } else if (auto* const telemetry = std::get_if<control::TelemetryReceived>(&work)) {
      inputs.emplace_back(std::move(*telemetry));
    } else if (auto* const report = std::get_if<control::MachineReport>(&work)) {
      inputs.emplace_back(std::move(*report));
    } else if (const auto* const order = std::get_if<exec::Order>(&work)) {
      give_order(*order);
    } else if (auto* const question = std::get_if<LogQuestion>(&work)) {
      question->answered(control::writes_logs(driver_->core().state(), question->instance,
                                              question->group, question->stream));
    } else {
      auto& closed = std::get<control::SessionClosed>(work);
      sockets_.erase(closed.session);
      inputs.emplace_back(std::move(closed));
    }
  }
  return inputs;
}

// Without a connection it is dropped: the session's client is told that the agent did not answer.
void CoreThread::give_order(const exec::Order& order) {
  const auto newest = newest_.find(model::InstanceArn(order.instance));
  if (newest == newest_.end()) return;
  const auto socket = sockets_.find(newest->second);
  if (socket != sockets_.end()) {
    socket->second->send(order.text);
  } else {
    newest_.erase(newest);
  }
}

// The sessions of agents are closed by the core itself.
void CoreThread::end_with_keys(const std::vector<std::string>& instances) {
  const auto ring = keys_.get();
  std::erase_if(streams_, [&](const auto& entry) {
    const StreamOpenedWork& stream = entry.second;
    if (ring->find(stream.access_key_id) != nullptr) return false;
    stream.socket->close(net::close_policy_violation, key_taken_back);
    return true;
  });
  for (const std::string& instance : instances) key_gone_(instance);
}

void CoreThread::release(driver::Released released) {
  // Before any reply: who has just got a key may use it at once.
  if (released.reloaded && !released.out_of_service) {
    end_with_keys(keys_.take_all(driver_->core().state()));
  } else if (!released.out_of_service) {
    if (released.agent_keys_changed) end_with_keys(keys_.take_agent_keys(driver_->core().state()));
    keys_.take_tasks(driver_->core().state(), released.tasks);
  }
  for (const model::AgentConnectionChanged& connection : released.connections) {
    log_connection(driver_->core().state(), connection);
  }
  for (control::Reply& reply : released.replies) {
    const auto answer = answers_.find(reply.id);
    CHECK(answer != answers_.end());
    answer->second(std::move(reply.result));
    answers_.erase(answer);
  }
  for (const control::ToAgent& message : released.messages) {
    const auto socket = sockets_.find(message.session);
    if (socket != sockets_.end()) socket->second->send(acs::encode(message.message));
  }
  for (const control::CloseSession& close : released.closes) {
    const auto socket = sockets_.find(close.session);
    if (socket == sockets_.end()) continue;
    if (closes_told.pass(closes_due_, clock_.now().time_since_epoch())) {
      base::log_warning("the connection of an agent is closed: {}: {}", close.reason.code,
                        close.reason.message);
    }
    socket->second->send(acs::encode(acs::ServerError{close.reason.code, close.reason.message}));
    socket->second->close(close_code_of(close.reason), close.reason.code);
  }
  for (control::MachineOrder& order : released.machine_orders) {
    machine_ordered_(std::move(order));
  }
  if (released.reloaded) {
    base::log_warning(
        "the state could not be written and is loaded from the store again; agents "
        "reconnect: {}",
        released.reload_cause);
    for (const auto& [session, socket] : sockets_) {
      socket->close(net::close_going_away, "the control plane has restarted");
    }
    sockets_.clear();
  }
  if (released.out_of_service) {
    base::log_error("out of service: {}", released.out_of_service->message);
  }
}

void CoreThread::run() {
  while (true) {
    const base::Milliseconds until_timer = driver_->next_timer() - clock_.now();
    auto works = queue_.pop_batch(most_per_turn,
                                  std::clamp(until_timer, base::Milliseconds{0}, longest_wait));
    if (works.empty() && queue_.closed()) return;
    const base::Time now = clock_.now();
    if (works.empty() && driver_->next_timer() > now) continue;
    auto released = driver_->turn(take_inputs(std::move(works)), now);
    const bool out_of_service = released.out_of_service.has_value();
    release(std::move(released));
    if (out_of_service) std::this_thread::sleep_for(out_of_service_wait);
  }
}

}  // namespace server
