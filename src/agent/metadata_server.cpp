#include "agent/metadata_server.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"

namespace agent {

base::Result<std::unique_ptr<net::HttpServer>> MetadataServer::listen(
    net::HttpServerOptions options, std::string task_arn) {
  options.max_connections = 256;
  return net::HttpServer::create(
      loop_, std::move(options),
      [&inbox = inbox_, arn = std::move(task_arn)](net::HttpRequest request,
                                                   net::Responder responder) {
        inbox.push(MetadataAsked{arn, std::move(request), std::move(responder)});
      });
}

base::Result<uint16_t> MetadataServer::serve_host(uint16_t wanted) {
  auto server = listen({.address = "127.0.0.1", .port = wanted}, {});
  if (!server && wanted != 0) {
    base::log_warning(
        "Port {} of the task metadata endpoint is taken by another program: containers with "
        "network "
        "mode host that were started before do not reach it.",
        wanted);
    server = listen({.address = "127.0.0.1", .port = 0}, {});
  }
  if (!server) return base::fail(server.error());
  host_ = std::move(*server);
  return host_->port();
}

void MetadataServer::serve(const std::string& runtime_id, const std::string& task_arn, int64_t pid,
                           int socket) {
  endpoints_.erase(runtime_id);
  auto server = listen({.listening_socket = socket}, task_arn);
  if (!server) {
    base::log_warning("A container of task {} has no metadata endpoint: {}", task_arn,
                      server.error().message);
    return;
  }
  endpoints_[runtime_id] = {pid, std::move(*server)};
}

bool MetadataServer::serves(const std::string& runtime_id, int64_t pid) const {
  const auto found = endpoints_.find(runtime_id);
  return found != endpoints_.end() && found->second.pid == pid;
}

void MetadataServer::stop() {
  endpoints_.clear();
  if (host_) host_->stop();
}

}  // namespace agent
