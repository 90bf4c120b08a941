#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <memory>

#include "net/http_client.h"
#include "net/http_server.h"
#include "net/testing.h"

namespace net {
namespace {

using testing::make_certificate;
using testing::must;
using testing::RawPeer;

struct TlsServer {
  explicit TlsServer(const std::string& name = "IP:127.0.0.1",
                     base::Milliseconds head_timeout = base::Milliseconds{10'000})
      : certificate(make_certificate(name)) {
    HttpServerOptions options;
    options.tls = certificate;
    options.body_limit = [](const HttpRequest&) { return size_t{64} << 20; };
    options.head_timeout = head_timeout;
    server = must(HttpServer::create(
        loop, std::move(options), [](const HttpRequest& request, const Responder& responder) {
          responder.respond({200, {{"X-Tls", request.tls ? "yes" : "no"}}, request.body});
        }));
  }
  ~TlsServer() { server->stop(); }
  Url url(const std::string& host = "127.0.0.1") const {
    return {"https", host, server->port(), "/"};
  }

  TlsServerOptions certificate;
  Loop loop{2};
  std::unique_ptr<HttpServer> server;
};

TEST(Tls, a_client_that_trusts_the_certificate_is_served) {
  const TlsServer tls;
  const auto client =
      must(HttpClient::create(tls.url(), {.ca_pem = tls.certificate.certificate_chain_pem}));
  for (int i = 0; i < 3; ++i) {
    const auto response = must(client->request({.method = "POST", .body = "secret"}));
    EXPECT_EQ(response.body, "secret");
    EXPECT_EQ(header_or_empty(response.headers, "X-Tls"), "yes");
  }
}

TEST(Tls, large_bodies_pass_both_ways) {
  const TlsServer tls;
  const auto client = must(HttpClient::create(tls.url(), {.insecure = true}));
  std::string body(size_t{20} << 20, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 + i / 253);
  EXPECT_TRUE(must(client->request({.method = "POST", .body = body})).body == body);
}

TEST(Tls, a_certificate_of_somebody_else_or_of_another_name_is_refused) {
  const TlsServer tls;
  const auto fails = [](const Url& url, const TlsClientOptions& options) {
    const auto client = must(HttpClient::create(url, options));
    const auto response = client->request({});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, "TlsError");
    EXPECT_NE(response.error().message.find("certificate"), std::string::npos)
        << response.error().message;
  };
  fails(tls.url(), {.ca_pem = make_certificate("IP:127.0.0.1").certificate_chain_pem});
  fails(tls.url(), {});  // The system does not know it either.
  fails(tls.url(), {.ca_pem = tls.certificate.certificate_chain_pem, .server_name = "other"});
}

TEST(Tls, a_new_certificate_is_for_new_connections_and_those_that_are_open_stay) {
  const TlsServer tls;
  const auto client = [&](const TlsServerOptions& trusted) {
    return must(HttpClient::create(tls.url(), {.ca_pem = trusted.certificate_chain_pem}));
  };
  const auto open = client(tls.certificate);
  ASSERT_EQ(must(open->request({})).status, 200);
  const TlsServerOptions next = make_certificate("IP:127.0.0.1");
  EXPECT_EQ(tls.server->use_certificate({next.certificate_chain_pem, "x"}).error().code,
            "TlsError");
  EXPECT_EQ(must(client(tls.certificate)->request({})).status, 200);
  ASSERT_TRUE(tls.server->use_certificate(next));
  EXPECT_EQ(must(open->request({})).status, 200);
  EXPECT_EQ(must(client(next)->request({})).status, 200);
  EXPECT_FALSE(client(tls.certificate)->request({}));
}

TEST(Tls, the_name_to_expect_may_differ_from_the_host) {
  const TlsServer tls("DNS:berth.example");
  const auto client =
      must(HttpClient::create(tls.url(), {.ca_pem = tls.certificate.certificate_chain_pem,
                                          .server_name = "berth.example"}));
  EXPECT_EQ(must(client->request({})).status, 200);
}

// Whether the server ends a handshake of TLS 1.2 with one of these ciphers.
bool agrees_to(uint16_t port, const char* ciphers) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  EXPECT_EQ(SSL_CTX_set_cipher_list(context.get(), ciphers), 1) << ciphers;
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection(BIO_new_ssl_connect(context.get()),
                                                                 BIO_free_all);
  BIO_set_conn_hostname(connection.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  return BIO_do_handshake(connection.get()) == 1;
}

TEST(Tls, ciphers_without_forward_secrecy_or_authentication_are_refused) {
  const TlsServer tls;
  const uint16_t port = tls.server->port();
  EXPECT_TRUE(agrees_to(port, "ECDHE+AESGCM"));
  EXPECT_TRUE(agrees_to(port, "ECDHE+CHACHA20"));
  for (const char* ciphers : {"AES128-SHA:AES256-SHA256",
                              "ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA", "AES128-GCM-SHA256"}) {
    EXPECT_FALSE(agrees_to(port, ciphers)) << ciphers;
  }
}

TEST(Tls, options_that_are_not_pem_are_refused) {
  Loop loop(1);
  const auto handler = [](const HttpRequest&, const Responder&) {};
  const TlsServerOptions good = make_certificate("DNS:a");
  const TlsServerOptions other = make_certificate("DNS:a");
  for (const TlsServerOptions& bad :
       {TlsServerOptions{"x", good.private_key_pem},
        TlsServerOptions{good.certificate_chain_pem, ""},
        TlsServerOptions{good.certificate_chain_pem, other.private_key_pem}}) {
    HttpServerOptions options;
    options.tls = bad;
    EXPECT_EQ(HttpServer::create(loop, options, handler).error().code, "TlsError");
  }
  EXPECT_EQ(HttpClient::create({"https", "a", 1, "/"}, {.ca_pem = "x"}).error().code, "TlsError");
}

TEST(Tls, plain_bytes_and_a_missing_handshake_end_the_connection) {
  const TlsServer hasty("IP:127.0.0.1", base::Milliseconds{100});
  RawPeer silent(hasty.server->port());
  EXPECT_TRUE(silent.is_closed());
  const TlsServer tls;
  RawPeer plain(tls.server->port());
  plain.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  plain.rest();
  const auto client = must(HttpClient::create(tls.url(), {.insecure = true}));
  EXPECT_EQ(must(client->request({})).status, 200);
}

TEST(Tls, a_server_without_tls_is_a_tls_error) {
  Loop loop(1);
  const auto server =
      must(HttpServer::create(loop, {}, [](const HttpRequest&, const Responder&) {}));
  const auto client =
      must(HttpClient::create({"https", "127.0.0.1", server->port(), "/"}, {.insecure = true}));
  const auto response = client->request({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, "TlsError");
}

}  // namespace
}  // namespace net
