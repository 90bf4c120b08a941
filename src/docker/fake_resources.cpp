#include <utility>

#include "base/format.h"
#include "docker/fake_access.h"

namespace docker {
namespace {

VolumeInfo volume_info(const VolumeRequest& volume) {
  return {volume.name, volume.driver, base::format("/var/lib/docker/volumes/{}/_data", volume.name),
          volume.labels};
}

}  // namespace

Result<VolumeInfo> FakeRuntime::create_volume(const VolumeRequest& request) {
  const Held state(*this);
  return perform(*state, Operation::CreateVolume, request.name, [&]() -> Result<VolumeInfo> {
    return volume_info(state->volumes.emplace(request.name, request).first->second);
  });
}

Result<VolumeInfo> FakeRuntime::inspect_volume(const std::string& name) {
  const Held state(*this);
  return perform(*state, Operation::InspectVolume, name, [&]() -> Result<VolumeInfo> {
    const auto found = state->volumes.find(name);
    if (found == state->volumes.end()) {
      return std::unexpected(daemon_error(Operation::InspectVolume, 404,
                                          base::format("get {}: no such volume", name)));
    }
    return volume_info(found->second);
  });
}

Result<void> FakeRuntime::remove_volume(const std::string& name) {
  const Held state(*this);
  return perform(*state, Operation::RemoveVolume, name, [&]() -> Result<void> {
    state->volumes.erase(name);
    return {};
  });
}

Result<void> FakeRuntime::import_image(const ImageImport& image) {
  const Held state(*this);
  return perform(*state, Operation::ImportImage, image.name, [&]() -> Result<void> {
    state->images.insert(full_image_name(image.name));
    return {};
  });
}

Result<std::vector<ImageSummary>> FakeRuntime::list_images() {
  const Held state(*this);
  return perform(*state, Operation::ListImages, "", [&]() -> Result<std::vector<ImageSummary>> {
    std::vector<ImageSummary> images;
    for (const std::string& name : state->images) {
      images.push_back({.id = "sha256:" + name, .names = {name}, .size_bytes = 1});
    }
    return images;
  });
}

Result<void> FakeRuntime::remove_image(const std::string& image) {
  const Held state(*this);
  return perform(*state, Operation::RemoveImage, image, [&]() -> Result<void> {
    const std::string name =
        image.starts_with("sha256:") ? image.substr(7) : full_image_name(image);
    for (const auto& [id, container] : state->containers) {
      if (full_image_name(container.state.image) != name) continue;
      return std::unexpected(daemon_error(
          Operation::RemoveImage, 409,
          base::format("conflict: unable to remove {}: container {} is using it", name, id)));
    }
    state->images.erase(name);
    return {};
  });
}

Result<void> FakeRuntime::create_network(const NetworkRequest& request) {
  const Held state(*this);
  return perform(*state, Operation::CreateNetwork, request.name, [&]() -> Result<void> {
    state->networks.insert(request.name);
    return {};
  });
}

std::vector<std::string> FakeRuntime::network_names() const {
  const Held state(*this);
  return {state->networks.begin(), state->networks.end()};
}

}  // namespace docker
