// One HTTP exchange with the daemon. The real one goes through net's client; tests replay recorded
// answers.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/time.h"
#include "net/http.h"

namespace docker {

struct Call {
  std::string method;  // "GET"
  std::string target;  // "/v1.41/containers/json?all=1"
  std::string body{};  // JSON, or empty.
  net::Headers headers{};
  // request(): for the whole exchange. stream(): until the head of the answer.
  base::Milliseconds timeout{};
  // stream(): the longest silence in the body; 0 means any.
  base::Milliseconds inactivity_timeout{};
  bool idempotent = false;  // Sending it twice does no harm; done when a kept connection was dead.
};

struct Answer {
  int status = 0;
  std::string body;  // Of a stream: only when the status is not 2xx.
};

struct TransportError {
  enum class Kind { Unreachable, Timeout, Cancelled };
  Kind kind = Kind::Unreachable;
  std::string message;
};

template <class T>
using TransportResult = std::expected<T, TransportError>;

// Bytes of a 2xx answer in order; false ends the stream.
using OnBytes = std::function<bool(std::string_view)>;

// Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual TransportResult<Answer> request(const Call& call) = 0;
  // Blocks until the answer's end, false from on_bytes, or the stop_token; the last is Cancelled.
  virtual TransportResult<Answer> stream(const Call& call, const std::stop_token& stop,
                                         const OnBytes& on_bytes) = 0;
  // For messages: "unix:///var/run/docker.sock".
  virtual const std::string& host() const = 0;
};

// "unix:///path", "tcp://name[:2375]", "tcp://[::1]:2375". The error is a sentence.
std::expected<net::Url, std::string> parse_host(std::string_view host);

// Keeps idle connections for later calls; a call never waits for another's connection.
// The error is a sentence.
std::expected<std::unique_ptr<Transport>, std::string> http_transport(const std::string& host);

}  // namespace docker
