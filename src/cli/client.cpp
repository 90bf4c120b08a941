#include "cli/client.h"

#include <fstream>
#include <iterator>

#include "auth/signer.h"
#include "base/format.h"
#include "json/value.h"
#include "net/http_client.h"

namespace cli {
namespace {

net::HttpRequest signed_request(const Credentials& credentials, const api::Service& service,
                                std::string_view operation, const net::Url& url,
                                const std::string& body) {
  net::HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.body = body;
  request.headers = {{"Host", net::authority(url)},
                     {"Content-Type", "application/x-amz-json-1.1"},
                     {"X-Amz-Target", base::format("{}.{}", service.target_prefix, operation)}};
  auth::Request to_sign{
      .method = request.method, .path = "/", .query = {}, .headers = {}, .body = request.body};
  for (const net::Header& header : request.headers) {
    to_sign.headers.emplace_back(header.name, header.value);
  }
  base::SystemClock clock;
  for (auto& [name, value] :
       auth::sign(to_sign,
                  {.access_key_id = credentials.access_key_id,
                   .secret_access_key = credentials.secret_access_key,
                   .session_token = credentials.session_token},
                  {credentials.region, std::string(service.name)}, clock.now())) {
    request.headers.push_back({name, value});
  }
  return request;
}

}  // namespace

base::Result<net::TlsClientOptions> trust_of(const Credentials& credentials) {
  net::TlsClientOptions trust;
  if (credentials.ca_file.empty()) return trust;
  std::ifstream file(credentials.ca_file);
  trust.ca_pem.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (!trust.ca_pem.empty()) return trust;
  return base::fail("IoError", base::format("The server's certificates in {} cannot be read.",
                                            credentials.ca_file));
}

base::Result<std::string> call_api(const Credentials& credentials, const api::Service& service,
                                   std::string_view operation, const std::string& body) {
  const net::Url url = TRY(net::parse_url(credentials.url));
  const auto client = TRY(net::HttpClient::create(url, TRY(trust_of(credentials))));
  net::HttpResponse response =
      TRY(client->request(signed_request(credentials, service, operation, url, body)));
  if (response.status == 200) return std::move(response.body);
  const auto error = json::parse(response.body);
  if (!error) {
    return base::fail("HttpError",
                      base::format("{} answered HTTP {}", credentials.url, response.status));
  }
  return base::fail((*error)["__type"].text_or("HttpError"), (*error)["message"].text_or(""));
}

}  // namespace cli
