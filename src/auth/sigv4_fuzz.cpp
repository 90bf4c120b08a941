// Any bytes as a request: the verifier must answer, and never accept what was not signed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "auth/verifier.h"
#include "base/result.h"

namespace {

// The text up to the next line end, which is taken off the front of `rest`.
std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

// Lines: method, path, query, then "name:value" headers up to an empty line; the rest is the body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  auth::Request request;
  request.method = take_line(rest);
  request.path = take_line(rest);
  request.query = take_line(rest);
  while (true) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    const size_t colon = line.find(':');
    request.headers.emplace_back(line.substr(0, colon), colon == std::string_view::npos
                                                            ? std::string_view{}
                                                            : line.substr(colon + 1));
  }
  request.body = rest;

  auth::KeyRing keys;
  keys.put({.access_key_id = "AKIDEXAMPLE",
            .secret_access_key = "a secret that the fuzzer cannot know: 0d6f5c0f8f10",
            .session_token = {},
            .account = "123456789012",
            .arn = "arn:aws:iam::123456789012:root",
            .user_id = "123456789012"});
  auth::Verifier verifier({.region = "us-east-1", .services = {"ecs"}});
  const auto now = base::parse_basic("20250131T120000Z");
  const auto caller = verifier.verify(request, keys, *now);
  CHECK(!caller);
  CHECK(!caller.error().code.empty() && !caller.error().message.empty());
  return 0;
}
