#include "cli/local_server.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "base/log.h"
#include "cli/client.h"
#include "store/sqlite/sqlite_store.h"

namespace cli {
namespace {

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

}  // namespace

base::Result<ListenAddress> parse_listen(const std::string& text) {
  const size_t colon = text.rfind(':');
  uint16_t port = 0;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ec == std::errc{} && parsed.ptr == end && colon > 0) {
      return ListenAddress{text.substr(0, colon), port};
    }
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
  command.add_option("--region", options.region, "AWS region name that clients sign for.")
      ->capture_default_str();
  command.add_option("--account", options.account, "AWS account id in the ARNs, 12 digits.")
      ->check(CLI::Validator(
          [](std::string& text) {
            const bool digits =
                text.size() == 12 && text.find_first_not_of("0123456789") == std::string::npos;
            return digits ? std::string() : std::string("must have 12 digits");
          },
          "", ""))
      ->capture_default_str();
  command.add_option("--cluster", options.cluster, "Cluster that is made at once.")
      ->capture_default_str();
  command.add_option("--advertise", options.advertise,
                     "URL at which agents on other machines reach this server.");
  command.add_option("--log-level", options.log_level, "debug, info, warning or error.")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
}

base::Result<LocalServer> start_server(const ServerCommand& options, base::Clock& clock) {
  base::set_log_level(level_of(options.log_level));
  const ListenAddress address = TRY(parse_listen(options.listen));
  const std::filesystem::path dir = std::filesystem::absolute(options.data);
  TRY_VOID(make_data_dir(dir));
  auto store = TRY(store::SqliteStore::open((dir / "state.db").string()));
  LocalServer local;
  local.credentials = TRY(ensure_credentials(dir));
  local.credentials.region = options.region;
  local.credentials.account = options.account;

  server::ServerOptions made;
  made.address = address.host;
  made.port = address.port;
  made.advertised_url = options.advertise;
  made.logs_path = (dir / "logs.db").string();
  made.settings.account = {options.region, options.account};
  made.keys.put(access_key(local.credentials));
  local.server = TRY(server::Server::start(std::move(made), std::move(store), clock));
  local.credentials.url = local.server->url();
  TRY_VOID(write_credentials(dir, local.credentials));
  TRY_VOID(ensure_cluster(local.credentials, options.cluster));
  return local;
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

bool stop_signal_within(base::Milliseconds timeout) {
  const sigset_t signals = stop_signals();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  const timespec limit{.tv_sec = seconds.count(),
                       .tv_nsec = std::chrono::nanoseconds(timeout - seconds).count()};
  return sigtimedwait(&signals, nullptr, &limit) > 0;
}

}  // namespace cli
