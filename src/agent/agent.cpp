#include "agent/agent.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/api_client.h"
#include "agent/docker_events.h"
#include "agent/driver.h"
#include "agent/machine_identity.h"
#include "agent/metadata_server.h"
#include "agent/namespace_socket.h"
#include "base/format.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "net/loop.h"

namespace agent {
namespace {

constexpr std::string_view instance_id_setting = "instance-id";
constexpr std::string_view metadata_port_setting = "metadata-port";
constexpr size_t event_capacity = size_t{1} << 20;

std::unexpected<base::Error> bad_option(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

base::Result<void> check_options(const AgentOptions& options) {
  if (options.data_dir.empty()) return bad_option("The agent was given no data directory.");
  if (options.access_key_id.empty() || options.secret_access_key.empty()) {
    return bad_option(
        "The agent was given no access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.");
  }
  if (options.cluster.empty()) return bad_option("The agent was given no cluster's name.");
  if (options.region.empty()) return bad_option("The agent was given no region.");
  return {};
}

base::Result<void> make_data_dir(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    error.assign(errno, std::generic_category());
  }
  if (!error && !std::filesystem::is_directory(path, error)) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (!error) return {};
  return base::fail("IoError", base::format("The agent's data directory {} cannot be made: {}.",
                                            path.string(), error.message()));
}

base::Result<std::string> instance_id(const AgentOptions& options, Journal& journal) {
  if (auto known = TRY(journal.setting(instance_id_setting))) {
    if (options.instance_id.empty() || options.instance_id == *known) return std::move(*known);
    return bad_option(base::format(
        "The data directory {} is of the machine {}, not of {}: give this machine one of its own.",
        options.data_dir.string(), *known, options.instance_id));
  }
  base::Random random(base::system_seed());
  std::string made = options.instance_id.empty() ? "i-" + random.hex(17) : options.instance_id;
  TRY_VOID(journal.set_setting(instance_id_setting, made));
  return made;
}

// Tells the directory from every other on this machine, also from one of the same path that an
// agent in a container has.
base::Result<std::string> identity_of(const std::filesystem::path& data_dir) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(data_dir, error);
  struct stat found = {};
  if (error || ::stat(whole.c_str(), &found) != 0) {
    return base::fail("IoError", base::format("The agent's data directory {} cannot be read: {}.",
                                              data_dir.string(), std::strerror(errno)));
  }
  return base::format("{} ({}:{})", whole.string(), found.st_dev, found.st_ino);
}

core::Config make_config(const AgentOptions& options, std::string agent_data) {
  core::Config config;
  config.cluster = options.cluster;
  config.agent_name = options.agent_name;
  config.agent_data = std::move(agent_data);
  config.region = options.region;
  config.random_seed = base::system_seed();
  config.pull_behavior = options.pull_behavior;
  config.stop_timeout = options.stop_timeout;
  config.pids_limit = options.pids_limit;
  config.bounds = options.bounds;
  config.log_max_size = options.container_log_size;
  config.gpu_release_timeout = options.gpu_release_timeout;
  const MpsDirectories mps = mps_directories(options.data_dir);
  config.mps_pipe_directory = mps.pipe.string();
  config.mps_log_directory = mps.log.string();
  config.cleanup_wait = options.cleanup_wait;
  return config;
}

}  // namespace

class Impl {
 public:
  Impl(AgentOptions options, base::Clock& clock) : options_(std::move(options)), clock_(clock) {}
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  base::Result<void> start(std::unique_ptr<gpu::Devices> devices, DockerAccess docker) {
    TRY_VOID(check_options(options_));
    api_ =
        TRY(ApiClient::create({.server_urls = options_.server_urls,
                               .credentials = {options_.access_key_id, options_.secret_access_key,
                                               options_.session_token},
                               .tls = options_.tls,
                               .region = options_.region},
                              clock_));
    TRY_VOID(make_data_dir(options_.data_dir));
    auto journal = TRY(Journal::open(options_.data_dir / "agent.db"));
    const auto info = docker.runtime.info();
    const MachineIdentity identity =
        machine_identity(read_machine_id(), info ? info->id : std::string());
    TRY_VOID(bind_to_machine(*journal, identity, options_.adopt_data, options_.data_dir));
    std::string id = TRY(instance_id(options_, *journal));
    machine_ = TRY(describe_machine(options_, std::move(id)));
    if (options_.agent_name.empty()) options_.agent_name = machine_.instance_id;
    std::string agent_data = TRY(identity_of(options_.data_dir));
    machine_.identity = identity.machine.empty() ? identity.docker : identity.machine;
    machine_.running_place = running_place(agent_data);
    core::Config config = make_config(options_, std::move(agent_data));
    if (info) config.default_log_driver = info->default_log_driver;
    TRY_VOID(serve_metadata(*journal, config));
    driver_ = TRY(
        Driver::create({.options = options_,
                        .machine = machine_,
                        .docker = docker,
                        .api = *api_,
                        .loop = loop_,
                        .inbox = inbox_,
                        .clock = clock_,
                        .journal = std::move(journal),
                        .gpus = std::make_unique<GpuAccess>(std::move(devices), docker.processes,
                                                            mps_directories(options_.data_dir)),
                        .metadata = metadata_},
                       std::move(config)));
    events_ = std::make_unique<DockerEvents>(docker, options_.agent_name, inbox_, clock_);
    driver_->start();
    return {};
  }

