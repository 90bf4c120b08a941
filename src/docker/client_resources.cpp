#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "docker/client_call.h"
#include "docker/decode.h"
#include "docker/wire.h"

namespace docker {
namespace {

json::Value object_of(const Labels& labels) {
  json::Value object = json::Value::object();
  for (const auto& [name, value] : labels) object.set(name, value);
  return object;
}

// The daemon answers 200 before it has read the archive, and tells of a failure in the body.
std::optional<std::string> import_failure(std::string_view body) {
  std::optional<std::string> failure;
  JsonLines lines;
  const auto on_line = [&](std::string_view text) {
    const auto line = json::parse(text);
    if (line && line->find("error") != nullptr) failure = (*line)["error"].text_or("unknown");
    return !failure;
  };
  static_cast<void>(lines.feed(body, on_line));
  lines.finish(on_line);
  return failure;
}

}  // namespace

Result<VolumeInfo> DockerClient::create_volume(const VolumeRequest& request) {
  const json::Value body = json::Value::object({{"Name", request.name},
                                                {"Driver", request.driver},
                                                {"DriverOpts", object_of(request.driver_options)},
                                                {"Labels", object_of(request.labels)}});
  const Answer answer = TRY(send({.operation = Operation::CreateVolume,
                                  .method = "POST",
                                  .path = "/volumes/create",
                                  .timeout = timeouts_.create,
                                  .body = json::print(body)}));
  auto volume = decode_volume(TRY(parse_body(Operation::CreateVolume, answer.body)));
  if (!volume) return malformed(Operation::CreateVolume, volume.error());
  return std::move(*volume);
}

Result<VolumeInfo> DockerClient::inspect_volume(const std::string& name) {
  auto volume = decode_volume(
      TRY(get(Operation::InspectVolume, base::format("/volumes/{}", base::percent_encoded(name)))));
  if (!volume) return malformed(Operation::InspectVolume, volume.error());
  return std::move(*volume);
}

Result<void> DockerClient::remove_volume(const std::string& name) {
  const auto answer = send({.operation = Operation::RemoveVolume,
                            .method = "DELETE",
                            .path = base::format("/volumes/{}", base::percent_encoded(name)),
                            .timeout = timeouts_.remove});
  if (!answer && answer.error().cause != Cause::NotFound) return std::unexpected(answer.error());
  return {};
}

Result<void> DockerClient::import_image(const ImageImport& image) {
  const ImageName name = split_image(image.name);
  json::Value entry_point = json::Value::array(image.entry_point);
  const std::string change = "ENTRYPOINT " + json::print(entry_point);
  Sent sent{.operation = Operation::ImportImage,
            .method = "POST",
            .path = base::format("/images/create?fromSrc=-&repo={}&tag={}&changes={}",
                                 base::percent_encoded(name.repository),
                                 base::percent_encoded(name.tag), base::percent_encoded(change)),
            .timeout = timeouts_.create,
            .body = image.archive};
  sent.headers.push_back({"Content-Type", "application/x-tar"});
  const Answer answer = TRY(send(sent));
  if (const auto failure = import_failure(answer.body)) {
    return std::unexpected(daemon_error(Operation::ImportImage, 500, *failure));
  }
  return {};
}

Result<std::vector<ImageSummary>> DockerClient::list_images() {
  auto images = decode_images(TRY(get(Operation::ListImages, "/images/json?digests=1")));
  if (!images) return malformed(Operation::ListImages, images.error());
  return std::move(*images);
}

Result<void> DockerClient::remove_image(const std::string& image) {
  const auto answer = send({.operation = Operation::RemoveImage,
                            .method = "DELETE",
                            .path = base::format("/images/{}", base::percent_encoded(image, "/:@")),
                            .timeout = timeouts_.remove});
  if (!answer && answer.error().cause != Cause::NotFound) return std::unexpected(answer.error());
  return {};
}

// Ids, the oldest first.
Result<std::vector<std::string>> DockerClient::networks_named(const std::string& name) {
  const json::Value filters = json::Value::object({{"name", json::Value::array({name})}});
  const json::Value listed =
      TRY(get(Operation::CreateNetwork,
              base::format("/networks?filters={}", base::percent_encoded(json::print(filters)))));
  std::vector<std::pair<std::string, std::string>> found;
  for (const json::Value& network : listed.items()) {
    // The daemon's filter takes parts of names too.
    if (network["Name"].text_or("") != name) continue;
    found.emplace_back(network["Created"].text_or(""), network["Id"].text_or(""));
  }
  std::ranges::sort(found);
  std::vector<std::string> ids;
  for (auto& [created, id] : found) ids.push_back(std::move(id));
  return ids;
}

// Two networks may have one name, even with CheckDuplicate: the daemon looks and makes in two
// steps. A container then joins neither ("network n is ambiguous"). So this process makes one at a
// time, and what another process made meanwhile (an agent that was killed) is taken for ours.
Result<void> DockerClient::create_network(const NetworkRequest& request) {
  network_turn_.pop();
  const Result<void> made = make_network(request);
  network_turn_.push(true);
  return made;
}

Result<void> DockerClient::make_network(const NetworkRequest& request) {
  std::vector<std::string> ids = TRY(networks_named(request.name));
  if (ids.empty()) {
    const json::Value body = json::Value::object({{"Name", request.name},
                                                  {"Driver", request.driver},
                                                  {"CheckDuplicate", true},
                                                  {"Labels", object_of(request.labels)}});
    const auto made = send({.operation = Operation::CreateNetwork,
                            .method = "POST",
                            .path = "/networks/create",
                            .timeout = timeouts_.create,
                            .body = json::print(body)});
    if (!made && made.error().cause != Cause::Conflict) return std::unexpected(made.error());
    ids = TRY(networks_named(request.name));
  }
  return keep_one_network(std::move(ids));
}

// The oldest, unless only a newer one is in use.
Result<void> DockerClient::keep_one_network(std::vector<std::string> ids) {
  std::optional<Error> kept;
  size_t left = ids.size();
  for (size_t i = ids.size(); i-- > 0 && left > 1;) {
    const auto removed = send({.operation = Operation::CreateNetwork,
                               .method = "DELETE",
                               .path = base::format("/networks/{}", base::percent_encoded(ids[i])),
                               .timeout = timeouts_.remove});
    if (removed || removed.error().cause == Cause::NotFound) {
      --left;
    } else {
      kept = removed.error();
    }
  }
  if (left > 1) return std::unexpected(*kept);
  return {};
}

}  // namespace docker
