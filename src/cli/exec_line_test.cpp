#include "cli/exec_line.h"

#include <gtest/gtest.h>

#include <string>

#include "acs/exec.h"
#include "base/format.h"
#include "net/http_server.h"

namespace cli {
namespace {

constexpr int inputs = 200;

TEST(ExecLine, closes_behind_all_that_it_sent) {
  struct Closed {
    uint16_t code = 0;
    int messages = 0;
  };
  base::Queue<Closed> closed(1);
  int messages = 0;  // Of the server's thread, as is the socket.
  net::Loop loop{1};
  const auto accept = [&](const net::HttpRequest&, const net::Upgrade& upgrade) {
    const auto socket = upgrade.accept(
        {.on_message = [&](const std::string&, bool) { ++messages; },
         .on_close = [&](uint16_t code, const std::string&) { closed.push({code, messages}); }});
    socket->send_binary(acs::encode_exec(acs::ExecKind::Taken, "0"));
  };
  const auto server = net::HttpServer::create(
      loop, {}, [](const net::HttpRequest&, const net::Responder&) {}, accept);
  ASSERT_TRUE(server) << server.error().message;
  {
    base::Queue<bool> news(2);  // The count, and the end.
    const Credentials credentials;
    api::ecs::Session session;
    session.stream_url = base::format("ws://127.0.0.1:{}/exec/session/1", (*server)->port());
    ExecLine line({.credentials = credentials,
                   .session = session,
                   .terminal = false,
                   .wake = [&] { news.push(true); },
                   .wait = [](base::Milliseconds) { return false; }});
    ASSERT_TRUE(line.open());
    news.pop();
    line.take();  // From now on nothing is kept back.
    for (int i = 0; i < inputs; ++i) {
      line.send(acs::encode_exec(acs::ExecKind::Input, std::string(1'000, 'x')));
    }
  }
  const auto end = closed.pop();
  loop.stop();
  EXPECT_EQ(1000, end->code);
  EXPECT_EQ(1 + inputs, end->messages);  // The first has the token.
}

}  // namespace
}  // namespace cli
