#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "base/queue.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "json/value.h"
#include "net/loop.h"
#include "net/websocket_client.h"

namespace cli {
namespace {

struct Options {
  std::string data = default_data_dir().string();
  std::string cluster = "default";
  std::string container;
  std::string task;
  std::vector<std::string> command;
};

constexpr int poll_interval_ms = 100;
constexpr uint16_t close_normal = 1000;

// The words as the far end takes them apart again.
std::string one_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

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
  bool is_terminal() const { return changed_; }

 private:
  termios before_{};
  bool changed_ = false;
};

std::string terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return base::format(R"(z{{"cols":{},"rows":{}}})", size.ws_col, size.ws_row);
}

// How the session has ended.
struct End {
  int exit_code = 1;
  std::string failure;  // Empty: the command has ended by itself.
};

void write_out(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

void on_message(const std::string& message, base::Queue<End>& ended) {
  if (message.empty()) return;
  const std::string_view bytes = std::string_view(message).substr(1);
  if (message.front() == 'o') {
    write_out(STDOUT_FILENO, bytes);
  } else if (message.front() == 'e') {
    write_out(STDERR_FILENO, bytes);
  } else if (message.front() == 'f') {
    ended.try_push(End{1, std::string(bytes)});
  } else if (message.front() == 'x') {
    End end;
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), end.exit_code);
    ended.try_push(std::move(end));
  }
}

base::Result<std::shared_ptr<net::WebSocket>> open_session(net::Loop& loop,
                                                           const Credentials& credentials,
                                                           const api::ecs::Session& session,
                                                           base::Queue<End>& ended) {
  net::WebSocketRequest request{.url = TRY(net::parse_url(session.stream_url.value_or("")))};
  request.tls = TRY(trust_of(credentials));
  net::WebSocketHandlers handlers{
      .on_message = [&ended](const std::string& message, bool) { on_message(message, ended); },
      .on_close =
          [&ended](uint16_t, const std::string& reason) {
            ended.try_push(End{1, reason.empty() ? "the session was closed" : reason});
          }};
  base::Queue<base::Result<std::shared_ptr<net::WebSocket>>> opened(1);
  net::connect_websocket(loop, std::move(request), std::move(handlers),
                         [&opened](auto socket) { opened.push(std::move(socket)); });
  auto socket = TRY(*opened.pop());
  socket->send(json::print(json::Value::object({{"MessageSchemaVersion", "1.0"},
                                                {"TokenValue", session.token_value.value_or("")},
                                                {"BerthRaw", true}})));
  return socket;
}

// Keys and sizes to the far end until the session has ended.
End follow(net::WebSocket& socket, base::Queue<End>& ended) {
  bool input_open = true;
  std::string size_told;
  while (true) {
    const std::string size = terminal_size();
    if (!size.empty() && size != size_told) {
      size_told = size;
      socket.send_binary(size);
    }
    pollfd input{.fd = input_open ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
    ::poll(&input, 1, poll_interval_ms);
    if (input.revents != 0) {
      std::array<char, 4096> buffer{};
      const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
      input_open = count > 0;
      socket.send_binary(input_open ? "i" + std::string(buffer.data(), static_cast<size_t>(count))
                                    : std::string("q"));
    }
    auto end = ended.pop_batch(1, base::Milliseconds{0});
    if (!end.empty()) return std::move(end.front());
  }
}

base::Result<int> run_exec(const Options& options) {
  const Credentials credentials = TRY(read_credentials(options.data));
  api::ecs::ExecuteCommandRequest request;
  request.cluster = options.cluster;
  request.task = options.task;
  if (!options.container.empty()) request.container = options.container;
  request.command =
      one_line(options.command.empty() ? std::vector<std::string>{"sh"} : options.command);
  request.interactive = true;
  const auto response = TRY(call<api::ecs::ExecuteCommandResponse>(credentials, api::ecs_service(),
                                                                   "ExecuteCommand", request));
  base::Queue<End> ended(16);
  net::Loop loop(1);
  auto socket =
      TRY(open_session(loop, credentials, response.session.value_or(api::ecs::Session{}), ended));
  End end;
  {
    const RawTerminal terminal;
    end = follow(*socket, ended);
  }
  socket->close(close_normal, "");
  loop.stop();
  if (!end.failure.empty()) return base::fail("SessionEnded", end.failure);
  return end.exit_code;
}

}  // namespace

void add_exec(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "exec",
      "Run a command in a container of a running task: berth exec TASK -- sh. The task was "
      "run with enableExecuteCommand. Ends with the command's exit code.");
  const auto options = std::make_shared<Options>();  // Shared by the parser and the action.
  command->add_option("task", options->task, "Id or ARN of the task.")->required();
  command->add_option("command", options->command, "The command and its arguments; sh without.");
  command->add_option("--cluster", options->cluster, "The task's cluster.")->capture_default_str();
  command->add_option("--container", options->container,
                      "Its name; not needed where the task has one container.");
  command->add_option("--data", options->data, "The server's data directory.")
      ->capture_default_str();
  command->callback([&action, options] { action = [options] { return run_exec(*options); }; });
}

}  // namespace cli
