#include "agent/environment_files.h"

#include <fstream>
#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "net/http_client.h"

namespace agent {
namespace {

constexpr std::string_view host_scheme = "file://";
constexpr size_t most_bytes = size_t{1} << 20;

// Between <tag> and </tag>; empty without them. S3's errors are small XML documents.
std::string element(std::string_view xml, std::string_view tag) {
  const std::string open = base::format("<{}>", tag);
  const size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  const size_t end = xml.find(base::format("</{}>", tag), begin);
  if (end == std::string_view::npos) return {};
  return std::string(xml.substr(begin + open.size(), end - begin - open.size()));
}

base::Result<std::string> read_host_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.fail() && !file.eof()) {
    return base::fail("IoError", base::format("{} cannot be read on the container instance: is it "
                                              "there, and may the agent read it?",
                                              path));
  }
  return text;
}

}  // namespace

Variables parse_environment_file(std::string_view text) {
  Variables variables;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('#')) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == line.size()) continue;
    variables[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return variables;
}

base::Result<ObjectLocation> parse_object_location(std::string_view text) {
  constexpr std::string_view scheme = "s3://";
  constexpr std::string_view service = ":s3:::";
  std::string_view rest;
  if (text.starts_with(scheme)) {
    rest = text.substr(scheme.size());
  } else if (const size_t at = text.find(service);
             text.starts_with("arn:") && at != std::string_view::npos) {
    rest = text.substr(at + service.size());
  }
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == rest.size()) {
    return base::fail(
        "InvalidParameterException",
        base::format("\"{}\" is neither file:///path nor arn:aws:s3:::bucket/key.", text));
  }
  return ObjectLocation{std::string(rest.substr(0, slash)), std::string(rest.substr(slash + 1))};
}

base::Error error_of_s3(const ObjectLocation& location, const net::HttpResponse& response) {
  const std::string code = element(response.body, "Code");
  const std::string message = element(response.body, "Message");
  return {code.empty() ? "HttpError" : code,
          base::format("s3://{}/{}: {} (HTTP {}); the role or key that reads it needs s3:GetObject "
                       "there",
                       location.bucket, location.key,
                       message.empty() ? std::string(net::reason_phrase(response.status)) : message,
                       response.status)};
}

base::Result<std::string> fetch_object(const ObjectStore& store, const ObjectLocation& location,
                                       base::Time now) {
  const std::string endpoint = store.endpoint.empty()
                                   ? base::format("https://s3.{}.amazonaws.com", store.region)
                                   : store.endpoint;
  const net::Url url = TRY(net::parse_url(endpoint));
  // S3 encodes the path once only; the signer encodes what it is given.
  const std::string plain_path = base::format("/{}/{}", location.bucket, location.key);
  net::HttpRequest request;
  request.method = "GET";
  request.target = base::percent_encoded(plain_path, "/");
  request.headers = {{"Host", net::authority(url)},
                     {"X-Amz-Content-Sha256", crypto::sha256_hex("")}};
  auth::Request to_sign{
      .method = request.method, .path = plain_path, .query = {}, .headers = {}, .body = {}};
  for (const net::Header& header : request.headers) {
    to_sign.headers.emplace_back(header.name, header.value);
  }
  auto signature =
      auth::sign(to_sign, store.credentials, {.region = store.region, .service = "s3"}, now);
  for (auto& [name, value] : signature) request.headers.push_back({name, std::move(value)});
  const auto client = TRY(net::HttpClient::create(url));
  net::HttpResponse response = TRY(client->request(request, {.max_body_bytes = most_bytes}));
  if (response.status != 200) return base::fail(error_of_s3(location, response));
  return std::move(response.body);
}

base::Result<Variables> read_environment_file(const std::string& location, const ObjectStore& store,
                                              base::Time now) {
  if (location.starts_with(host_scheme)) {
    return parse_environment_file(TRY(read_host_file(location.substr(host_scheme.size()))));
  }
  const ObjectLocation object = TRY(parse_object_location(location));
  return parse_environment_file(TRY(fetch_object(store, object, now)));
}

}  // namespace agent
