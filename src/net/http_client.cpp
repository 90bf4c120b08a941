#include "net/http_client.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/queue.h"
#include "net/client_connection.h"
#include "net/http_parser.h"
#include "net/http_writer.h"

namespace net {
namespace {

constexpr size_t read_bytes = size_t{32} << 10;
constexpr size_t max_response_head = size_t{64} << 10;
constexpr size_t max_idle_connections = 16;
constexpr size_t kept_error_body = size_t{64} << 10;

using OnChunk = std::function<bool(std::string_view)>;

// What one call wants, whatever its kind.
struct Plan {
  const HttpRequest& request;
  Deadline connect_deadline;
  Deadline deadline;  // For all that comes until the head of the response is there.
  base::Milliseconds idle_timeout{0};  // After the head, where `deadline_is_for_all` is not set.
  bool deadline_is_for_all = false;
  size_t max_body_bytes = 0;          // Only without on_chunk.
  const OnChunk* on_chunk = nullptr;  // Gets the body of a 2xx.
  bool may_switch = false;            // A response may turn the connection into a raw stream.
  Retry retry = Retry::IfIdempotent;
};

struct Outcome {
  HttpResponse response;
  bool reusable = false;
  bool switched = false;
  std::string rest;  // Bytes behind the head of a response that switched.
};

bool may_send_twice(const Plan& plan) {
  if (plan.retry != Retry::IfIdempotent) return plan.retry == Retry::Always;
  const std::string& method = plan.request.method;
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         method == "OPTIONS";
}

bool is_success(int status) {
  return status >= 200 && status < 300;
}

// One request and its response on one connection.
class Call {
 public:
  Call(ClientConnection& connection, const Plan& plan)
      : connection_(connection),
        plan_(plan),
        parser_(HttpParser::Kind::Response, max_response_head) {}

  bool received_anything() const { return received_anything_; }

  base::Result<Outcome> run() {
    std::string head;
    append_request_head(plan_.request, host(), head);
    auto sent = send(head);
    // A server may answer and close without having read all; then its answer is what counts.
    if (!sent && sent.error().code != "ConnectionClosed") return base::fail(sent.error());
    prepare_parser();
    auto outcome = receive();
    if (!outcome && !sent && !received_anything_) return base::fail(sent.error());
    return outcome;
  }

 private:
  const std::string& where() const { return connection_.target().where; }

  std::string host() const {
    // Docker's own client sends a Host that means nothing, too.
    return connection_.target().url.scheme == "unix" ? "localhost"
                                                     : authority(connection_.target().url);
  }

  base::Result<void> send(std::string& head) {
    if (head.size() + plan_.request.body.size() <= read_bytes) {
      head += plan_.request.body;
      return connection_.write(head, plan_.deadline);
    }
    TRY_VOID(connection_.write(head, plan_.deadline));
    return connection_.write(plan_.request.body, plan_.deadline);
  }

  void prepare_parser() {
    parser_.start();
    if (plan_.request.method == "HEAD") parser_.expect_no_body();
  }

  base::Result<Outcome> receive() {
    buffer_.resize(read_bytes);
    while (true) {
      const Deadline deadline = head_done_ && !plan_.deadline_is_for_all
                                    ? deadline_after(plan_.idle_timeout)
                                    : plan_.deadline;
      const size_t space = buffer_.size() - filled_;
      if (space == 0) buffer_.resize(buffer_.size() * 2);
      const size_t count =
          TRY(connection_.read({buffer_.data() + filled_, buffer_.size() - filled_}, deadline));
      if (count == 0) return finish_at_eof();
      received_anything_ = true;
      filled_ += count;
      if (TRY(parse())) return std::move(outcome_);
    }
  }

  // True when all is there.
  base::Result<bool> parse() {
    size_t used = 0;
    bool done = false;
    while (!done) {
      const ParseStep step = parser_.feed({buffer_.data() + used, filled_ - used});
      used += step.consumed;
      if (step.state == ParseState::NeedMore) break;
      if (step.state == ParseState::Failed) {
        if (!parser_.stopped()) return base::fail(parse_failure());
        take_response();
        done = true;
      } else if (step.state == ParseState::Done) {
        complete(used);
        done = true;
      } else {
        done = on_head(used);
      }
    }
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(used),
              buffer_.begin() + static_cast<ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= used;
    return done;
  }

