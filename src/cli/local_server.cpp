#include "cli/local_server.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "base/log.h"
#include "base/open_files.h"
#include "base/text.h"
#include "cli/audit.h"
#include "cli/client.h"
#include "cli/data_check.h"
#include "net/http.h"
#include "net/http_server.h"
#include "store/sqlite/sqlite_store.h"

namespace cli {
namespace {

constexpr base::Milliseconds between_looks_at_certificate{10'000};
constexpr int64_t most_quota_mib = int64_t{1} << 30;

base::LogLevel level_of(const std::string& text) {
  if (text == "debug") return base::LogLevel::Debug;
  if (text == "warning") return base::LogLevel::Warning;
  if (text == "error") return base::LogLevel::Error;
  return base::LogLevel::Info;
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

base::Result<void> ensure_cluster(const Credentials& credentials, const std::string& name) {
  api::ecs::CreateClusterRequest request;
  request.cluster_name = name;
  TRY_VOID(call<api::ecs::CreateClusterResponse>(credentials, api::ecs_service(), "CreateCluster",
                                                 request));
  return {};
}

// A dead connection shows within two thirds of the time, and one that was closed has a sixth to
// come back; official agents want to hear something at least once a minute.
void set_agent_timeout(int32_t seconds, control::Settings& settings) {
  const base::Milliseconds timeout = std::chrono::seconds(seconds);
  settings.heartbeat_interval = timeout / 2;
  settings.heartbeat_timeout = timeout / 3;
  settings.disconnect_grace = timeout / 6;
}

std::string host_of(const std::string& url) {
  const auto parsed = net::parse_url(url);
  return parsed ? parsed->host : std::string();
}

// What clients may call this server.
std::vector<std::string> tls_names(const ServerCommand& options, const ListenAddress& address) {
  std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  if (address.host != "0.0.0.0" && address.host != "::") add(address.host);
  add(host_of(options.advertise));
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) add(host.data());
  for (const std::string& name : options.tls.names) add(name);
  return names;
}

// How this machine reaches its server: a certificate of the operator's may not be for its address.
base::Result<std::string> local_url(const ServerCommand& options, const server::Server& server,
                                    const std::optional<ServerTls>& tls) {
  if (!tls || tls->names.empty()) return server.url();
  const auto covers = [&](const std::string& url) {
    return std::ranges::find(tls->names, host_of(url)) != tls->names.end();
  };
  if (covers(server.url())) return server.url();
  if (!options.advertise.empty()) return options.advertise;
  return base::fail(
      "InvalidParameterException",
      base::format("The certificate of --tls-cert is for {}, not for {}: name the URL "
                   "that it is for with --advertise https://{}:{}.",
                   base::join(tls->names, ", "), host_of(server.url()), tls->names.front(),
                   server.port()));
}

// Leaves some files to what is no connection: one connection too many is told so, where a
// descriptor too few would break something.
size_t most_connections() {
  constexpr size_t most = 100'000;
  // Files of the stores, the log, programs for machines; and connections that are only refused.
  constexpr size_t others = 192 + net::refused_at_once;
  constexpr size_t fewest = 16;
  return std::clamp(base::raise_open_files_limit(), fewest + others, most + others) - others;
}

base::Result<LocalServer> start_on(const std::filesystem::path& dir, const ServerCommand& options,
                                   base::Clock& clock) {
  base::set_log_level(level_of(options.log_level));
  const ListenAddress address = TRY(parse_listen(options.listen));
  TRY_VOID(make_data_dir(dir));
  TRY_VOID(check_complete(dir));
  LocalServer local;
  local.credentials = TRY(ensure_credentials(dir, options.region, options.account));
  auto store = TRY(store::SqliteStore::open((dir / "state.db").string()));

  server::ServerOptions made;
  made.address = address.host;
  made.port = address.port;
  made.advertised_url = options.advertise;
  made.logs_path = (dir / "logs.db").string();
  made.logs_limits = {.retention_days = options.log_retention_days,
                      .group_bytes = options.log_group_quota_mib << 20,
                      .file_bytes = options.log_quota_mib << 20,
                      .disk_bytes = logs::disk_reserve(made.logs_path)};
  base::log_info(
      "log groups without a retention of their own keep their events for {} days, each keeps {} "
      "MiB "
      "at most and all together {} MiB (--log-retention, --log-group-quota, --log-quota; 0: no "
      "limit)",
      options.log_retention_days, options.log_group_quota_mib, options.log_quota_mib);
  made.rate_limit = options.rate_limit;
  made.max_connections = most_connections();
  made.settings.account = {local.credentials.region, local.credentials.account};
  made.settings.most_gpus_per_instance = options.gpus_per_instance;
  set_agent_timeout(options.agent_timeout_seconds, made.settings);
  made.settings.instance_lost_after = std::chrono::seconds(options.replace_after_seconds);
  made.settings.machines.scaling_interval = std::chrono::seconds(options.scaling_interval_seconds);
  made.settings.machines.join_within = std::chrono::seconds(options.machine_join_seconds);
  auto tls = TRY(server_tls(options.tls, dir, tls_names(options, address), clock.now()));
  if (tls) made.tls = tls->options;
  made.audit = {.path = (dir / audit_file).string(),
                .file_bytes = options.audit_file_mib << 20,
                .files = options.audit_files};
  made.secrets_path = (dir / "secrets.db").string();
  made.secrets_key = TRY(ensure_key_file(dir / "secrets.key"));
  made.settings.master_key = TRY(ensure_key_file(dir / "master.key"));
  made.keys.push_back(access_key(local.credentials));
  auto started = server::Server::start(std::move(made), std::move(store), clock);
  if (!started && started.error().code == "AddressInUse") {
    started.error().message += base::format(
        ". Is a server running there already? `--listen {}:0` takes any free port.", address.host);
  }
  local.server = TRY(std::move(started));
  local.credentials.url = TRY(local_url(options, *local.server, tls));
  local.credentials.advertised_url = options.advertise;
  local.credentials.ca_file = tls ? tls->authority_file : std::string();
  if (tls) {
    local.trust.ca_pem = tls->authority_pem;
    local.renewal.emplace(options.tls, dir, tls_names(options, address), tls->options);
  }
  TRY_VOID(write_credentials(dir, local.credentials));
  TRY_VOID(ensure_cluster(local.credentials, options.cluster));
  return local;
}

}  // namespace

base::Result<ListenAddress> parse_listen(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    const auto port = base::parse_number<uint16_t>(text.substr(colon + 1));
    if (port) return ListenAddress{text.substr(0, colon), *port};
  }
  return base::fail(
      "InvalidAddress",
      base::format("--listen is \"{}\"; write ADDRESS:PORT, such as 127.0.0.1:7117", text));
}

void add_server_options(CLI::App& command, ServerCommand& options) {
  command.add_option("--listen", options.listen, "Address and port to take requests on.")
      ->capture_default_str();
  command.add_option("--data", options.data, "Directory of all that is kept.")
      ->capture_default_str();
  command.add_option("--region", options.region,
                     "AWS region name that clients sign for and ARNs have; of a new directory, "
                     "which keeps it (us-east-1).");
  command
      .add_option("--account", options.account,
                  "AWS account id in the ARNs, 12 digits; of a new directory, which keeps it "
                  "(123456789012).")
      ->check(CLI::Validator(
          [](std::string& text) {
            const bool digits =
                text.size() == 12 && text.find_first_not_of("0123456789") == std::string::npos;
            return digits ? std::string() : std::string("must have 12 digits");
          },
          "", ""));
  command.add_option("--cluster", options.cluster, "Cluster that is made at once.")
      ->capture_default_str();
  command.add_option("--advertise", options.advertise,
                     "URL at which agents on other machines reach this server.");
  command
      .add_option("--rate-limit", options.rate_limit,
                  "Calls a second of one access key, twice as many at once; more is answered "
                  "with ThrottlingException. 0: no limit.")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}))
      ->capture_default_str();
  command
      .add_option("--gpus-per-instance", options.gpus_per_instance,
                  "GPUs that a machine may register, MIG devices counted one each.")
      ->check(CLI::Range(size_t{1}, size_t{1'000}))
      ->capture_default_str();
  command
      .add_option("--log-retention", options.log_retention_days,
                  "Days for which the events of log groups are kept that have no retention of "
                  "their own. 0: for ever.")
      ->check(CLI::Range(0, 3'653))
      ->capture_default_str();
  command
      .add_option("--log-group-quota", options.log_group_quota_mib,
                  "MiB of events that one log group keeps; its oldest are removed. 0: no limit.")
      ->check(CLI::Range(int64_t{0}, most_quota_mib))
      ->capture_default_str();
  command
      .add_option("--log-quota", options.log_quota_mib,
                  "MiB that all events take in the data directory; the oldest of the largest log "
                  "group are removed. 0: no limit.")
      ->check(CLI::Range(int64_t{0}, most_quota_mib))
      ->capture_default_str();
  command
      .add_option("--audit-log-size", options.audit_file_mib,
                  "MiB after which the audit log begins a new file.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'024}))
      ->capture_default_str();
  command
      .add_option("--audit-log-files", options.audit_files,
                  "Files of the audit log that are kept; `berth audit` reads them.")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command.add_flag("--tls", options.tls.own_authority,
                   "Serve https with a certificate of the server's own authority, which is kept in "
                   "the data directory (ca.pem): agents and clients must trust it.");
  command
      .add_option("--tls-name", options.tls.names,
                  "With --tls: more host names and addresses that clients use, with commas.")
      ->delimiter(',');
  command.add_option("--tls-cert", options.tls.certificate_file,
                     "Serve https with this certificate and those behind it, PEM.");
  command.add_option("--tls-key", options.tls.key_file, "The private key of --tls-cert, PEM.");
  command
      .add_option("--agent-timeout", options.agent_timeout_seconds,
                  "Seconds after which a silent agent counts as disconnected and gets no tasks.")
      ->check(CLI::Range(3, 100))
      ->capture_default_str();
  command
      .add_option("--replace-after", options.replace_after_seconds,
                  "Seconds after which the service tasks of an instance whose agent stays away are "
                  "replaced elsewhere.")
      ->check(CLI::Range(1, 7 * 24 * 3600))
      ->capture_default_str();
  command.add_option("--machines", options.machines,
                     "Where machines of Auto Scaling groups come from: exec:FOLDER with the "
                     "programs launch, terminate and list, or with `berth up` emulated.");
  command
      .add_option("--scaling-interval", options.scaling_interval_seconds,
                  "Seconds between two points of CapacityProviderReservation; capacity goes down "
                  "after 15 of them.")
      ->check(CLI::Range(1, 3'600))
      ->capture_default_str();
  command
      .add_option("--machine-join-timeout", options.machine_join_seconds,
                  "Seconds after which a launched machine that no agent has registered is "
                  "replaced.")
      ->check(CLI::Range(1, 24 * 3'600))
      ->capture_default_str();
  command.add_option("--log-level", options.log_level, "debug, info, warning or error.")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
}

base::Result<LocalServer> start_server(const ServerCommand& options, base::Clock& clock) {
  const std::filesystem::path dir = std::filesystem::absolute(options.data);
  auto started = start_on(dir, options, clock);
  if (!started && (started.error().code == "Corrupt" || started.error().code == "StoreCorrupt")) {
    // Whatever it is that is damaged, one command puts all of it in place.
    return base::fail(started.error().code,
                      base::format("{} `berth restore FILE --data {}` puts a backup in place.",
                                   started.error().message, dir.string()));
  }
  return started;
}

void block_stop_signals() {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void wait_for_stop_signal() {
  const sigset_t signals = stop_signals();
  int signal = 0;
  sigwait(&signals, &signal);
}

void serve_until_stop_signal(LocalServer& local, base::Clock& clock) {
  if (!local.renewal) return wait_for_stop_signal();
  while (!stop_signal_within(between_looks_at_certificate)) {
    const auto used = [&]() -> base::Result<bool> {
      const auto found = TRY(local.renewal->look(clock.now()));
      if (found) TRY_VOID(local.server->use_certificate(*found));
      return found.has_value();
    }();
    if (!used) {
      base::log_error("the server goes on with the certificate that it has: {}",
                      used.error().message);
    } else if (*used) {
      base::log_info("new connections get the server's new certificate");
    }
  }
}

bool stop_signal_within(base::Milliseconds timeout) {
  const sigset_t signals = stop_signals();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  const timespec limit{.tv_sec = seconds.count(),
                       .tv_nsec = std::chrono::nanoseconds(timeout - seconds).count()};
  return sigtimedwait(&signals, nullptr, &limit) > 0;
}

}  // namespace cli
