#include "agent/exec_session.h"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "acs/exec.h"
#include "agent/container_process.h"
#include "base/format.h"
#include "base/log.h"
#include "base/queue.h"
#include "docker/exec.h"
#include "net/websocket_client.h"

namespace agent {
namespace {

constexpr size_t line_capacity = 10'000;
constexpr uint16_t close_normal = 1000;
constexpr int hang_up_checks = 20;
constexpr base::Milliseconds hang_up_interval{100};
constexpr base::Milliseconds start_patience{60'000};  // For the client to come.
constexpr base::Milliseconds exit_patience{10'000};
constexpr base::Milliseconds look_interval{500};
constexpr base::Milliseconds silence{60'000};

// What the websocket's handlers hand to the session's threads. Closed when the client has gone, or
// has sent more than it may.
struct ExecLine {
  base::Queue<std::string> inbox{line_capacity};
  // Of output that the client has taken. Apart from the inbox, so that output can go on while input
  // waits for the process.
  base::Queue<size_t> consumed{line_capacity};

  void take(std::string message) {
    const auto read = acs::decode_exec(message);
    if (!read) return;
    bool taken = false;
    if (read->kind == acs::ExecKind::Consumed) {
      auto bytes = acs::read_exec_consumed(read->bytes);
      taken = bytes && consumed.try_push(std::move(*bytes));
    } else {
      taken = inbox.try_push(std::move(message));
    }
    if (!taken) close();
  }
  void close() {
    inbox.close();
    consumed.close();
  }
};

std::shared_ptr<net::WebSocket> connect(const ExecTools& tools, const std::string& url,
                                        const std::shared_ptr<ExecLine>& line) {
  const auto parsed = net::parse_url(url);
  if (!parsed) {
    base::log_warning("A session cannot be opened: {}", parsed.error().message);
    return nullptr;
  }
  net::WebSocketRequest request{.url = *parsed};
  request.tls = tools.tls;
  request.options.idle_timeout = silence;
  net::WebSocketHandlers handlers{
      .on_message = [line](std::string bytes, bool) { line->take(std::move(bytes)); },
      .on_close = [line](uint16_t, const std::string&) { line->close(); }};
  // Shared with the callback, which may come after this gave up.
  const auto opened = std::make_shared<base::Queue<std::shared_ptr<net::WebSocket>>>(1);
  net::connect_websocket(
      tools.loop, std::move(request), std::move(handlers), [opened](auto socket) {
        if (!socket) {
          base::log_warning("A session cannot be opened: {}", socket.error().message);
        }
        opened->push(socket ? std::move(*socket) : nullptr);
      });
  return opened->pop().value_or(nullptr);
}

// nullopt: the client did not come, or went away.
std::optional<acs::ExecStart> wait_for_start(ExecLine& line, const std::atomic<bool>& stopping) {
  for (base::Milliseconds waited{0}; waited < start_patience && !stopping;
       waited += look_interval) {
    const auto messages = line.inbox.pop_batch(1, look_interval);
    if (messages.empty()) {
      if (line.inbox.closed()) return std::nullopt;
      continue;
    }
    const auto message = acs::decode_exec(messages.front());
    if (!message || message->kind != acs::ExecKind::Start) return std::nullopt;
    return acs::read_exec_start(message->bytes);
  }
  return std::nullopt;
}

// Docker lets a process go on whose client has gone. The pid is looked at twice: a daemon elsewhere
// has other processes than this machine.
void hang_up(docker::ExecProcess& process, const std::string& container) {
  const auto pid = process.process_id(exit_patience);
  if (!pid) base::log_warning("A session's process may stay: {}", pid.error().message);
  if (!pid || *pid <= 1 || !is_in_container(*pid, {&container, 1})) return;
  ::kill(static_cast<pid_t>(*pid), SIGHUP);
  for (int i = 0; i < hang_up_checks && is_in_container(*pid, {&container, 1}); ++i) {
    std::this_thread::sleep_for(hang_up_interval);
  }
  if (is_in_container(*pid, {&container, 1})) ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

// The threads of one session whose process runs. Output has a thread, since it waits for the
// process; input has one, since it waits for the process to read; the session's own thread never
// waits for either.
class Session {
 public:
  Session(net::WebSocket& socket, ExecLine& line, docker::ExecProcess& process)
      : socket_(socket), line_(line), process_(process) {}

  // Until the process or the client ends. False: the process was still running.
  bool serve(const std::atomic<bool>& stopping);
  // After serve(), and once nothing more is wanted of the process's output.
  void join();

 private:
  void carry_output();
  bool send_output(const docker::ExecOutput& output, size_t& room);
  void carry_input();
  bool take(const std::string& message);

  net::WebSocket& socket_;
  ExecLine& line_;
  docker::ExecProcess& process_;
  base::Queue<std::optional<std::string>> input_{acs::exec_window};  // No value: its end.
  std::atomic<size_t> unwritten_ = 0;                                // Bytes in input_.
  std::atomic<bool> ended_ = false;
  std::thread output_thread_;
  std::thread input_thread_;
};

bool Session::serve(const std::atomic<bool>& stopping) {
  output_thread_ = std::thread([this] { carry_output(); });
  input_thread_ = std::thread([this] { carry_input(); });
  while (!ended_ && !stopping) {
    const auto messages = line_.inbox.pop_batch(100, look_interval);
    if (messages.empty() && line_.inbox.closed()) break;
    if (!std::ranges::all_of(messages, [this](const auto& one) { return take(one); })) break;
  }
  return ended_;
}

void Session::join() {
  line_.close();
  input_.close();
  process_.cancel();
  output_thread_.join();
  input_thread_.join();
}

void Session::carry_output() {
  size_t room = acs::exec_window;
  while (true) {
    const auto output = process_.read();
    ended_ = !output || output->bytes.empty();
    if (ended_ || !send_output(*output, room)) break;
  }
  line_.inbox.close();  // Wakes serve().
}

bool Session::send_output(const docker::ExecOutput& output, size_t& room) {
  const auto kind =
      output.stream == docker::ExecStream::Error ? acs::ExecKind::Error : acs::ExecKind::Output;
  std::string_view bytes = output.bytes;
  while (!bytes.empty()) {
    while (room == 0) {
      const auto consumed = line_.consumed.pop();
      if (!consumed) return false;
      room = std::min(room + *consumed, acs::exec_window);
    }
    for (const size_t consumed : line_.consumed.pop_batch(line_capacity, base::Milliseconds{0})) {
      room = std::min(room + consumed, acs::exec_window);
    }
    const size_t most = std::min({bytes.size(), room, acs::exec_most_bytes});
    if (!socket_.send_binary(acs::encode_exec(kind, bytes.substr(0, most)))) return false;
    room -= most;
    bytes.remove_prefix(most);
  }
  return true;
}

// A process that reads no more lets its input go to nowhere, as with a shell's pipe; it ends when
// it ends.
void Session::carry_input() {
  bool reads = true;
  while (const auto piece = input_.pop()) {
    if (!*piece) {
      if (reads && !process_.close_input()) reads = false;
      continue;
    }
    if (reads && !process_.write(**piece)) reads = false;
    unwritten_ -= (*piece)->size();
    socket_.send_binary(acs::encode_exec_consumed((*piece)->size()));
  }
}

// False: the client does not keep to what is agreed.
bool Session::take(const std::string& message) {
  const auto read = acs::decode_exec(message);
  if (!read) return true;
  if (read->kind == acs::ExecKind::Input && !read->bytes.empty()) {
    if (unwritten_ += read->bytes.size(); unwritten_ > acs::exec_window) return false;
    return input_.try_push(std::string(read->bytes));
  }
  if (read->kind == acs::ExecKind::EndOfInput) return input_.try_push(std::nullopt);
  if (read->kind == acs::ExecKind::Size) {
    const auto size = acs::read_terminal_size(read->bytes);
    if (!size) return true;
    const auto resized = process_.resize(size->columns, size->rows);
    if (!resized) base::log_debug("A terminal keeps its size: {}", resized.error().message);
  }
  return true;
}

std::string run(net::WebSocket& socket, ExecLine& line, const ExecTools& tools,
                const ExecOrder& order, const std::atomic<bool>& stopping) {
  const auto start = wait_for_start(line, stopping);
  if (!start) return acs::encode_exec(acs::ExecKind::Failure, "The session's client did not come.");
  auto process = docker::ExecProcess::start(tools.docker_host,
                                            {order.container, order.command, start->terminal});
  if (!process) return acs::encode_exec(acs::ExecKind::Failure, process.error().message);
  Session session(socket, line, **process);
  const bool ended = session.serve(stopping);
  if (!ended) hang_up(**process, order.container);
  session.join();
  if (!ended) {
    return acs::encode_exec(acs::ExecKind::Failure,
                            stopping ? "The agent of the container instance stops."
                                     : "The session's client has gone, or sent too much at once.");
  }
  const auto code = (*process)->exit_code(exit_patience);
  return code ? acs::encode_exec(acs::ExecKind::ExitCode, base::format("{}", *code))
              : acs::encode_exec(acs::ExecKind::Failure, code.error().message);
}

}  // namespace

void serve_exec(const ExecTools& tools, const ExecOrder& order, const std::atomic<bool>& stopping) {
  const auto line = std::make_shared<ExecLine>();  // Shared with the websocket's handlers.
  const auto socket = connect(tools, order.url, line);
  if (socket == nullptr) return;
  socket->send_binary(run(*socket, *line, tools, order, stopping));
  socket->close(close_normal, "");
}

}  // namespace agent
