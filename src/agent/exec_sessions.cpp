#include "agent/exec_sessions.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "docker/exec.h"
#include "json/value.h"
#include "net/websocket_client.h"

namespace agent {
namespace {

constexpr std::string_view order_mark = "\"BerthExecuteCommandMessage\"";
constexpr size_t most_sessions =
    20;  // Source: ECS service quotas, "ECS Exec sessions per container".
constexpr size_t inbox_capacity = 10'000;
constexpr uint16_t close_normal = 1000;
constexpr int hang_up_checks = 20;
constexpr base::Milliseconds hang_up_interval{100};

// What a session's thread hears. No value: its socket is closed.
using Inbox = base::Queue<std::optional<std::string>>;

std::string of_kind(char kind, std::string_view bytes) {
  return std::string(1, kind) + std::string(bytes);
}

std::shared_ptr<net::WebSocket> connect(net::Loop& loop, const net::TlsClientOptions& tls,
                                        const std::string& url,
                                        const std::shared_ptr<Inbox>& inbox) {
  const auto parsed = net::parse_url(url);
  if (!parsed) return nullptr;
  net::WebSocketRequest request{.url = *parsed};
  request.tls = tls;
  net::WebSocketHandlers handlers{
      .on_message = [inbox](std::string bytes,
                            bool) { inbox->try_push(std::optional(std::move(bytes))); },
      .on_close =
          [inbox](uint16_t, const std::string&) {
            inbox->try_push(std::nullopt);
            inbox->close();
          }};
  // Shared with the callback, which may come after this gave up.
  const auto opened = std::make_shared<base::Queue<std::shared_ptr<net::WebSocket>>>(1);
  net::connect_websocket(loop, std::move(request), std::move(handlers), [opened](auto socket) {
    if (!socket) base::log_warning("A session cannot be opened: {}", socket.error().message);
    opened->push(socket ? std::move(*socket) : nullptr);
  });
  return opened->pop().value_or(nullptr);
}

// One message of the client to the process.
void pass_on(docker::ExecProcess& process, const std::string& message) {
  if (message.empty()) return;
  const std::string_view bytes = std::string_view(message).substr(1);
  if (message.front() == 'i') {
    if (!process.write(bytes)) process.cancel();
  } else if (message.front() == 'q') {
    // The process has a terminal, whose end of input is Ctrl-D.
    if (!process.write("\x04")) process.cancel();
  } else if (message.front() == 'z') {
    const auto size = json::parse(bytes);
    if (!size) return;
    const auto resized = process.resize(static_cast<int>((*size)["cols"].as_int64().value_or(80)),
                                        static_cast<int>((*size)["rows"].as_int64().value_or(24)));
    if (!resized) base::log_debug("A terminal keeps its size: {}", resized.error().message);
  }
}

bool is_of_container(int64_t pid, const std::string& container) {
  std::ifstream file(base::format("/proc/{}/cgroup", pid));
  const std::string groups((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  return groups.find(container) != std::string::npos;
}

// Docker lets a process go on whose client has gone. The pid is looked at twice: a daemon elsewhere
// has other processes than this machine.
void hang_up(docker::ExecProcess& process, const std::string& container) {
  const auto pid = process.process_id();
  if (!pid || *pid <= 1 || !is_of_container(*pid, container)) return;
  ::kill(static_cast<pid_t>(*pid), SIGHUP);
  for (int i = 0; i < hang_up_checks && is_of_container(*pid, container); ++i) {
    std::this_thread::sleep_for(hang_up_interval);
  }
  if (is_of_container(*pid, container)) ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

// Until the process or the client ends.
void serve(const std::shared_ptr<net::WebSocket>& socket, const std::shared_ptr<Inbox>& inbox,
           docker::ExecProcess& process, const std::string& container,
           const std::atomic<bool>& stopping) {
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    while (true) {
      const auto output = process.read();
      if (!output || output->empty()) break;
      if (!socket->send_binary(of_kind('o', *output))) break;
    }
    ended = true;
    inbox->try_push(std::nullopt);
  });
  while (!ended && !stopping) {
    const auto messages = inbox->pop_batch(100, base::Milliseconds(500));
    if (messages.empty() && inbox->closed()) break;
    for (const auto& message : messages) {
      if (message) pass_on(process, *message);
    }
  }
  if (!ended) {
    hang_up(process, container);
    process.cancel();
  }
  reader.join();
  const auto code = process.exit_code();
  socket->send_binary(code ? of_kind('x', base::format("{}", *code))
                           : of_kind('f', code.error().message));
}

}  // namespace

std::vector<std::string> split_command(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  return words;
}

ExecSessions::ExecSessions(net::Loop& loop, net::TlsClientOptions tls, std::string docker_host)
    : loop_(loop),
      tls_(std::move(tls)),
      docker_host_(std::move(docker_host)),
      thread_([this] { run(); }) {}

ExecSessions::~ExecSessions() {
  stop();
}

void ExecSessions::stop() {
  orders_.close();
  if (thread_.joinable()) thread_.join();
}

bool ExecSessions::take(std::string_view frame) {
  if (frame.substr(0, 64).find(order_mark) == std::string_view::npos) return false;
  const auto envelope = json::parse(frame);
  if (!envelope) return false;
  const json::Value& message = (*envelope)["message"];
  const bool taken = orders_.try_push({.container = message["runtimeId"].text_or(""),
                                       .command = message["command"].text_or(""),
                                       .url = message["url"].text_or("")});
  if (!taken) base::log_warning("A session is not opened: too many are waiting already.");
  return true;
}

void ExecSessions::run() {
  struct Running {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;  // Shared with the thread.
  };
  std::atomic<bool> stopping = false;
  std::vector<Running> running;
  while (auto order = orders_.pop()) {
    std::erase_if(running, [](Running& one) {
      if (!*one.done) return false;
      one.thread.join();
      return true;
    });
    if (running.size() >= most_sessions) {
      base::log_warning("A session is not opened: {} are open already.", running.size());
      continue;
    }
    const auto done = std::make_shared<std::atomic<bool>>(false);
    running.push_back({std::thread([this, done, &stopping, order = std::move(*order)] {
                         const auto inbox = std::make_shared<Inbox>(inbox_capacity);
                         const auto socket = connect(loop_, tls_, order.url, inbox);
                         if (socket != nullptr) {
                           auto process = docker::ExecProcess::start(
                               docker_host_, {order.container, split_command(order.command)});
                           if (process) {
                             serve(socket, inbox, **process, order.container, stopping);
                           } else {
                             socket->send_binary(of_kind('f', process.error().message));
                           }
                           socket->close(close_normal, "");
                         }
                         *done = true;
                       }),
                       done});
  }
  stopping = true;
  for (Running& one : running) one.thread.join();
}

}  // namespace agent
