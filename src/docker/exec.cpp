#include "docker/exec.h"

#include <thread>
#include <utility>

#include "base/format.h"
#include "docker/transport.h"
#include "json/value.h"

namespace docker {
namespace {

constexpr size_t most_at_once = size_t{32} * 1024;
constexpr base::Milliseconds look_interval{20};
constexpr std::string_view end_of_terminal_input = "\x04";

net::HttpRequest request_of(std::string method, std::string target, std::string body = {}) {
  net::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = {{"Host", "docker"}};
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  request.body = std::move(body);
  return request;
}

std::unexpected<base::Error> refusal(const net::HttpResponse& response) {
  const auto body = json::parse(response.body);
  return base::fail("DockerError", body ? (*body)["message"].text_or(response.body)
                                        : base::format("Docker answered {}", response.status));
}

}  // namespace

ExecProcess::ExecProcess(std::unique_ptr<net::HttpClient> client, std::string id,
                         std::unique_ptr<net::RawStream> stream, bool terminal)
    : client_(std::move(client)),
      id_(std::move(id)),
      stream_(std::move(stream)),
      terminal_(terminal) {}

base::Result<std::unique_ptr<ExecProcess>> ExecProcess::start(const std::string& host,
                                                              const ExecRequest& request) {
  const auto url = parse_host(host);
  if (!url) return base::fail("DockerError", url.error());
  auto client = TRY(net::HttpClient::create(*url));
  const json::Value body = json::Value::object({{"AttachStdin", true},
                                                {"AttachStdout", true},
                                                {"AttachStderr", true},
                                                {"Tty", request.terminal},
                                                {"Cmd", json::Value::array(request.command)}});
  const net::HttpResponse made = TRY(client->request(request_of(
      "POST", base::format("/containers/{}/exec", request.container), json::print(body))));
  if (made.status != 201) return refusal(made);
  std::string id = TRY(json::parse(made.body))["Id"].text_or("");
  net::HttpRequest start =
      request_of("POST", base::format("/exec/{}/start", id),
                 json::print(json::Value::object({{"Detach", false}, {"Tty", request.terminal}})));
  start.headers.push_back({"Connection", "Upgrade"});
  start.headers.push_back({"Upgrade", "tcp"});
  auto upgraded = TRY(client->upgrade(start));
  if (upgraded.stream == nullptr) return refusal(upgraded.response);
  return std::unique_ptr<ExecProcess>(new ExecProcess(
      std::move(client), std::move(id), std::move(upgraded.stream), request.terminal));
}

base::Result<ExecOutput> ExecProcess::read() {
  while (ready_.empty()) {
    std::string bytes = TRY(stream_->read(most_at_once));
    if (bytes.empty() && !frames_.at_end_of_frame()) {
      return base::fail("DockerError", "Docker's answer ended in the middle of a frame");
    }
    if (bytes.empty() || terminal_) return ExecOutput{ExecStream::Output, std::move(bytes)};
    for (ExecOutput& output : TRY(frames_.feed(bytes))) ready_.push_back(std::move(output));
  }
  ExecOutput output = std::move(ready_.front());
  ready_.pop_front();
  return output;
}

base::Result<void> ExecProcess::write(std::string_view bytes) {
  return stream_->write(bytes);
}

base::Result<void> ExecProcess::close_input() {
  return terminal_ ? stream_->write(end_of_terminal_input) : stream_->close_write();
}

base::Result<void> ExecProcess::resize(int columns, int rows) {
  const auto answer = TRY(client_->request(
      request_of("POST", base::format("/exec/{}/resize?w={}&h={}", id_, columns, rows))));
  if (answer.status / 100 != 2) return refusal(answer);
  return {};
}

base::Result<ExecProcess::State> ExecProcess::look() {
  const auto answer = TRY(client_->request(request_of("GET", base::format("/exec/{}/json", id_))));
  if (answer.status != 200) return refusal(answer);
  const json::Value told = TRY(json::parse(answer.body));
  return State{.running = told["Running"].as_bool().value_or(false),
               .exit_code = told["ExitCode"].as_int64(),
               .process_id = told["Pid"].as_int64().value_or(0)};
}

// The streams of a process may end a moment before Docker has seen the process end.
base::Result<int> ExecProcess::exit_code(base::Milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    const State state = TRY(look());
    if (state.exit_code && !state.running) return static_cast<int>(*state.exit_code);
    if (std::chrono::steady_clock::now() >= end) {
      return base::fail("DockerError", "The command has closed its output, but has not ended.");
    }
    std::this_thread::sleep_for(look_interval);
  }
}

base::Result<int64_t> ExecProcess::process_id(base::Milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    const State state = TRY(look());
    if (!state.running) return 0;
    if (state.process_id > 0) return state.process_id;
    if (std::chrono::steady_clock::now() >= end) {
      return base::fail("DockerError", "Docker does not tell the process's id.");
    }
    std::this_thread::sleep_for(look_interval);
  }
}

void ExecProcess::cancel() {
  stream_->cancel();
}

}  // namespace docker
