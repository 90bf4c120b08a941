// The one kind of WebSocket there is, for both ends; for the files of net/ only.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/queue.h"
#include "base/result.h"
#include "net/http.h"
#include "net/loop_core.h"
#include "net/transport.h"
#include "net/websocket.h"

namespace net {

// Lives on one thread of the loop; only the functions of WebSocket may be called from others.
class WebSocketConnection final : public WebSocket,
                                  public Resident,
                                  public std::enable_shared_from_this<WebSocketConnection> {
 public:
  struct Setup {
    WebSocketOptions options;
    const void* owner = nullptr;  // Whose end is its end; null = only that of the loop.
  };
  using Opened = std::move_only_function<void(base::Result<void>)>;

  static std::shared_ptr<WebSocketConnection> create(std::shared_ptr<LoopCore> loop, size_t thread,
                                                     Setup setup, WebSocketHandlers handlers,
                                                     std::string remote_address);
  ~WebSocketConnection() override;

  bool send(std::string text) override;
  bool send_binary(std::string bytes) override;
  void close(uint16_t code, std::string reason) override;
  void abort() override;
  size_t queued_bytes() const override { return queued_bytes_; }
  const std::string& remote_address() const override { return remote_address_; }

  // The server's end: answers the opening handshake that `head` is.
  void accept(std::unique_ptr<Transport> transport, const HttpRequest& head);
  // The client's end: sends `head` (target and headers; its Host must be there) as the opening
  // handshake. `opened` is called once; with an error no handler ever is.
  void connect(std::unique_ptr<Transport> transport, HttpRequest head, Opened opened);
  // Ends it with 1006. Does nothing when it has ended. From any thread once the loop has stopped.
  void fail(const std::string& reason);
  void on_stop() override { fail("the server or the loop was stopped"); }

 private:
  enum class Kind : uint8_t { Text, Binary, Close };
  struct Outgoing {
    Kind kind = Kind::Text;
    uint16_t code = 0;
    std::string bytes;
  };
  struct Stream;  // Of Beast.

  WebSocketConnection(std::shared_ptr<LoopCore> loop, size_t thread, Setup setup,
                      WebSocketHandlers handlers, std::string remote_address);

  bool enqueue(Outgoing message);
  void wake();
  bool begin(std::unique_ptr<Transport> transport);
  void open();
  void read();
  void flush();
  void write_next();
  void write_close(const Outgoing& message);
  void finish(uint16_t code, const std::string& reason);
  void finish(const base::Error& error);

  const std::shared_ptr<LoopCore> loop_;  // Must outlive what hangs on its threads.
  const size_t thread_;
  const Setup setup_;
  WebSocketHandlers handlers_;
  Opened opened_;  // Of a client, until it is called.
  const std::string remote_address_;

  // For all threads.
  std::atomic<bool> done_sending_{false};
  std::atomic<bool> wake_posted_{false};
  std::atomic<size_t> queued_bytes_{0};
  base::Queue<Outgoing> outgoing_;

  std::deque<Outgoing> pending_;  // Taken out of outgoing_; the first is being written.
  std::unique_ptr<Stream> stream_;
  bool registered_ = false;
  bool is_open_ = false;
  bool writing_ = false;
  bool finished_ = false;
};

}  // namespace net
