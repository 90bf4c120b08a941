// The control plane of this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/installation.h"
#include "cli/tls_files.h"
#include "server/server.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name.
class App;
}

namespace cli {

struct ServerCommand {
  std::string listen = "127.0.0.1:7117";
  std::string data = default_data_dir().string();
  std::optional<std::string> region;  // None: as the data directory has it.
  std::optional<std::string> account;
  std::string cluster = "default";
  std::string advertise;  // URL for agents on other machines; empty: the listening one.
  std::string log_level = "info";
  TlsCommand tls;
  int32_t agent_timeout_seconds = 60;
  int32_t replace_after_seconds = 600;
  int64_t rate_limit = 5'000;
  size_t gpus_per_instance = 64;
  int32_t log_retention_days = 30;
  int64_t log_group_quota_mib = 2'048;
  int64_t log_quota_mib = 8'192;
  uint64_t audit_file_mib = 32;
  int audit_files = 8;
  std::string machines;  // "exec:FOLDER" or "emulated"; empty: none is launched.
  int32_t scaling_interval_seconds = 60;
  int32_t machine_join_seconds = 900;
};

struct ListenAddress {
  std::string host;
  uint16_t port = 0;  // 0: any free one.
};

// "127.0.0.1:7117". Errors: "InvalidAddress".
base::Result<ListenAddress> parse_listen(const std::string& text);

// Adds the options that `up` and `server` have in common.
void add_server_options(CLI::App& command, ServerCommand& options);

struct LocalServer {
  std::unique_ptr<server::Server> server;
  Credentials credentials;
  net::TlsClientOptions trust;                       // How this machine's agents trust it.
  std::optional<TlsRenewal> renewal = std::nullopt;  // With TLS.
};

// Makes the data directory, the access key and the cluster where they are missing.
// Errors: each names what is in the way and what to do.
base::Result<LocalServer> start_server(const ServerCommand& options, base::Clock& clock);

// Blocks SIGINT and SIGTERM in this thread and those it starts: call it first.
void block_stop_signals();
// Returns when one of them comes.
void wait_for_stop_signal();
// The same, and until then the server serves a new certificate whenever there is one.
void serve_until_stop_signal(LocalServer& local, base::Clock& clock);
// True when one of them came within that time; it is taken then.
bool stop_signal_within(base::Milliseconds timeout);

}  // namespace cli
