#include "agent/metadata_server.h"

#include <unistd.h>

#include <atomic>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/log.h"
#include "base/open_files.h"

namespace agent {
namespace {

// Source: as metadata_pace (readTimeout, writeTimeout).
constexpr base::Milliseconds metadata_patience{5'000};
constexpr size_t metadata_held_bytes = size_t{1} << 20;

}  // namespace

struct MetadataServer::Asked {
  static constexpr size_t places = 1024;

  std::atomic<int64_t> due = 0;
  // Of the machine's own endpoint, by the id that is asked for. Two that meet share it.
  std::vector<std::atomic<int64_t>> by_id;

  bool pass(std::string_view target, base::Milliseconds now) {
    if (by_id.empty()) return metadata_pace.pass(due, now);
    return metadata_pace.pass(by_id[base::fnv1a(id_in(target)) % by_id.size()], now) &&
           host_metadata_pace.pass(due, now);
  }

  // "x" of "/v4/x/task".
  static std::string_view id_in(std::string_view target) {
    for (const std::string_view prefix : {"/v4/", "/v3/", "/api/", "/v2/credentials/"}) {
      if (!target.starts_with(prefix)) continue;
      target.remove_prefix(prefix.size());
      return target.substr(0, target.find_first_of("/?"));
    }
    return target;
  }
};

MetadataServer::MetadataServer(net::Loop& loop, Inbox& inbox, base::Clock& clock)
    : loop_(loop),
      inbox_(inbox),
      clock_(clock),
      budget_(std::make_shared<net::ConnectionBudget>(base::open_files_limit() / 4)) {}

base::Result<std::unique_ptr<net::HttpServer>> MetadataServer::listen(
    net::HttpServerOptions options, std::string task_arn, std::shared_ptr<Asked> asked) {
  options.wait_when_full = true;
  options.budget = budget_;
  options.max_head_bytes = metadata_head_bytes;
  options.max_held_bytes = metadata_held_bytes;
  options.body_limit = [](const net::HttpRequest& head) {
    return head.method == "PUT" ? metadata_body_bytes : 0;
  };
  options.head_timeout = options.body_timeout = metadata_patience;
  options.idle_timeout = options.write_timeout = metadata_patience;
  return net::HttpServer::create(
      loop_, std::move(options),
      [this, arn = std::move(task_arn), asked = std::move(asked)](net::HttpRequest request,
                                                                  net::Responder responder) {
        if (asked->pass(request.target, clock_.monotonic())) {
          inbox_.push(MetadataAsked{arn, std::move(request), std::move(responder)});
          return;
        }
        loop_.after(metadata_refusal_delay, [responder = std::move(responder)] {
          responder.respond({.status = 429,
                             .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                             .body = "You have reached maximum request limit."});
        });
      });
}

// Containers of one task count together.
std::shared_ptr<MetadataServer::Asked> MetadataServer::asked_by(const std::string& task_arn) const {
  for (const auto& [container, endpoint] : endpoints_) {
    if (endpoint.task_arn == task_arn) return endpoint.asked;
  }
  return std::make_shared<Asked>();
}

base::Result<uint16_t> MetadataServer::serve_host(uint16_t wanted) {
  const auto asked = std::make_shared<Asked>();
  asked->by_id = std::vector<std::atomic<int64_t>>(Asked::places);
  const auto listen_at = [&](uint16_t port) {
    return listen(
        {.address = "127.0.0.1", .port = port, .max_connections = host_metadata_connections}, {},
        asked);
  };
  auto server = listen_at(wanted);
  if (!server && wanted != 0) {
    base::log_warning(
        "Port {} of the task metadata endpoint is taken by another program: containers with "
        "network "
        "mode host that were started before do not reach it.",
        wanted);
    server = listen_at(0);
  }
  if (!server) return base::fail(server.error());
  host_ = std::move(*server);
  return host_->port();
}

void MetadataServer::serve(const std::string& runtime_id, const std::string& task_arn, int64_t pid,
                           int socket) {
  const std::shared_ptr<Asked> asked = asked_by(task_arn);
  endpoints_.erase(runtime_id);
  auto server = listen({.listening_socket = socket, .max_connections = metadata_connections},
                       task_arn, asked);
  if (!server) {
    base::log_warning("A container of task {} has no metadata endpoint: {}", task_arn,
                      server.error().message);
    return;
  }
  endpoints_[runtime_id] = {pid, task_arn, asked, std::move(*server)};
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