  void stop() {
    inbox_.close();
    if (events_) events_->stop();
    if (api_) api_->cancel();
    if (driver_) driver_->stop();
    tasks_loop_.stop();
    loop_.stop();
    if (std::exchange(drops_, false)) {
      for (const auto& taken_back :
           {drop_no_more(metadata_address), forward_again(instance_metadata_address)}) {
        if (!taken_back) base::log_warning("{}", taken_back.error().message);
      }
    }
  }

  AgentStatus status() {
    const auto answer = std::make_shared<base::Queue<AgentStatus>>(1);  // Shared with the driver.
    if (inbox_.push(StatusAsked{answer})) {
      if (auto status = answer->pop()) return std::move(*status);
    }
    AgentStatus stopped;
    stopped.reason = "The agent has stopped.";
    return stopped;
  }

  bool stop_all_tasks(const std::string& reason, base::Milliseconds timeout) {
    const auto stopped = std::make_shared<base::Queue<bool>>(1);  // Shared with the driver.
    if (!inbox_.push(StopAllAsked{reason, stopped})) return false;
    if (!stopped->pop_batch(1, timeout).empty()) return true;
    const AgentStatus now = status();
    return now.idle && now.reason != "The agent has stopped.";
  }

  const std::string& name() const { return options_.agent_name; }
  const std::string& instance_id_text() const { return machine_.instance_id; }

 private:
  // Containers know the port: it stays the same.
  base::Result<void> serve_metadata(Journal& journal, core::Config& config) {
    const auto known = TRY(journal.setting(metadata_port_setting));
    const uint16_t wanted = base::parse_number<uint16_t>(known.value_or("")).value_or(0);
    const uint16_t port = TRY(metadata_.serve_host(wanted));
    if (port != wanted) {
      TRY_VOID(journal.set_setting(metadata_port_setting, base::format("{}", port)));
    }
    config.host_metadata_uri = base::format("http://127.0.0.1:{}", port);
    if (may_enter_namespaces()) {
      config.metadata_uri = base::format("http://{}", metadata_address);
      if (const auto dropped = drop_in_own_network(metadata_address); !dropped) {
        base::log_warning("A container's first request for its metadata may leave the machine: {}",
                          dropped.error().message);
      }
      drops_ = true;
      if (options_.allow_instance_metadata) {
        // An earlier start may have been ended before it took it back.
        static_cast<void>(forward_again(instance_metadata_address));
      } else if (const auto dropped = drop_forwarded(instance_metadata_address); !dropped) {
        base::log_warning("Tasks may reach {}, which has this machine's own keys on a cloud: {}",
                          instance_metadata_address, dropped.error().message);
      }
    } else {
      base::log_info(
          "containers get no task metadata endpoint and no keys of a task role, except with "
          "network mode host: to serve them in their networks the agent has to run as root. "
          "Neither does it keep tasks from {}, which has this machine's own keys on a cloud",
          instance_metadata_address);
    }
    return {};
  }

  AgentOptions options_;
  base::Clock& clock_;
  bool drops_ = false;  // What is sent to the metadata address outside of containers.
  Machine machine_;
  Inbox inbox_{event_capacity};
  net::Loop loop_{1};
  net::Loop tasks_loop_{1};  // What tasks ask does not keep the agent's own connections waiting.
  MetadataServer metadata_{tasks_loop_, inbox_, clock_};
  std::unique_ptr<ApiClient> api_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<DockerEvents> events_;
};

base::Result<std::unique_ptr<Agent>> Agent::start(AgentOptions options,
                                                  std::unique_ptr<gpu::Devices> devices,
                                                  DockerAccess docker, base::Clock& clock) {
  auto impl = std::make_unique<Impl>(std::move(options), clock);
  TRY_VOID(impl->start(std::move(devices), docker));
  return std::unique_ptr<Agent>(new Agent(std::move(impl)));
}

Agent::Agent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;
void Agent::stop() {
  impl_->stop();
}
bool Agent::stop_all_tasks(const std::string& reason, base::Milliseconds timeout) {
  return impl_->stop_all_tasks(reason, timeout);
}
AgentStatus Agent::status() {
  return impl_->status();
}
const std::string& Agent::name() const {
  return impl_->name();
}
const std::string& Agent::instance_id() const {
  return impl_->instance_id_text();
}

}  // namespace agent
