#include "docker/transport.h"

#include <utility>

#include "base/format.h"
#include "net/http_client.h"

namespace docker {
namespace {

constexpr uint16_t docker_tcp_port = 2375;

TransportError to_transport_error(const base::Error& error, bool cancelled) {
  if (cancelled) return {TransportError::Kind::Cancelled, error.message};
  if (error.code == "Timeout") return {TransportError::Kind::Timeout, error.message};
  return {TransportError::Kind::Unreachable, error.message};
}

net::HttpRequest to_request(const Call& call) {
  net::HttpRequest request;
  request.method = call.method;
  request.target = call.target;
  request.headers = call.headers;
  // dockerd answers any Host; without one it would get the socket's path.
  if (net::find_header(request.headers, "Host") == nullptr) {
    request.headers.push_back({"Host", "docker"});
  }
  const bool typed = net::find_header(request.headers, "Content-Type") != nullptr;
  if (!call.body.empty() && !typed) request.headers.push_back({"Content-Type", "application/json"});
  request.body = call.body;
  return request;
}

net::Retry to_retry(const Call& call) {
  return call.idempotent ? net::Retry::Always : net::Retry::Never;
}

class HttpTransport final : public Transport {
 public:
  HttpTransport(std::string host, net::Url url, std::unique_ptr<net::HttpClient> client)
      : host_(std::move(host)), url_(std::move(url)), client_(std::move(client)) {}

  TransportResult<Answer> request(const Call& call) override {
    auto response = client_->request(to_request(call),
                                     {.total_timeout = call.timeout, .retry = to_retry(call)});
    if (!response) return std::unexpected(to_transport_error(response.error(), false));
    return Answer{response->status, std::move(response->body)};
  }

  TransportResult<Answer> stream(const Call& call, const std::stop_token& stop,
                                 const OnBytes& on_bytes) override {
    if (stop.stop_requested()) {
      return std::unexpected(TransportError{TransportError::Kind::Cancelled, "cancelled"});
    }
    // A client of its own, since cancelling a client ends all its calls.
    auto client = net::HttpClient::create(url_);
    if (!client) return std::unexpected(to_transport_error(client.error(), false));
    const std::stop_callback cancel(stop, [&client] { (*client)->cancel(); });
    auto response = (*client)->stream(to_request(call),
                                      {.head_timeout = call.timeout,
                                       .idle_timeout = call.inactivity_timeout,
                                       .retry = to_retry(call)},
                                      on_bytes);
    if (!response) {
      return std::unexpected(to_transport_error(response.error(), stop.stop_requested()));
    }
    return Answer{response->status, std::move(response->body)};
  }

  const std::string& host() const override { return host_; }

 private:
  std::string host_;
  net::Url url_;
  std::unique_ptr<net::HttpClient> client_;
};

// The port stands in "name:port" or "[address]:port".
bool names_port(std::string_view authority) {
  const size_t bracket = authority.rfind(']');
  return authority.find(':', bracket == std::string_view::npos ? 0 : bracket) !=
         std::string_view::npos;
}

}  // namespace

std::expected<net::Url, std::string> parse_host(std::string_view host) {
  constexpr std::string_view unix_scheme = "unix://";
  constexpr std::string_view tcp_scheme = "tcp://";
  const auto refuse = [host](std::string_view why) {
    return std::unexpected(base::format(
        "DOCKER_HOST \"{}\" {}; use unix:///path/to/docker.sock or tcp://name:port", host, why));
  };
  if (host.starts_with(unix_scheme)) {
    const std::string_view path = host.substr(unix_scheme.size());
    if (!path.starts_with('/')) return refuse("names no absolute socket path");
    return net::Url{.scheme = "unix", .host = "", .port = 0, .path = std::string(path)};
  }
  if (!host.starts_with(tcp_scheme)) return refuse("is of a kind that Berth does not speak");
  std::string_view rest = host.substr(tcp_scheme.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find('/') != std::string_view::npos) return refuse("has a path");
  auto url = net::parse_url(base::format("http://{}", rest));
  if (!url || url->host.empty()) return refuse("names no machine and port");
  if (!names_port(rest)) url->port = docker_tcp_port;
  return std::move(*url);
}

std::expected<std::unique_ptr<Transport>, std::string> http_transport(const std::string& host) {
  auto url = parse_host(host);
  if (!url) return std::unexpected(url.error());
  auto client = net::HttpClient::create(*url);
  if (!client) return std::unexpected(client.error().message);
  return std::make_unique<HttpTransport>(host, std::move(*url), std::move(*client));
}

}  // namespace docker
