// One connection of the HTTP server; for the files of net/ only.
#pragma once

#include <atomic>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_parser.h"
#include "net/http_server.h"
#include "net/input_buffer.h"
#include "net/loop_core.h"
#include "net/newcomers.h"
#include "net/shares.h"
#include "net/transport.h"

namespace net {

class WebSocketConnection;

// What the connections of a server share. Constant while the server runs, but for `tls`.
struct ServerSettings {
  HttpServerOptions options;
  HttpHandler handler;
  UpgradeHandler upgrade;
  std::atomic<std::shared_ptr<const TlsContext>> tls;  // Of connections from now on.
  std::shared_ptr<LoopCore> loop;
  const void* owner = nullptr;  // Marks the residents that belong to the server.
  // Counted by all connections, the last of which may outlive the server.
  std::shared_ptr<std::atomic<size_t>> connections = std::make_shared<std::atomic<size_t>>(0);
  std::shared_ptr<std::atomic<size_t>> held_bytes = std::make_shared<std::atomic<size_t>>(0);
  std::shared_ptr<Shares> held_of_address = std::make_shared<Shares>();
  std::shared_ptr<Shares> held_of_account = std::make_shared<Shares>();
  std::shared_ptr<Shares> connections_of_account = std::make_shared<Shares>();
  // By thread, each for its own thread alone. Null where nobody is a newcomer.
  std::shared_ptr<std::vector<Newcomers>> newcomers;
};

// A state machine that is pumped whenever something has happened. Lives on one thread of the loop.
class HttpConnection final : public Resident, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<const ServerSettings> settings, size_t thread, Fd fd,
                 std::shared_ptr<void> slot);
  ~HttpConnection() override;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void start();
  // Answers 503 to whatever comes and closes.
  void start_refused();

  // At most once per request, on the thread: the answer.
  void respond(HttpResponse response);
  void respond_unanswered();
  void hand_over(std::shared_ptr<WebSocketConnection> socket, const HttpRequest& head);
  // On the thread: see Responder.
  void vouch(std::string_view account);

  void on_stop() override { close(); }
  void on_tick(SteadyTime now) override;

  const ServerSettings& settings() const { return *settings_; }
  size_t thread() const { return thread_; }
  const std::string& remote_address() const { return remote_address_; }

 private:
  enum class Stage : uint8_t {
    Handshake,  // Of TLS.
    Reading,    // Waiting for a request or in the middle of one.
    Handling,   // The handler has the request; nothing is read.
    Writing,    // A response, or 100 Continue.
    Lingering,  // All is said; waiting for the peer to close, so that it gets to read the answer.
    Closed,
  };
  enum class After : uint8_t { ReadBody, NextRequest, Linger };
  enum class Phase : uint8_t { Idle, Head, Body };  // Of Reading: what the deadline is for.

  void pump();
  // Each does what it can without waiting; false = nothing more can be done now.
  bool step();
  bool step_handshake();
  bool step_reading();
  bool step_writing();
  bool step_lingering();

  bool parse();
  bool check_head();
  bool admit(const HttpRequest& head, const HeadFacts& facts);
  Newcomers* newcomers() const;
  void become_newcomer();
  // False when this connection was cut.
  bool keep_as_newcomer(size_t bytes);
  void leave_newcomers();
  bool hold(size_t bytes);
  bool hold_body();
  bool is_crowded() const;
  void update_read_deadline();
  void dispatch();
  bool read_more();
  bool await(IoState want);

  void write_response(HttpResponse response, bool keep_alive);
  HttpResponse make_error(int status, std::string_view why) const;
  void refuse(int status, std::string_view why);
  void begin_writing(After after);
  void finish_writing();
  void close();
  void set_deadline(base::Milliseconds delay);
  std::string_view date();

  const std::shared_ptr<const ServerSettings> settings_;  // Shared by all connections.
  const size_t thread_;
  Fd fd_;
  std::shared_ptr<void> slot_;
  std::string remote_address_;
  std::string network_;  // As peer_network().
  std::unique_ptr<Transport> transport_;

  Stage stage_ = Stage::Reading;
  Phase phase_ = Phase::Idle;
  bool try_read_ = true;  // False right after a response: the next request is hardly there yet.
  bool pumping_ = false;
  bool read_wait_ = false;  // A wait is under way; there is never a second one.
  bool write_wait_ = false;
  SteadyTime deadline_ = SteadyTime::max();

  HttpParser parser_;
  InputBuffer input_;
  bool keep_alive_ = false;
  bool http_1_1_ = true;
  bool is_head_request_ = false;
  size_t held_ = 0;                      // Of ServerSettings::held_bytes.
  size_t address_place_ = 0;             // Of ServerSettings::held_of_address.
  std::optional<size_t> account_place_;  // Of held_of_account, while its request is there.
  std::optional<size_t> connection_account_place_;  // Of connections_of_account.
  size_t request_bytes_ = 0;                        // What came of the request so far.
  uint64_t body_at_deadline_ = 0;                   // Bytes of body when the deadline was last set.

  std::string output_;
  std::string output_body_;
  size_t written_ = 0;
  size_t written_at_deadline_ = 0;
  After after_write_ = After::NextRequest;

  std::time_t date_second_ = 0;
  std::string date_;
};

// One request that waits for its answer. For any thread.
class Exchange {
 public:
  Exchange(std::shared_ptr<LoopCore> loop, std::shared_ptr<HttpConnection> connection);
  ~Exchange();

  bool respond(HttpResponse response);
  void vouch(std::string_view account);
  std::shared_ptr<WebSocket> accept(WebSocketHandlers handlers);
  // For upgrades: what the opening handshake needs of the request.
  void keep_head(const HttpRequest& request);

 private:
  bool claim() { return !answered_.exchange(true); }

  std::shared_ptr<LoopCore> loop_;  // Must outlive the connection, which lives on a thread of it.
  std::shared_ptr<HttpConnection> connection_;
  std::atomic<bool> answered_{false};
  HttpRequest head_;
};

}  // namespace net
