// HTTP/1.1 client that blocks the calling thread: for the agent, Docker and the command line.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/http.h"
#include "net/tls.h"

namespace net {

class ClientCore;

enum class Retry : uint8_t {
  IfIdempotent,  // GET, HEAD, PUT, DELETE and OPTIONS may be sent a second time.
  Always,        // The caller knows that sending it twice does no harm.
  Never,
};

// Of each: zero = no limit.
struct RequestOptions {
  base::Milliseconds connect_timeout{5'000};
  base::Milliseconds total_timeout{30'000};  // Connecting included.
  size_t max_body_bytes = size_t{64} << 20;  // A longer response is an "HttpError".
  // A kept connection may turn out to be dead; when nothing of the response was received the
  // request is sent once more, on a new one.
  Retry retry = Retry::IfIdempotent;
};

struct StreamOptions {
  base::Milliseconds connect_timeout{5'000};
  base::Milliseconds head_timeout{30'000};  // For the head of the response.
  base::Milliseconds idle_timeout{0};       // Between two chunks.
  Retry retry = Retry::IfIdempotent;
};

// A connection that the server has switched to another protocol (101) or hijacked, as Docker does
// for attach and exec. read() and write() may be called by two different threads at once.
class RawStream {
 public:
  virtual ~RawStream() = default;
  // At most `most` bytes, waiting for the first one; "" = the peer will send nothing more.
  virtual base::Result<std::string> read(size_t most) = 0;
  // Writes all of it.
  virtual base::Result<void> write(std::string_view bytes) = 0;
  // Tells the peer that nothing more will be written.
  virtual base::Result<void> close_write() = 0;
  // From any thread: what waits in read() or write() returns "ConnectionClosed".
  virtual void cancel() = 0;
};

// Talks to one server, whose connections it keeps for the next request. Several threads may use it
// at once: each request then has a connection of its own.
//
// Errors of all calls: "ConnectionRefused" (also: no such host or socket), "Timeout", "TlsError",
// "ConnectionClosed" (also: cancelled), "HttpError" (not HTTP, or too long). The message names the
// address. A response of any status is not an error.
class HttpClient {
 public:
  // The scheme of `server` is http, https or unix; of its path only that of a unix socket is used.
  // Errors: "InvalidUrl", "TlsError".
  static base::Result<std::unique_ptr<HttpClient>> create(const Url& server,
                                                          const TlsClientOptions& tls = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Host and Content-Length are added where the request has none; a Host of its own is sent as it
  // is. remote_address and tls of the request are not read.
  base::Result<HttpResponse> request(const HttpRequest& request,
                                     const RequestOptions& options = {});

  // Gives the body piecemeal, as it comes, to `on_chunk` (return false = stop, which is no error);
  // the response then has no body. The body of a status other than 2xx goes into the response
  // instead (its first 64 KiB).
  base::Result<HttpResponse> stream(const HttpRequest& request, const StreamOptions& options,
                                    const std::function<bool(std::string_view chunk)>& on_chunk);

  // For requests with "Upgrade" or to Docker's attach and exec. `stream` is set when the server
  // answered 101, or 200 without a length; otherwise the response has its body (first 64 KiB).
  struct Upgraded {
    HttpResponse response;
    std::unique_ptr<RawStream> stream;
  };
  base::Result<Upgraded> upgrade(const HttpRequest& request, const StreamOptions& options = {});

  // From any thread: all calls return "ConnectionClosed", those that wait now and those to come.
  // There is no way back.
  void cancel();

 private:
  explicit HttpClient(std::shared_ptr<ClientCore> core);
  std::shared_ptr<ClientCore> core_;  // Shared with the raw streams.
};

}  // namespace net
