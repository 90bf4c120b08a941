// Any operation with any body, properly signed, and any bytes that are not: read_call() answers
// with a call whose input prints, and whose named members are JSON, or with an error that can be
// written on both wires.
#include <cstdint>
#include <string>
#include <string_view>

#include "api/json.h"
#include "auth/signer.h"
#include "base/result.h"
#include "json/value.h"
#include "server/front.h"

namespace {

std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

const auth::AccessKey& key() {
  static const auth::AccessKey made{.access_key_id = "AKIDEXAMPLE",
                                    .secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                    .session_token = {},
                                    .account = "123456789012",
                                    .arn = "arn:aws:iam::123456789012:root",
                                    .user_id = "123456789012"};
  return made;
}

void read(const net::HttpRequest& request, bool is_signed) {
  auth::KeyRing keys;
  keys.put(key());
  auth::Verifier verifier({.region = "us-east-1", .services = server::service_names()});
  const auto call =
      server::read_call(request, verifier, keys, *base::parse_basic("20250131T120000Z"));
  const server::Wire wire = server::wire_of(request);
  if (!call) {
    CHECK(!call.error().code.empty() && !call.error().message.empty());
    const auto error =
        server::write_error(server::addressed_service(request), wire, call.error(), "id");
    CHECK(error.status >= 400 && !error.body.empty());
    return;
  }
  CHECK(is_signed || call->caller.access_key_id.empty());
  std::string printed;
  api::print_to(printed, call->input.shape(), call->input.data());
  CHECK(!printed.empty());
  const auto shown = json::parse(server::named_members(call->input));
  CHECK(shown && shown->is_object());
}

}  // namespace

// Lines: service, target or content type, path; the rest is the body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string service(take_line(rest));
  const std::string target(take_line(rest));
  net::HttpRequest request{.method = "POST", .target = std::string(take_line(rest))};
  if (!request.target.starts_with('/')) request.target = "/";
  request.body = rest;
  request.headers = {{"Host", "127.0.0.1"}};
  if (target.contains('.')) {
    request.headers.push_back({"X-Amz-Target", target});
  } else {
    request.headers.push_back({"Content-Type", target});
  }
  read(request, false);

  const size_t query = std::min(request.target.find('?'), request.target.size());
  auth::Request to_sign{
      .method = request.method,
      .path = std::string_view(request.target).substr(0, query),
      .query = std::string_view(request.target).substr(std::min(query + 1, request.target.size())),
      .headers = {},
      .body = request.body};
  for (const net::Header& header : request.headers) {
    to_sign.headers.emplace_back(header.name, header.value);
  }
  const auto headers = auth::sign(
      to_sign, auth::Credentials{key().access_key_id, key().secret_access_key, {}},
      {.region = "us-east-1", .service = service}, *base::parse_basic("20250131T120000Z"));
  for (const auto& [name, value] : headers) request.headers.push_back({name, value});
  read(request, true);
  return 0;
}
