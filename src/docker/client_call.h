// What the files of the client share: one call, and its answer read as JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "docker/client.h"

namespace docker {

struct DockerClient::Sent {
  Operation operation{};
  const char* method = "GET";
  std::string path;  // Without the version.
  base::Milliseconds timeout{};
  bool idempotent = true;
  std::string body{};
  net::Headers headers{};
  base::Milliseconds inactivity_timeout{};  // stream() only.
};

inline std::unexpected<Error> malformed(Operation operation, std::string_view what) {
  return std::unexpected(malformed_error(operation, what));
}

inline Result<json::Value> parse_body(Operation operation, std::string_view body) {
  auto value = json::parse(body);
  if (!value) return malformed(operation, value.error().message);
  return std::move(*value);
}

}  // namespace docker
