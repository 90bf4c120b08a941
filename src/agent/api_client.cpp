#include "agent/api_client.h"

#include <utility>

#include "base/format.h"
#include "json/value.h"

namespace agent {
namespace {

std::string_view path_of(const net::Url& url) {
  return std::string_view(url.path).substr(0, url.path.find('?'));
}

std::string_view query_of(const net::Url& url) {
  const size_t mark = url.path.find('?');
  return mark == std::string::npos ? std::string_view()
                                   : std::string_view(url.path).substr(mark + 1);
}

// {"__type": "com.amazonaws...#Name", "message": ...}
ApiError error_of_api(const net::HttpResponse& response) {
  ApiError error;
  const bool throttled = response.status == 429;
  error.kind = response.status >= 400 && response.status < 500 && !throttled
                   ? ApiError::Kind::Refused
                   : ApiError::Kind::Failed;
  const auto body = json::parse(response.body);
  if (!body || !body->is_object()) {
    error.kind = ApiError::Kind::Failed;
    error.code = "HttpError";
    error.message = base::format("the server answered {} {}", response.status,
                                 net::reason_phrase(response.status));
    return error;
  }
  const std::string type = (*body)["__type"].text_or("HttpError");
  error.code = type.substr(type.rfind('#') + 1);
  error.message = (*body)["message"].text_or((*body)["Message"].text_or(""));
  if (error.code.starts_with("Throttling")) error.kind = ApiError::Kind::Failed;
  return error;
}

}  // namespace

ApiClient::ApiClient(ApiOptions options, std::vector<Server> servers, base::Clock& clock)
    : options_(std::move(options)), servers_(std::move(servers)), clock_(clock) {}

base::Result<std::unique_ptr<ApiClient>> ApiClient::create(ApiOptions options, base::Clock& clock) {
  std::vector<Server> servers;
  for (const std::string& text : options.server_urls) {
    auto url = net::parse_url(text);
    if (!url || (url->scheme != "http" && url->scheme != "https")) {
      return base::fail("InvalidParameterException",
                        base::format("The server's URL is \"{}\"; it must look like "
                                     "http://127.0.0.1:7117 or https://name.",
                                     text));
    }
    auto client = TRY(net::HttpClient::create(*url, options.tls));
    servers.push_back({std::move(*url), std::move(client)});
  }
  if (servers.empty()) {
    return base::fail("InvalidParameterException", "The agent was given no server's URL.");
  }
  return std::unique_ptr<ApiClient>(new ApiClient(std::move(options), std::move(servers), clock));
}

ApiResult<std::string> ApiClient::send(const api::Service& service, std::string_view operation,
                                       const std::string& body, const CallOptions& options) {
  const size_t first = current_;
  ApiResult<std::string> answer;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const size_t index = (first + i) % servers_.size();
    answer = send_to(servers_[index], service, operation, body, options);
    const bool elsewhere = !answer && answer.error().kind == ApiError::Kind::Unreachable;
    if (!elsewhere) {
      current_ = index;
      return answer;
    }
    // The first server may have done it after all.
    if (!options.repeatable && answer.error().code != "ConnectionRefused") return answer;
  }
  return answer;
}

ApiResult<std::string> ApiClient::send_to(const Server& server, const api::Service& service,
                                          std::string_view operation, const std::string& body,
                                          const CallOptions& options) {
  net::HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.body = body;
  request.headers = {{"Host", net::authority(server.url)},
                     {"Content-Type", "application/x-amz-json-1.1"},
                     {"X-Amz-Target", base::format("{}.{}", service.target_prefix, operation)}};
  auth::Request to_sign{.method = request.method,
                        .path = request.target,
                        .query = {},
                        .headers = {},
                        .body = request.body};
  for (const net::Header& header : request.headers) {
    to_sign.headers.emplace_back(header.name, header.value);
  }
  auto signature =
      auth::sign(to_sign, options.credentials.value_or(options_.credentials),
                 {.region = options_.region, .service = std::string(service.name)}, clock_.now());
  for (auto& [name, value] : signature) request.headers.push_back({name, std::move(value)});
  auto response = server.client->request(
      request, {.connect_timeout = options.timeout,
                .total_timeout = options.timeout,
                .retry = options.repeatable ? net::Retry::Always : net::Retry::Never});
  if (!response) {
    return std::unexpected(ApiError{std::move(response).error(), ApiError::Kind::Unreachable});
  }
  if (response->status / 100 != 2) return std::unexpected(error_of_api(*response));
  return std::move(response->body);
}

net::Headers ApiClient::sign_get(const net::Url& url) const {
  net::Headers headers{{"Host", net::authority(url)}};
  auth::Request to_sign{.method = "GET",
                        .path = path_of(url),
                        .query = query_of(url),
                        .headers = {{"Host", headers[0].value}},
                        .body = {}};
  for (auto&& [name, value] :
       auth::sign(to_sign, options_.credentials, {.region = options_.region, .service = "ecs"},
                  clock_.now())) {
    headers.push_back({std::move(name), std::move(value)});
  }
  return headers;
}

void ApiClient::cancel() {
  for (const Server& server : servers_) server.client->cancel();
}

}  // namespace agent
