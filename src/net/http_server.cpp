#include "net/http_server.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "net/http_connection.h"
#include "net/loop_core.h"
#include "net/socket.h"

namespace net {
namespace {

constexpr int accepts_per_turn = 64;
constexpr std::chrono::milliseconds pause_without_descriptors{100};
constexpr std::chrono::milliseconds pause_when_full{20};

std::chrono::milliseconds tick_length(const HttpServerOptions& options) {
  const auto shortest =
      std::min({options.head_timeout, options.body_timeout, options.idle_timeout,
                options.write_timeout, options.linger_timeout, options.crowded_idle_timeout});
  return std::clamp(shortest / 4, std::chrono::milliseconds{5}, std::chrono::milliseconds{500});
}

// One connection of those that there are, which were counted up before.
class Slot {
 public:
  Slot(std::shared_ptr<std::atomic<size_t>> count, std::shared_ptr<ConnectionBudget> budget)
      : count_(std::move(count)), budget_(std::move(budget)) {}
  ~Slot() {
    count_->fetch_sub(1);
    if (budget_) budget_->taken.fetch_sub(1);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

 private:
  std::shared_ptr<std::atomic<size_t>> count_;  // Shared with the listener.
  std::shared_ptr<ConnectionBudget> budget_;    // Shared with other servers.
};

}  // namespace

// Takes connections on the first thread and deals them out to all.
class Listener final : public Resident, public std::enable_shared_from_this<Listener> {
 public:
  Listener(std::shared_ptr<const ServerSettings> settings, Fd fd)
      : settings_(std::move(settings)),
        descriptor_(settings_->loop->context(0).get_executor()),
        retry_(settings_->loop->context(0).get_executor()),
        fd_(std::move(fd)) {}

  void start() {
    if (!settings_->loop->add_resident(0, settings_->owner, shared_from_this())) return;
    boost::system::error_code error;
    descriptor_.assign(fd_.get(), error);
    CHECK(!error);
    static_cast<void>(fd_.release());
    wait();
  }

  void on_stop() override {
    boost::system::error_code ignored;  // The descriptor is closed either way.
    descriptor_.close(ignored);
    retry_.cancel();
    settings_->loop->remove_resident(0, this);
  }

 private:
  void wait() {
    descriptor_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             if (!error) self->accept();
                           });
  }

  void accept() {
    for (int i = 0; i < accepts_per_turn; ++i) {
      if (must_wait()) return wait_and_retry(pause_when_full);
      Fd fd(::accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd) {
        take(std::move(fd));
        continue;
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        pause(errno);
        return;
      }
      // Anything else is about the one connection, which is gone (accept(2)).
    }
    wait();
  }

  bool must_wait() const {
    const HttpServerOptions& options = settings_->options;
    if (options.wait_when_full && *settings_->connections >= options.max_connections) return true;
    return options.budget && options.budget->taken >= options.budget->most;
  }

  void pause(int error) {
    base::log_warning("cannot accept a connection: {}; trying again", errno_text(error));
    wait_and_retry(pause_without_descriptors);
  }

  void wait_and_retry(std::chrono::milliseconds delay) {
    retry_.expires_after(delay);
    retry_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
      if (!failed) self->wait();
    });
  }

  void take(Fd fd) {
    const size_t connections = settings_->connections->fetch_add(1) + 1;
    if (settings_->options.budget) settings_->options.budget->taken.fetch_add(1);
    auto slot = std::make_shared<Slot>(settings_->connections, settings_->options.budget);
    const size_t limit = settings_->options.max_connections;
    if (connections > limit + refused_at_once) return;  // Just closed.
    const size_t thread = settings_->loop->pick_thread();
    auto connection =
        std::make_shared<HttpConnection>(settings_, thread, std::move(fd), std::move(slot));
    settings_->loop->post(thread, [connection, refused = connections > limit] {
      refused ? connection->start_refused() : connection->start();
    });
  }

  const std::shared_ptr<const ServerSettings> settings_;  // Shared with the connections.
  boost::asio::posix::basic_stream_descriptor<Executor> descriptor_;
  SteadyTimer retry_;
  Fd fd_;
};

