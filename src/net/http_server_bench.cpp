// Small requests per second of one thread of the server, and the memory of an idle web socket.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <array>
#include <string>
#include <vector>

#include "base/queue.h"
#include "net/http_server.h"
#include "net/socket.h"

namespace net {
namespace {

// Blocks, and so costs the machine little beside the server.
Fd connect_blocking(uint16_t port) {
  const Endpoint endpoint = parse_address("127.0.0.1", port).front();
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&endpoint.address),
                  endpoint.length) == 0);
  set_no_delay(fd.get());
  return fd;
}

void receive_until(int fd, std::string_view end) {
  std::string got;
  std::array<char, 4096> bytes;
  while (!got.ends_with(end)) {
    const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
    CHECK(count > 0);
    got.append(bytes.data(), static_cast<size_t>(count));
  }
}

// One request at a time on each of the connections, as many clients do.
void small_requests(benchmark::State& state) {
  Loop loop(1);
  const auto server =
      HttpServer::create(loop, {}, [](const HttpRequest&, const Responder& responder) {
        responder.respond(
            {200, {{"Content-Type", "application/x-amz-json-1.1"}}, "{\"tasks\":[]}"});
      });
  CHECK(server);
  const std::string request =
      "POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/x-amz-json-1.1\r\n"
      "X-Amz-Target: AmazonEC2ContainerServiceV20141113.ListTasks\r\n"
      "X-Amz-Date: 20260131T120000Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"
      "20260131/us-east-1/ecs/aws4_request, SignedHeaders=host;x-amz-date, "
      "Signature=0000000000000000000000000000000000000000000000000000000000000000\r\n"
      "Content-Length: 2\r\n\r\n{}";
  std::vector<Fd> connections;
  for (int64_t i = 0; i < state.range(0); ++i) {
    connections.push_back(connect_blocking((*server)->port()));
  }
  for (auto _ : state) {
    for (const Fd& fd : connections) {
      CHECK(::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(request.size()));
    }
    for (const Fd& fd : connections) receive_until(fd.get(), "{\"tasks\":[]}");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(small_requests)->Arg(1)->Arg(64)->UseRealTime()->MeasureProcessCPUTime();

void idle_web_sockets(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  base::Queue<std::shared_ptr<WebSocket>> accepted(count);
  Loop loop(1);
  const auto server = HttpServer::create(
      loop, {}, [](const HttpRequest&, const Responder&) {},
      [&](const HttpRequest&, const Upgrade& upgrade) {
        accepted.push(upgrade.accept({[](const std::string&, bool) {}, {}}));
      });
  CHECK(server);
  for (auto _ : state) {
    std::vector<Fd> connections;
    const size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < count; ++i) {
      connections.push_back(connect_blocking((*server)->port()));
      const std::string request =
          "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
      CHECK(::send(connections.back().get(), request.data(), request.size(), MSG_NOSIGNAL) > 0);
      receive_until(connections.back().get(), "\r\n\r\n");
      // One message each way, as a session that has worked and waits.
      const auto socket = accepted.pop();
      socket->get()->send(std::string(2000, 'x'));
      receive_until(connections.back().get(), std::string(2000, 'x'));
    }
    state.counters["bytes_each"] =
        static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(count);
  }
}
BENCHMARK(idle_web_sockets)->Arg(200)->Iterations(1);

}  // namespace
}  // namespace net