  // True when the connection has switched and HTTP is over.
  bool on_head(size_t used) {
    const int status = parser_.response().status;
    const HeadFacts facts = parser_.facts();
    if (plan_.may_switch && (status == 101 || (status == 200 && facts.to_eof))) {
      outcome_.response = std::move(parser_.response());
      outcome_.switched = true;
      outcome_.rest.assign(buffer_.data() + used, filled_ - used);
      return true;
    }
    if (status < 200 && status != 101) {
      prepare_parser();  // 100 Continue and the like: the response is still to come.
      return false;
    }
    head_done_ = true;
    if (plan_.on_chunk == nullptr) {
      parser_.set_body_limit(plan_.max_body_bytes);
    } else if (is_success(status)) {
      parser_.set_body_sink(*plan_.on_chunk);
    } else {
      parser_.set_body_sink([this](std::string_view piece) {
        error_body_ += piece.substr(0, kept_error_body - error_body_.size());
        return error_body_.size() < kept_error_body;
      });
    }
    return false;
  }

  void complete(size_t used) {
    outcome_.reusable = parser_.facts().keep_alive && used == filled_ &&
                        !header_has_token(plan_.request.headers, "Connection", "close");
    take_response();
  }

  void take_response() {
    outcome_.response = std::move(parser_.response());
    if (!error_body_.empty()) outcome_.response.body = std::move(error_body_);
  }

  base::Result<Outcome> finish_at_eof() {
    if (received_anything_ && parser_.feed_eof() == ParseState::Done) {
      complete(filled_);
      outcome_.reusable = false;
      return std::move(outcome_);
    }
    return base::fail(
        "ConnectionClosed",
        base::format("{} closed the connection {}", where(),
                     received_anything_ ? "in the middle of its response" : "without a response"));
  }

  base::Error parse_failure() const {
    if (parser_.body_too_long()) {
      return {"HttpError", base::format("the response of {} is longer than {} bytes", where(),
                                        plan_.max_body_bytes)};
    }
    return {"HttpError",
            base::format("the response of {} is not HTTP: {}", where(), parser_.failure_text())};
  }

  ClientConnection& connection_;
  const Plan& plan_;
  HttpParser parser_;
  std::vector<char> buffer_;
  size_t filled_ = 0;
  std::string error_body_;
  bool head_done_ = false;
  bool received_anything_ = false;
  Outcome outcome_;
};

class SwitchedStream final : public RawStream {
 public:
  SwitchedStream(std::unique_ptr<ClientConnection> connection, std::string rest)
      : connection_(std::move(connection)), rest_(std::move(rest)) {}

  base::Result<std::string> read(size_t most) override {
    std::string bytes;
    if (!rest_.empty()) {
      bytes = rest_.substr(0, most);
      rest_.erase(0, bytes.size());
      return bytes;
    }
    bytes.resize(most);
    bytes.resize(TRY(connection_->read({bytes.data(), bytes.size()}, Deadline::max())));
    return bytes;
  }

  base::Result<void> write(std::string_view bytes) override {
    return connection_->write(bytes, Deadline::max());
  }
  base::Result<void> close_write() override {
    connection_->close_write();
    return {};
  }
  void cancel() override { connection_->cut(); }

 private:
  const std::unique_ptr<ClientConnection> connection_;
  std::string rest_;  // What came together with the head.
};

}  // namespace

class ClientCore {
 public:
  struct Done {
    Outcome outcome;
    std::unique_ptr<ClientConnection> connection;  // Only of a response that switched.
  };