// Looks after the deadlines of the connections of one thread.
class Ticker final : public Resident, public std::enable_shared_from_this<Ticker> {
 public:
  Ticker(std::shared_ptr<const ServerSettings> settings, size_t thread)
      : settings_(std::move(settings)),
        thread_(thread),
        timer_(settings_->loop->context(thread).get_executor()) {}

  void start() {
    if (settings_->loop->add_resident(thread_, settings_->owner, shared_from_this())) wait();
  }
  void on_stop() override {
    timer_.cancel();
    stopped_ = true;
    settings_->loop->remove_resident(thread_, this);
  }

 private:
  void wait() {
    timer_.expires_after(tick_length(settings_->options));
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (error || self->stopped_) return;
      self->settings_->loop->tick_residents(self->thread_, self->settings_->owner,
                                            std::chrono::steady_clock::now());
      self->wait();
    });
  }

  const std::shared_ptr<const ServerSettings> settings_;  // Shared with the connections.
  const size_t thread_;
  SteadyTimer timer_;
  bool stopped_ = false;
};

class ServerCore {
 public:
  std::shared_ptr<ServerSettings> settings;
  uint16_t port = 0;
  std::atomic<bool> stopped{false};
};

HttpServer::HttpServer(std::shared_ptr<ServerCore> core) : core_(std::move(core)) {}
HttpServer::~HttpServer() {
  stop();
}

uint16_t HttpServer::port() const {
  return core_->port;
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::create(Loop& loop, HttpServerOptions options,
                                                             HttpHandler handler,
                                                             UpgradeHandler upgrade) {
  CHECK(handler);
  auto core = std::make_shared<ServerCore>();
  core->settings = std::make_shared<ServerSettings>();
  ServerSettings& settings = *core->settings;
  if (options.tls) settings.tls.store(TRY(TlsContext::create_server(*options.tls)));
  Fd fd = options.listening_socket >= 0      ? Fd(options.listening_socket)
          : options.unix_socket_path.empty() ? TRY(listen_tcp(options.address, options.port))
                                             : TRY(listen_unix(options.unix_socket_path));
  core->port = local_port(fd.get());
  settings.options = std::move(options);
  settings.handler = std::move(handler);
  settings.upgrade = std::move(upgrade);
  settings.loop = loop.core();
  settings.owner = core.get();
  if (settings.options.admit) {
    // Connections are dealt out evenly; a small share is rounded up.
    const auto share = [threads = settings.loop->threads()](size_t all) {
      return (all + threads - 1) / threads;
    };
    settings.newcomers = std::make_shared<std::vector<Newcomers>>(
        settings.loop->threads(),
        Newcomers({.most = share(settings.options.max_newcomers),
                   .most_of_address = share(settings.options.max_newcomers_of_address),
                   .most_bytes = share(settings.options.max_newcomer_bytes)}));
  }
  for (size_t thread = 0; thread < settings.loop->threads(); ++thread) {
    auto ticker = std::make_shared<Ticker>(core->settings, thread);
    settings.loop->post(thread, [ticker] { ticker->start(); });
  }
  auto listener = std::make_shared<Listener>(core->settings, std::move(fd));
  settings.loop->post(0, [listener] { listener->start(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

base::Result<void> HttpServer::use_certificate(const TlsServerOptions& options) {
  CHECK(core_->settings->tls.load() != nullptr);
  core_->settings->tls.store(TRY(TlsContext::create_server(options)));
  return {};
}

void HttpServer::stop() {
  if (core_->stopped.exchange(true)) return;
  LoopCore& loop = *core_->settings->loop;
  // First the listener, on thread 0, so that no thread gets a connection after its turn.
  for (size_t turn = 0; turn < 2; ++turn) {
    const size_t threads = turn == 0 ? 1 : loop.threads();
    for (size_t thread = 0; thread < threads; ++thread) {
      loop.run_and_wait(thread, [&loop, thread, owner = core_->settings->owner] {
        loop.stop_residents(thread, owner);
      });
    }
  }
  // They may hold what holds this server.
  core_->settings->handler = nullptr;
  core_->settings->upgrade = nullptr;
  const std::string& path = core_->settings->options.unix_socket_path;
  if (!path.empty()) ::unlink(path.c_str());
}

}  // namespace net
