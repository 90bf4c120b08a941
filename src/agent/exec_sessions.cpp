#include "agent/exec_sessions.h"

#include <atomic>
#include <memory>
#include <utility>

#include "base/log.h"
#include "json/value.h"

namespace agent {
namespace {

constexpr std::string_view order_mark = "\"BerthExecuteCommandMessage\"";
constexpr size_t most_sessions =
    20;  // Source: ECS service quotas, "ECS Exec sessions per container".

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
                                       .command = split_command(message["command"].text_or("")),
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
                         serve_exec({loop_, tls_, docker_host_}, order, stopping);
                         *done = true;
                       }),
                       done});
  }
  stopping = true;
  for (Running& one : running) one.thread.join();
}

}  // namespace agent
