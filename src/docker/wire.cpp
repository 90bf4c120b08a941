#include "docker/wire.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/format.h"

namespace docker {
namespace {

constexpr size_t max_line_bytes = size_t{4} << 20;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

std::string base64_url(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string result;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      result.push_back(k <= count ? digits[(group >> (18 - 6 * k)) & 63U] : '=');
    }
  }
  return result;
}

ImageName split_image(std::string_view image) {
  std::string digest;
  if (const size_t at = image.find('@'); at != std::string_view::npos) {
    digest = std::string(image.substr(at + 1));
    image = image.substr(0, at);
  }
  std::string tag = "latest";
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  // A colon before the last slash belongs to the registry's port.
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    tag = std::string(image.substr(colon + 1));
    image = image.substr(0, colon);
  }
  return {std::string(image), digest.empty() ? std::move(tag) : std::move(digest)};
}

std::string registry_auth_header(const RegistryAuth& auth) {
  return base64_url(json::print(json::Value::object(
      {{"username", auth.username}, {"password", auth.password}, {"serveraddress", auth.server}})));
}

std::string filters_parameter(const Labels& labels, std::string_view type) {
  json::Value filters = json::Value::object();
  if (!type.empty()) filters.set("type", json::Value::array({json::Value(type)}));
  if (!labels.empty()) {
    json::Value wanted = json::Value::array();
    for (const auto& [name, value] : labels) {
      wanted.push(value.empty() ? name : base::format("{}={}", name, value));
    }
    filters.set("label", std::move(wanted));
  }
  return json::print(filters);
}

std::expected<bool, std::string> JsonLines::feed(std::string_view bytes, const OnLine& on_line) {
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    line_.append(bytes.substr(0, newline));
    if (line_.size() > max_line_bytes) {
      return std::unexpected("a line of its stream is longer than 4 MiB");
    }
    if (newline == std::string_view::npos) break;
    bytes.remove_prefix(newline + 1);
    const std::string line = std::exchange(line_, {});
    if (!blank(line) && !on_line(line)) return false;
  }
  return true;
}

bool JsonLines::finish(const OnLine& on_line) {
  const std::string line = std::exchange(line_, {});
  return blank(line) || on_line(line);
}

}  // namespace docker
