#include "cli/exec_session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "acs/exec.h"
#include "base/format.h"
#include "base/queue.h"
#include "cli/client.h"
#include "json/value.h"
#include "net/loop.h"
#include "net/websocket_client.h"

namespace cli {
namespace {

constexpr int size_interval_ms = 100;
constexpr uint16_t close_normal = 1000;
constexpr int broken_pipe_exit_code = 128 + SIGPIPE;
constexpr base::Milliseconds silence{60'000};
constexpr size_t output_capacity = acs::exec_window + 1'000;  // A message has a byte at least.

// Keys go to the far end as they are pressed, until this goes.
class RawTerminal {
 public:
  RawTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~RawTerminal() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

// Wakes a thread that polls.
class Bell {
 public:
  Bell() {
    if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) ends_ = {-1, -1};
  }
  ~Bell() {
    for (const int end : ends_) ::close(end);
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  int descriptor() const { return ends_[0]; }
  // A full pipe rings already.
  void ring() const { [[maybe_unused]] const ssize_t count = ::write(ends_[1], "!", 1); }
  void silence() const {
    std::array<char, 256> rings{};
    while (::read(ends_[0], rings.data(), rings.size()) > 0) {
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// How the session has ended.
struct End {
  int exit_code = 1;
  std::string failure;  // Empty: the command has ended by itself.
};

// What the websocket's handlers hand to this end's two threads.
struct Line {
  base::Queue<std::string> output{output_capacity};  // Messages in their order.
  base::Queue<size_t> consumed{output_capacity};     // Of input, by the command.
  base::Queue<End> ended{4};
  Bell bell;

  void take(std::string message) {
    const auto read = acs::decode_exec(message);
    if (!read) return;
    if (read->kind == acs::ExecKind::Consumed) {
      auto bytes = acs::read_exec_consumed(read->bytes);
      if (bytes) consumed.try_push(std::move(*bytes));
      bell.ring();
    } else if (!output.try_push(std::move(message))) {
      end({1, "The session's far end sent more than it may."});
    }
  }
  void end(End how) {
    ended.try_push(std::move(how));
    bell.ring();
  }
};

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EAGAIN) {
      pollfd ready{.fd = file, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (count < 0 && errno != EINTR) {
      return false;
    }
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

End ended_with(const acs::ExecMessage& last) {
  if (last.kind == acs::ExecKind::Failure) return {1, std::string(last.bytes)};
  End end;
  std::from_chars(last.bytes.data(), last.bytes.data() + last.bytes.size(), end.exit_code);
  return end;
}

// Writes what comes until the last message; a thread of its own, since whoever reads this end's
// output may be slow. The far end may send more only once this has written.
void print_output(Line& line, net::WebSocket& socket) {
  while (const auto message = line.output.pop()) {
    const auto read = acs::decode_exec(*message);
    if (read->kind == acs::ExecKind::ExitCode || read->kind == acs::ExecKind::Failure) {
      return line.end(ended_with(*read));
    }
    if (read->kind != acs::ExecKind::Output && read->kind != acs::ExecKind::Error) continue;
    const int file = read->kind == acs::ExecKind::Error ? STDERR_FILENO : STDOUT_FILENO;
    // As a program ends that writes into a pipe which nobody reads.
    if (!write_all(file, read->bytes)) return line.end({broken_pipe_exit_code, {}});
    socket.send_binary(acs::encode_exec_consumed(read->bytes.size()));
  }
  line.end({1, "The session was closed."});  // Of no account where it has ended already.
}

std::optional<acs::TerminalSize> terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return std::nullopt;
  }
  return acs::TerminalSize{size.ws_col, size.ws_row};
}

// Sends what is read here, and sizes, until the session has ended.
class InputSender {
 public:
  InputSender(Line& line, net::WebSocket& socket, const ExecSessionOptions& options)
      : line_(line), socket_(socket), options_(options), open_(options.input) {}

  End run() {
    if (!open_) socket_.send_binary(acs::encode_exec(acs::ExecKind::EndOfInput));
    while (true) {
      auto end = line_.ended.pop_batch(1, base::Milliseconds{0});
      if (!end.empty()) return std::move(end.front());
      for (const size_t consumed :
           line_.consumed.pop_batch(output_capacity, base::Milliseconds{0})) {
        room_ = std::min(room_ + consumed, acs::exec_window);
      }
      if (options_.terminal) tell_size();
      wait_and_read();
    }
  }

 private:
  void tell_size() {
    const auto size = terminal_size();
    if (!size || size == told_) return;
    told_ = size;
    socket_.send_binary(acs::encode_exec(*size));
  }

  void wait_and_read() {
    std::array<pollfd, 2> files{
        pollfd{.fd = open_ && room_ > 0 ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0},
        pollfd{.fd = line_.bell.descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(files.data(), files.size(), options_.terminal ? size_interval_ms : -1);
    if (files[1].revents != 0) line_.bell.silence();
    if (files[0].revents == 0) return;
    const ssize_t count = ::read(STDIN_FILENO, buffer_.data(), std::min(buffer_.size(), room_));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      open_ = false;
      socket_.send_binary(acs::encode_exec(acs::ExecKind::EndOfInput));
      return;
    }
    const std::string_view bytes(buffer_.data(), static_cast<size_t>(count));
    socket_.send_binary(acs::encode_exec(acs::ExecKind::Input, bytes));
    room_ -= bytes.size();
  }

  Line& line_;
  net::WebSocket& socket_;
  const ExecSessionOptions options_;
  bool open_;
  size_t room_ = acs::exec_window;
  std::optional<acs::TerminalSize> told_;
  std::array<char, acs::exec_most_bytes> buffer_{};
};

base::Result<std::shared_ptr<net::WebSocket>> open_session(net::Loop& loop,
                                                           const Credentials& credentials,
                                                           const api::ecs::Session& session,
                                                           Line& line) {
  net::WebSocketRequest request{.url = TRY(net::parse_url(session.stream_url.value_or("")))};
  request.tls = TRY(trust_of(credentials));
  request.options.idle_timeout = silence;
  net::WebSocketHandlers handlers{
      .on_message = [&line](std::string message, bool) { line.take(std::move(message)); },
      .on_close = [&line](uint16_t, const std::string&) { line.output.close(); }};
  base::Queue<base::Result<std::shared_ptr<net::WebSocket>>> opened(1);
  net::connect_websocket(loop, std::move(request), std::move(handlers),
                         [&opened](auto socket) { opened.push(std::move(socket)); });
  return std::move(*opened.pop());
}

}  // namespace

base::Result<int> run_exec_session(const Credentials& credentials, const api::ecs::Session& session,
                                   const ExecSessionOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  Line line;
  net::Loop loop(1);
  const auto socket = TRY(open_session(loop, credentials, session, line));
  socket->send(json::print(json::Value::object({{"MessageSchemaVersion", "1.0"},
                                                {"TokenValue", session.token_value.value_or("")},
                                                {"BerthRaw", true},
                                                {"BerthTerminal", options.terminal}})));
  std::thread printer([&] { print_output(line, *socket); });
  End end;
  {
    std::optional<RawTerminal> raw;
    if (options.terminal && options.input) raw.emplace();
    end = InputSender(line, *socket, options).run();
  }
  socket->close(close_normal, "");
  line.output.close();
  printer.join();
  loop.stop();
  if (!end.failure.empty()) return base::fail("SessionEnded", end.failure);
  return end.exit_code;
}

}  // namespace cli
