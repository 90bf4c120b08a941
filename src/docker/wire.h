// How values are spelled in the Engine API's requests, and how its streams of JSON are cut.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "docker/runtime.h"

namespace docker {

// With '-' and '_' and with padding, as Go's base64.URLEncoding reads it. Source: RFC 4648.
std::string base64_url(std::string_view bytes);

struct ImageName {
  std::string repository;  // "host:5000/a/b"
  std::string tag;         // "latest", or a digest "sha256:..."
  friend bool operator==(const ImageName&, const ImageName&) = default;
};
// Without tag and digest the tag is "latest": the daemon would take an empty one for "all tags".
ImageName split_image(std::string_view image);

// The value of X-Registry-Auth. Source: Engine API reference, "Authentication".
std::string registry_auth_header(const RegistryAuth& auth);

// The value of the `filters` parameter: {"label":["name=value"],"type":["container"]}, not yet
// percent-encoded. No `type` when it is empty.
std::string filters_parameter(const Labels& labels, std::string_view type);

// Cuts a stream of JSON documents, one a line, out of pieces of any size.
class JsonLines {
 public:
  using OnLine = std::function<bool(std::string_view)>;
  // False when on_line said so. The error is a sentence: a line that is far too long.
  std::expected<bool, std::string> feed(std::string_view bytes, const OnLine& on_line);
  // The last line when it has no newline.
  bool finish(const OnLine& on_line);

 private:
  std::string line_;
};

}  // namespace docker
