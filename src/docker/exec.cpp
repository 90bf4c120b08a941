#include "docker/exec.h"

#include <utility>

#include "base/format.h"
#include "docker/transport.h"
#include "json/value.h"

namespace docker {
namespace {

constexpr size_t most_at_once = 32 * 1024;

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
                         std::unique_ptr<net::RawStream> stream)
    : client_(std::move(client)), id_(std::move(id)), stream_(std::move(stream)) {}

base::Result<std::unique_ptr<ExecProcess>> ExecProcess::start(const std::string& host,
                                                              const ExecRequest& request) {
  const auto url = parse_host(host);
  if (!url) return base::fail("DockerError", url.error());
  auto client = TRY(net::HttpClient::create(*url));
  const json::Value body = json::Value::object({{"AttachStdin", true},
                                                {"AttachStdout", true},
                                                {"AttachStderr", true},
                                                {"Tty", true},
                                                {"Cmd", json::Value::array(request.command)}});
  const net::HttpResponse made = TRY(client->request(request_of(
      "POST", base::format("/containers/{}/exec", request.container), json::print(body))));
  if (made.status != 201) return refusal(made);
  std::string id = TRY(json::parse(made.body))["Id"].text_or("");
  net::HttpRequest start =
      request_of("POST", base::format("/exec/{}/start", id), R"({"Detach":false,"Tty":true})");
  start.headers.push_back({"Connection", "Upgrade"});
  start.headers.push_back({"Upgrade", "tcp"});
  auto upgraded = TRY(client->upgrade(start));
  if (upgraded.stream == nullptr) return refusal(upgraded.response);
  return std::unique_ptr<ExecProcess>(
      new ExecProcess(std::move(client), std::move(id), std::move(upgraded.stream)));
}

base::Result<std::string> ExecProcess::read() {
  return stream_->read(most_at_once);
}

base::Result<void> ExecProcess::write(std::string_view bytes) {
  return stream_->write(bytes);
}

base::Result<void> ExecProcess::close_input() {
  return stream_->close_write();
}

base::Result<void> ExecProcess::resize(int columns, int rows) {
  const auto answer = TRY(client_->request(
      request_of("POST", base::format("/exec/{}/resize?w={}&h={}", id_, columns, rows))));
  if (answer.status / 100 != 2) return refusal(answer);
  return {};
}

base::Result<int> ExecProcess::exit_code() {
  const auto answer = TRY(client_->request(request_of("GET", base::format("/exec/{}/json", id_))));
  if (answer.status != 200) return refusal(answer);
  const json::Value told = TRY(json::parse(answer.body));
  return static_cast<int>(told["ExitCode"].as_int64().value_or(0));
}

base::Result<int64_t> ExecProcess::process_id() {
  const auto answer = TRY(client_->request(request_of("GET", base::format("/exec/{}/json", id_))));
  if (answer.status != 200) return refusal(answer);
  const json::Value told = TRY(json::parse(answer.body));
  if (!told["Running"].as_bool().value_or(false)) return 0;
  return told["Pid"].as_int64().value_or(0);
}

void ExecProcess::cancel() {
  stream_->cancel();
}

}  // namespace docker