  base::Result<Done> call(const Plan& plan) {
    auto connection = take_idle();
    const bool reused = connection != nullptr;
    if (!reused) connection = TRY(ClientConnection::connect(target, plan.connect_deadline));
    Call first(*connection, plan);
    auto outcome = first.run();
    if (!outcome && reused && !first.received_anything() &&
        outcome.error().code == "ConnectionClosed" && !target->cancelled && may_send_twice(plan)) {
      connection = TRY(ClientConnection::connect(target, plan.connect_deadline));
      outcome = Call(*connection, plan).run();
    }
    if (!outcome) return base::fail(outcome.error());
    Done done{std::move(*outcome), nullptr};
    if (done.outcome.switched) {
      done.connection = std::move(connection);
    } else if (done.outcome.reusable) {
      idle.try_push(std::move(connection));  // Closed where enough are kept already.
    }
    return done;
  }

  std::shared_ptr<ClientTarget> target = std::make_shared<ClientTarget>();

 private:
  std::unique_ptr<ClientConnection> take_idle() {
    while (true) {
      auto found = idle.pop_batch(1, base::Milliseconds{0});
      if (found.empty()) return nullptr;
      if (!found.front()->is_stale()) return std::move(found.front());
    }
  }

  base::Queue<std::unique_ptr<ClientConnection>> idle{max_idle_connections};
};

HttpClient::HttpClient(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
HttpClient::~HttpClient() = default;

base::Result<std::unique_ptr<HttpClient>> HttpClient::create(const Url& server,
                                                             const TlsClientOptions& tls) {
  if (server.scheme != "http" && server.scheme != "https" && server.scheme != "unix") {
    return base::fail("InvalidUrl", base::format("the scheme of a server is http, https or unix, "
                                                 "not \"{}\"",
                                                 server.scheme));
  }
  auto core = std::make_shared<ClientCore>();
  ClientTarget& target = *core->target;
  target.url = server;
  target.where = server.scheme == "unix" ? "unix:" + server.path
                                         : base::format("{}:{}", server.host, server.port);
  target.server_name = tls.server_name.empty() ? server.host : tls.server_name;
  if (uses_tls(server)) target.tls = TRY(TlsContext::create_client(tls));
  target.cancel_event = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!target.cancel_event) {
    return base::fail("ConnectionClosed",
                      base::format("cannot make an eventfd: {}", errno_text(errno)));
  }
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(core)));
}

base::Result<HttpResponse> HttpClient::request(const HttpRequest& request,
                                               const RequestOptions& options) {
  const Deadline deadline = deadline_after(options.total_timeout);
  const Plan plan{.request = request,
                  .connect_deadline = std::min(deadline, deadline_after(options.connect_timeout)),
                  .deadline = deadline,
                  .deadline_is_for_all = true,
                  .max_body_bytes = options.max_body_bytes,
                  .retry = options.retry};
  return std::move(TRY(core_->call(plan)).outcome.response);
}

base::Result<HttpResponse> HttpClient::stream(const HttpRequest& request,
                                              const StreamOptions& options,
                                              const OnChunk& on_chunk) {
  const Plan plan{.request = request,
                  .connect_deadline = deadline_after(options.connect_timeout),
                  .deadline = deadline_after(options.head_timeout),
                  .idle_timeout = options.idle_timeout,
                  .on_chunk = &on_chunk,
                  .retry = options.retry};
  return std::move(TRY(core_->call(plan)).outcome.response);
}

base::Result<HttpClient::Upgraded> HttpClient::upgrade(const HttpRequest& request,
                                                       const StreamOptions& options) {
  const Plan plan{.request = request,
                  .connect_deadline = deadline_after(options.connect_timeout),
                  .deadline = deadline_after(options.head_timeout),
                  .idle_timeout = options.idle_timeout,
                  .max_body_bytes = kept_error_body,
                  .may_switch = true,
                  .retry = options.retry};
  ClientCore::Done done = TRY(core_->call(plan));
  Upgraded upgraded{std::move(done.outcome.response), nullptr};
  if (done.connection != nullptr) {
    upgraded.stream =
        std::make_unique<SwitchedStream>(std::move(done.connection), std::move(done.outcome.rest));
  }
  return upgraded;
}

void HttpClient::cancel() {
  core_->target->cancelled = true;
  const uint64_t one = 1;
  // Fails only when the counter is about to overflow, and then it is readable anyway.
  static_cast<void>(::write(core_->target->cancel_event.get(), &one, sizeof one));
}

}  // namespace net
