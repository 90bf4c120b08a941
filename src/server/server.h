// A running control plane: one endpoint for the public APIs and for agents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/access.h"
#include "base/result.h"
#include "base/time.h"
#include "control/step/settings.h"
#include "logs/limits.h"
#include "machines/provider.h"
#include "net/tls.h"
#include "server/audit_log.h"
#include "store/store.h"

namespace server {

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 7117;        // 0 = any free one.
  std::string advertised_url;  // What agents are told to connect to; empty: made of the above.
  std::string logs_path;       // File of the log store.
  logs::Limits logs_limits;
  AuditLogOptions audit;
  std::string secrets_path;  // File of the secret store.
  std::string secrets_key;   // 32 bytes that its values are sealed with.
  std::optional<net::TlsServerOptions> tls;
  control::Settings settings;  // poll_endpoint is filled in; master_key is what keys come from.
  std::vector<auth::AccessKey> keys;  // Beside those of agents and tasks.
  int io_threads = 2;
  size_t max_connections = 10'000;  // An agent has two, a client one for each call at a time.
  int64_t rate_limit = 0;  // Calls a second of one access key; 0: no limit. See rate_limits.h.
};

class Impl;

class Server {
 public:
  // Takes requests from now on. Errors: those of the store, of the log store's file, of the
  // audit log's and of listening, each naming what to do.
  static base::Result<std::unique_ptr<Server>> start(ServerOptions options,
                                                     std::unique_ptr<store::Store> store,
                                                     base::Clock& clock);
  ~Server();  // Does stop().
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  const std::string& url() const;  // "http://127.0.0.1:7117".
  // Of a server with `tls`: as net::HttpServer::use_certificate.
  base::Result<void> use_certificate(const net::TlsServerOptions& options);
  // Where the machines of Auto Scaling groups come from; once. Until then no machine is launched.
  void use_machines(std::unique_ptr<machines::MachineProvider> provider);
  // Answers what has come in, closes everything and joins all threads.
  void stop();

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace server
