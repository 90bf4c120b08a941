#include "agent/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "agent/core/container_body.h"
#include "agent/core/container_network.h"
#include "base/log.h"
#include "gpu/health.h"

namespace agent {
namespace {

constexpr size_t largest_batch = 512;
constexpr base::Milliseconds longest_wait = std::chrono::minutes(1);
// A delivered line is known to the log service; the agent's own note of it may come a little later.
constexpr base::Milliseconds positions_delay{1'000};
constexpr base::Milliseconds gpu_look_interval{5'000};
constexpr std::string_view baselines_setting = "gpu-baselines";
constexpr std::string_view image_uses_setting = "image-uses";

void write_note(const core::Note& note) {
  switch (note.level) {
    case core::Note::Level::Info:
      return base::log_info("{}", note.text);
    case core::Note::Level::Warning:
      return base::log_warning("{}", note.text);
    case core::Note::Level::Error:
      return base::log_error("{}", note.text);
  }
}

bool holds_gpus(const core::Core& core) {
  return std::ranges::any_of(core.tasks(), [](const auto& entry) {
    return std::ranges::any_of(entry.second.gpus,
                               [](const core::GpuWork& gpu) { return !gpu.settled; });
  });
}

bool shares_gpus(const core::Core& core) {
  return std::ranges::any_of(core.tasks(), [](const auto& entry) {
    return std::ranges::any_of(entry.second.gpus,
                               [](const core::GpuWork& gpu) { return gpu.shared && !gpu.settled; });
  });
}

// Everything has stopped, and the control plane knows it.
bool all_told(const core::Core& core) {
  return std::ranges::all_of(core.tasks(),
                             [](const auto& entry) { return entry.second.settled(); });
}

// Where the output of the container goes that has this id; nullopt when the agent does not ship it.
std::optional<core::ShipLogs> logs_of(const core::Core& core, const std::string& runtime_id) {
  for (const auto& [arn, task] : core.tasks()) {
    for (size_t i = 0; i < task.record.containers.size(); ++i) {
      if (task.record.containers[i].runtime_id == runtime_id) {
        return core::log_shipping(core.config(), task, i);
      }
    }
  }
  return std::nullopt;
}

// The task of the container with this id, when the metadata endpoint belongs into its network: it
// has one of its own, which it holds itself.
std::string network_holder(const core::Core& core, const std::string& runtime_id) {
  for (const auto& [arn, task] : core.tasks()) {
    for (size_t i = 0; i < task.record.containers.size(); ++i) {
      if (task.record.containers[i].runtime_id != runtime_id) continue;
      const bool pause = core::is_pause(task.payload.containers[i]);
      const bool holds = core::has_task_network(task.payload)
                             ? pause
                             : !pause && core::network_mode(task.payload) != "host";
      return holds ? arn : std::string();
    }
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Driver>> Driver::create(Parts parts, core::Config config) {
  const auto records = TRY(parts.journal->records());
  Kept kept;
  kept.log_positions = TRY(parts.journal->log_positions());
  kept.image_uses = parse_image_uses(TRY(parts.journal->setting(image_uses_setting)).value_or(""));
  for (const auto& [image, used_at] : kept.image_uses) config.pulled_images.insert(image);
  auto core = TRY(core::Core::create(std::move(config), records, parts.clock.now()));
  const auto text = TRY(parts.journal->setting(baselines_setting));
  // While a task of an earlier process may be on a GPU, what is there now says nothing.
  if (holds_gpus(core)) kept.baselines = parse_baselines(text.value_or(""));
  return std::unique_ptr<Driver>(new Driver(std::move(parts), std::move(core), std::move(kept)));
}

Driver::Driver(Parts parts, core::Core core, Kept kept)
    : clock_(parts.clock),
      inbox_(parts.inbox),
      options_(parts.options),
      machine_(parts.machine),
      journal_(std::move(parts.journal)),
      core_(std::move(core)),
      link_({parts.options, parts.machine, parts.docker.runtime, parts.api, parts.loop, parts.inbox,
             parts.clock}),
      operations_({parts.docker, parts.api, parts.inbox, parts.clock, std::move(parts.gpus),
                   parts.options}),
      metadata_(parts.metadata),
      cleanup_(parts.options.cleanup, std::move(kept.image_uses)),
      telemetry_({parts.options, parts.api, parts.loop, parts.inbox}),
      log_positions_(std::move(kept.log_positions)) {
  operations_.find_gpus(std::move(kept.baselines));
}

void Driver::start() {
  thread_ = std::jthread([this] { run(); });
}

void Driver::stop() {
  if (thread_.joinable()) thread_.join();
}

void Driver::run() {
  while (run_once()) {
  }
  metadata_.stop();
  link_.stop();
  telemetry_.stop();
  operations_.stop();
  if (!shares_gpus(core_)) operations_.stop_gpu_sharing();
  // Whoever still waits for an answer is told that there is none.
  inbox_.close();
  while (std::optional<Input> left = inbox_.pop()) {
    if (const auto* status = std::get_if<StatusAsked>(&*left)) status->answer->close();
    if (const auto* stop = std::get_if<StopAllAsked>(&*left)) stop->stopped->close();
    if (const auto* socket = std::get_if<MetadataSocket>(&*left)) ::close(socket->socket);
  }
  for (const StopAllAsked& asked : stop_all_) asked.stopped->close();
}

bool Driver::run_once() {
  std::vector<Input> batch = inbox_.pop_batch(largest_batch, until_next(clock_.now()));
  const base::Time now = clock_.now();
  if (batch.empty() && inbox_.closed()) {
    positions_due_ = now;  // What is known of the deliveries is kept.
    const base::Result<void> kept = commit(now);
    if (!kept) base::log_error("The agent's journal cannot be written: {}", kept.error().message);
    return false;
  }
  for (Input& input : batch) take(std::move(input), now);
  if (now >= core_wake_at_) step(core::Tick{}, now);
  const base::Result<void> committed = commit(now);
  if (!committed) {
    fail(committed.error());
    return false;
  }
  release(now);
  return true;
}

base::Milliseconds Driver::until_next(base::Time now) const {
  const base::Time next =
      std::min({core_wake_at_, link_.wake_at(), telemetry_.wake_at(), positions_due_, gpu_look_due_,
                container_look_due_, cleanup_.wake_at(), now + longest_wait});
  return next <= now ? base::Milliseconds{0} : next - now;
}

void Driver::take(Input input, base::Time now) {
  std::optional<core::Input> told;
  if (auto* known = std::get_if<core::Input>(&input)) {
    note_docker(*known);
    told = std::move(*known);
  } else if (auto* gpus = std::get_if<GpusFound>(&input)) {
    baselines_to_write_ = print_baselines(gpus->baselines);
    gpus_ = std::move(gpus->inventory);
    gpu_look_due_ = now;
    link_.gpus_are(gpus_);
  } else if (auto* seen = std::get_if<GpusLookedAt>(&input)) {
    take_gpu_look(std::move(*seen), now);
  } else if (auto* looked = std::get_if<ContainersLookedAt>(&input)) {
    container_look_due_ = now + options_.metrics_interval;
    container_meter_.take(std::move(looked->samples));
  } else if (auto* setup = std::get_if<GpuSetupDone>(&input)) {
    operations_.on_gpu_setup(std::move(*setup));
  } else if (auto* registration = std::get_if<RegistrationDone>(&input)) {
    registered_ = registered_ || registration->container_instance_arn.has_value();
    told = link_.on_registration(std::move(*registration), now);
  } else if (auto* opened = std::get_if<SocketOpened>(&input)) {
    if (opened->kind == SocketKind::Control) {
      told = link_.on_opened(std::move(*opened));
    } else {
      telemetry_.on_opened(std::move(*opened), now);
    }
  } else if (auto* closed = std::get_if<SocketClosed>(&input)) {
    if (closed->kind == SocketKind::Control) {
      told = link_.on_closed(*closed);
    } else {
      telemetry_.on_closed(*closed, now);
    }
  } else if (auto* message = std::get_if<ControlMessage>(&input)) {
    if (link_.is_current(message->id)) told = core::SessionMessage{std::move(message->message)};
  } else if (auto* asked = std::get_if<MetadataAsked>(&input)) {
    take_metadata(std::move(*asked));
  } else if (auto* socket = std::get_if<MetadataSocket>(&input)) {
    metadata_.serve(socket->runtime_id, socket->task_arn, socket->pid, socket->socket);
  } else if (auto* figures = std::get_if<GpuFiguresDone>(&input)) {
    operations_.on_gpu_figures(std::move(*figures));
  } else if (auto* cleaned = std::get_if<CleanupDone>(&input)) {
    told = cleanup_.on_cleaned(*cleaned, now);
  } else if (auto* moved = std::get_if<LogsMoved>(&input)) {
    log_positions_[moved->key] = moved->position;
    unwritten_positions_[moved->key] = std::move(moved->position);
    positions_due_ = std::min(positions_due_, now + positions_delay);
  } else if (auto* status = std::get_if<StatusAsked>(&input)) {
    take_status(*status);
  } else if (auto* stop = std::get_if<StopAllAsked>(&input)) {
    told = core::StopAllTasks{stop->reason};
    stop_all_.push_back(std::move(*stop));
  }
  if (told) step(std::move(*told), now);
}

// One look at a time: a driver in trouble answers late.
void Driver::look_at_gpus(base::Time now) {
  if (now < gpu_look_due_) return;
  gpu_look_due_ = base::Time::max();
  std::vector<std::string> uuids;
  for (const model::GpuDevice& gpu : gpus_.gpus) uuids.push_back(gpu.uuid);
  operations_.look_at_gpus(std::move(uuids));
}

// One look at a time. An idle machine is looked at too: what runs at one look is measured from then
// on.
void Driver::look_at_containers(base::Time now) {
  if (now < container_look_due_) return;
  if (!core_.runtime_ready()) {
    container_look_due_ = now + options_.metrics_interval;
    return;
  }
  container_look_due_ = base::Time::max();
  std::vector<std::string> running;
  for (const auto& [arn, task] : core_.tasks()) {
    for (const core::ContainerRecord& container : task.record.containers) {
      if (container.status == core::ContainerStatus::Running) {
        running.push_back(container.runtime_id);
      }
    }
  }
  operations_.look_at_containers(std::move(running));
}

void Driver::take_gpu_look(GpusLookedAt seen, base::Time now) {
  gpu_look_due_ = now + gpu_look_interval;
  for (const gpu::HealthEvent& event : seen.events) {
    base::log_warning("GPU {}: {}", event.uuid.empty() ? "(all)" : event.uuid, event.reason);
  }
  const bool first = gpu_figures_.empty() && !seen.figures.empty();
  const bool changed = gpu::apply_health(seen.events, gpus_);
  gpu_figures_ = std::move(seen.figures);
  if (changed) link_.gpus_changed(gpus_);
  if (changed || first) telemetry_.hurry(now);
}

void Driver::note_docker(const core::Input& input) {
  if (std::holds_alternative<core::RuntimeReady>(input)) {
    link_.docker_is("");
  } else if (const auto* lost = std::get_if<core::RuntimeLost>(&input)) {
    link_.docker_is(lost->reason);
  } else if (const auto* done = std::get_if<core::OperationDone>(&input)) {
    operations_.on_done(done->id);
    cleanup_.on_done(*done, clock_.now());
    find_endpoints(*done);
  }
}

void Driver::take_metadata(MetadataAsked asked) {
  const MetadataView view{core_, credentials_, gpus_, machine_.availability_zone};
  if (auto protection = answer_protection(view, asked.task_arn, asked.request)) {
    if (auto* wanted = std::get_if<ProtectionWanted>(&*protection)) {
      return operations_.answer_protection(std::move(*wanted), std::move(asked.responder));
    }
    asked.responder.respond(std::move(std::get<net::HttpResponse>(*protection)));
    return;
  }
  if (asked.request.method != "GET") {
    asked.responder.respond(json_response(405, json::Value("only GET is answered here")));
    return;
  }
  auto answer = answer_metadata(view, asked.task_arn, asked.request.target);
  if (auto* wanted = std::get_if<StatsWanted>(&answer)) {
    return operations_.answer_stats(std::move(*wanted), std::move(asked.responder));
  }
  if (auto* wanted = std::get_if<TagsWanted>(&answer)) {
    return operations_.answer_tags(std::move(*wanted), std::move(asked.responder));
  }
  asked.responder.respond(std::move(std::get<net::HttpResponse>(answer)));
}

// What runs since before this process, or was started anew, has no endpoint yet.
void Driver::find_endpoints(const core::OperationDone& done) {
  if (!done.result || core_.config().metadata_uri.empty()) return;
  if (const auto* info = std::get_if<core::ContainerInfo>(&*done.result)) {
    return find_endpoint(*info);
  }
  const auto* snapshot = std::get_if<core::Snapshot>(&*done.result);
  if (snapshot == nullptr) return;
  for (const core::ContainerInfo& info : snapshot->containers) find_endpoint(info);
}

void Driver::find_endpoint(const core::ContainerInfo& info) {
  if (info.pid <= 0 || metadata_.serves(info.runtime_id, info.pid)) return;
  const std::string task = network_holder(core_, info.runtime_id);
  if (!task.empty()) operations_.open_endpoint(task, info.runtime_id, info.pid);
}

// A socket keeps its network alive.
void Driver::drop_endpoints() {
  std::set<std::string> running;
  for (const auto& [arn, task] : core_.tasks()) {
    for (const core::ContainerRecord& container : task.record.containers) {
      if (container.status != core::ContainerStatus::Stopped) running.insert(container.runtime_id);
    }
  }
  metadata_.retain([&](const std::string& runtime_id) { return running.contains(runtime_id); });
}

void Driver::step(core::Input input, base::Time now) {
  outputs_.push_back(core_.step(std::move(input), now));
  core_wake_at_ = outputs_.back().wake_at;
}

void Driver::take_status(const StatusAsked& asked) {
  AgentStatus status;
  status.container_instance_arn = core_.container_instance_arn();
  status.registered = registered_;
  status.connected = link_.connected();
  status.docker_ready = core_.runtime_ready();
  status.reason = !status.docker_ready ? core_.runtime_reason()
                  : status.connected   ? std::string()
                                       : link_.trouble();
  for (const auto& [arn, task] : core_.tasks()) status.tasks += task.all_stopped() ? 0 : 1;
  status.idle = core_.idle();
  asked.answer->push(std::move(status));
}

base::Result<void> Driver::commit(base::Time now) {
  Journal::Writes writes;
  for (core::Output& output : outputs_) {
    std::ranges::move(output.journal, std::back_inserter(writes.records));
    for (const std::string& arn : output.forgotten_tasks) {
      std::erase_if(log_positions_, [&](const auto& entry) {
        if (entry.first.task_arn != arn) return false;
        unwritten_positions_[entry.first] = std::nullopt;
        return true;
      });
    }
  }
  if (baselines_to_write_) {
    TRY_VOID(journal_->set_setting(baselines_setting, *baselines_to_write_));
    baselines_to_write_.reset();
  }
  if (const auto uses = cleanup_.take_changes()) {
    TRY_VOID(journal_->set_setting(image_uses_setting, *uses));
  }
  const bool positions_due = now >= positions_due_;
  if (writes.records.empty() && !(positions_due && !unwritten_positions_.empty())) return {};
  writes.log_positions = std::exchange(unwritten_positions_, {});
  positions_due_ = base::Time::max();
  return journal_->commit(writes);
}

void Driver::release(base::Time now) {
  for (core::Output& output : std::exchange(outputs_, {})) {
    for (const core::Note& note : output.notes) write_note(note);
    for (core::CredentialsSet& keys : output.credentials) credentials_.set(std::move(keys));
    for (const core::OperationId id : output.cancelled) operations_.cancel(id);
    for (const std::string& arn : output.forgotten_tasks) {
      operations_.forget_task(arn);
    }
    for (core::Operation& operation : output.operations) begin(std::move(operation));
    link_.send(output.messages);
    for (core::Submit& submit : output.submits) link_.submit(std::move(submit));
    for (const auto& command : output.session) link_.want_session(command);
    if (output.registration) link_.want_registration(std::move(*output.registration));
  }
  drop_endpoints();
  credentials_.retain([this](const std::string& arn) {
    const auto task = core_.tasks().find(arn);
    return task != core_.tasks().end() && !task->second.all_stopped();
  });
  if (auto request = cleanup_.advance(core_, now)) operations_.clean_up(std::move(*request));
  link_.advance(core_.container_instance_arn(), now);
  telemetry_.advance({core_, gpus_, gpu_figures_, container_meter_.figures()}, link_, now);
  look_at_gpus(now);
  look_at_containers(now);
  answer_stopped();
}

void Driver::begin(core::Operation operation) {
  cleanup_.on_begin(operation, clock_.now());
  Operations::Context context;
  if (const auto* start = std::get_if<core::StartContainer>(&operation.request)) {
    context.logs = logs_of(core_, start->runtime_id);
    if (!core_.config().metadata_uri.empty()) {
      context.endpoint_of = network_holder(core_, start->runtime_id);
    }
  } else if (const auto* ship = std::get_if<core::ShipLogs>(&operation.request)) {
    context.log_position = log_positions_[{ship->task_arn, ship->container_name}];
  } else if (const auto* create = std::get_if<core::CreateContainer>(&operation.request)) {
    context.keys = credentials_.execution_keys(create->task_arn);
  } else if (const auto* pull = std::get_if<core::PullImage>(&operation.request)) {
    context.keys = credentials_.execution_keys(pull->task_arn);
  }
  operations_.begin(std::move(operation), std::move(context));
}

void Driver::answer_stopped() {
  if (stop_all_.empty() || !core_.idle() || !all_told(core_)) return;
  for (const StopAllAsked& asked : std::exchange(stop_all_, {})) asked.stopped->push(true);
}

void Driver::fail(const base::Error& error) {
  base::log_error(
      "The agent ends, since its journal cannot be written; its containers keep running. {}: {}",
      error.code, error.message);
  inbox_.close();
  if (options_.on_fatal) return options_.on_fatal(error);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace agent
