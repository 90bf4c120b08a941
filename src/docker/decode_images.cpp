#include <algorithm>
#include <chrono>

#include "docker/decode.h"

namespace docker {
namespace {

constexpr std::string_view nameless = "<none>";

void add_names(const json::Value& list, std::vector<std::string>& names) {
  for (const json::Value& name : list.items()) {
    const std::string text = name.text_or("");
    if (!text.empty() && text.find(nameless) == std::string::npos) names.push_back(text);
  }
}

}  // namespace

Decoded<std::vector<ImageSummary>> decode_images(const json::Value& images) {
  if (!images.is_array()) return std::unexpected("the list of images is no array");
  std::vector<ImageSummary> result;
  for (const json::Value& image : images.items()) {
    ImageSummary summary{.id = image["Id"].text_or(""), .names = {}};
    if (summary.id.empty()) return std::unexpected("an image in the list has no Id");
    add_names(image["RepoTags"], summary.names);
    add_names(image["RepoDigests"], summary.names);
    std::ranges::sort(summary.names);
    summary.created_at = base::Time(std::chrono::seconds(image["Created"].as_int64().value_or(0)));
    summary.size_bytes =
        static_cast<uint64_t>(std::max<int64_t>(image["Size"].as_int64().value_or(0), 0));
    if (!summary.names.empty()) result.push_back(std::move(summary));
  }
  return result;
}

}  // namespace docker
