// The control plane's API, called as AWS's own clients do: AWS JSON 1.1 with Signature Version 4.
#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/service.h"
#include "auth/signer.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http_client.h"

namespace agent {

struct ApiError : base::Error {
  enum class Kind : uint8_t {
    Unreachable,  // No answer: what became of the request is unknown.
    Refused,      // A 4xx: `code` is AWS's name.
    Failed        // Anything else: the server's own trouble, or bytes that are no answer.
  };
  Kind kind = Kind::Failed;
};

template <class T>
using ApiResult = std::expected<T, ApiError>;

struct ApiOptions {
  std::vector<std::string> server_urls;
  auth::Credentials credentials;
  net::TlsClientOptions tls;
  std::string region;
};

struct CallOptions {
  base::Milliseconds timeout = std::chrono::seconds(10);
  bool repeatable = true;  // Sending it twice does no harm.
  // Whose keys sign the call: those of a task's role. nullopt: the agent's own.
  std::optional<auth::Credentials> credentials = {};
};

// Thread-safe.
class ApiClient {
 public:
  // Errors: "InvalidParameterException" naming the URL.
  static base::Result<std::unique_ptr<ApiClient>> create(ApiOptions options, base::Clock& clock);

  // The whole body of the answer. A server that cannot be reached gives way to the next one.
  ApiResult<std::string> send(const api::Service& service, std::string_view operation,
                              const std::string& body, const CallOptions& options = {});

  template <class Response, class Request>
  ApiResult<Response> call(const api::Service& service, std::string_view operation,
                           const Request& request, const CallOptions& options = {}) {
    auto body = send(service, operation, api::print(request), options);
    if (!body) return std::unexpected(std::move(body).error());
    auto response = api::parse<Response>(*body, {.validate = false});
    if (!response) {
      return std::unexpected(ApiError{std::move(response).error(), ApiError::Kind::Failed});
    }
    return std::move(*response);
  }

  // Host and the signature of a GET of `url`, for a websocket.
  net::Headers sign_get(const net::Url& url) const;
  const net::TlsClientOptions& tls() const { return options_.tls; }

  // Calls fail from now on, those under way too.
  void cancel();

 private:
  struct Server {
    net::Url url;
    std::unique_ptr<net::HttpClient> client;
  };
  ApiClient(ApiOptions options, std::vector<Server> servers, base::Clock& clock);
  ApiResult<std::string> send_to(const Server& server, const api::Service& service,
                                 std::string_view operation, const std::string& body,
                                 const CallOptions& options);

  ApiOptions options_;
  std::vector<Server> servers_;
  base::Clock& clock_;
  std::atomic<size_t> current_ = 0;  // Of servers_: the one that answered last.
};

}  // namespace agent
