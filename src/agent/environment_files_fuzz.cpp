// Any bytes as a file of environment variables, as the place of one, and as an answer of S3: what
// is read prints and reads back as the same, and a file is the sum of its lines.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/environment_files.h"
#include "base/format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const agent::Variables variables = agent::parse_environment_file(text);
  std::string printed;
  for (const auto& [name, value] : variables) {
    CHECK(!name.empty() && name.find_first_of("=\n") == std::string::npos && name[0] != '#');
    CHECK(!value.empty() && !value.contains('\n'));
    printed += base::format("{}={}\r\n", name, value);
  }
  CHECK(agent::parse_environment_file(printed) == variables);

  const size_t end = text.find('\n', size / 2);
  if (end != std::string_view::npos) {
    agent::Variables pieces = agent::parse_environment_file(text.substr(end + 1));
    pieces.merge(agent::parse_environment_file(text.substr(0, end + 1)));  // The last one counts.
    CHECK(pieces == variables);
  }

  if (const auto place = agent::parse_object_location(text)) {
    CHECK(!place->bucket.empty() && !place->bucket.contains('/') && !place->key.empty());
    CHECK(*agent::parse_object_location(base::format("s3://{}/{}", place->bucket, place->key)) ==
          *place);
  }
  net::HttpResponse response;
  response.status = 403;
  response.body = text;
  const base::Error error = agent::error_of_s3({"bucket", "key"}, response);
  CHECK(!error.code.empty() && error.message.contains("s3://bucket/key"));
  return 0;
}
