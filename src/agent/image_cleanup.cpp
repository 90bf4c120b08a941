#include "agent/image_cleanup.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "json/value.h"

namespace agent {
namespace {

constexpr base::Milliseconds disk_interval = std::chrono::minutes(1);

// "busybox" is "busybox:latest".
std::string full_name(const std::string& image) {
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return tagged || image.find('@') != std::string::npos ? image : image + ":latest";
}

// Docker leaves the name of its own registry out.
std::string short_name(std::string image) {
  for (const std::string_view prefix : {"docker.io/library/", "docker.io/"}) {
    if (image.starts_with(prefix)) return image.substr(prefix.size());
  }
  return image;
}

std::optional<bool> is_full(const std::string& path, int percent) {
  struct statvfs disk{};
  if (percent <= 0 || ::statvfs(path.c_str(), &disk) != 0 || disk.f_blocks == 0) {
    return std::nullopt;
  }
  // As `df` counts: what only root may use is no free space.
  const auto used = static_cast<double>(disk.f_blocks - disk.f_bfree);
  return used * 100 > (used + static_cast<double>(disk.f_bavail)) * percent;
}

// One that running containers or other names still need stays.
void remove_images(const DockerAccess& docker, const std::vector<std::string>& names,
                   CleanupDone& done) {
  for (const std::string& name : names) {
    const auto removed = docker.resources.remove_image(name);
    if (removed) {
      done.removed.push_back(name);
      base::log_info("Image {} was not used for long, and is removed.", name);
    } else if (removed.error().cause != docker::Cause::Conflict) {
      base::log_warning("Image {} cannot be removed: {}", name, removed.error().message);
    }
  }
}

}  // namespace

std::string print_image_uses(const ImageUses& uses) {
  json::Value text = json::Value::object();
  for (const auto& [name, time] : uses) text.set(name, time.time_since_epoch().count());
  return json::print(text);
}

ImageUses parse_image_uses(const std::string& text) {
  ImageUses uses;
  const auto value = json::parse(text);
  if (!value) return uses;
  for (const json::Field& field : value->fields()) {
    uses[field.name] = base::Time(base::Milliseconds(field.value.as_int64().value_or(0)));
  }
  return uses;
}

std::vector<std::string> choose_images(const CleanupRequest& request, const CleanupPolicy& policy,
                                       const std::vector<docker::ImageSummary>& images,
                                       bool disk_low) {
  std::map<std::string, std::pair<std::string, base::Time>> pulled;  // By Docker's name.
  for (const auto& [name, time] : request.uses) pulled[short_name(full_name(name))] = {name, time};
  std::set<std::string> busy;
  for (const std::string& name : request.busy) busy.insert(short_name(full_name(name)));

  std::vector<std::pair<base::Time, std::vector<std::string>>> idle;
  for (const docker::ImageSummary& image : images) {
    const bool needed = std::ranges::any_of(
        image.names, [&](const std::string& name) { return busy.contains(name); });
    base::Time last = base::Time::min();
    std::vector<std::string> names;
    for (const std::string& name : image.names) {
      const auto known = pulled.find(name);
      if (known == pulled.end()) continue;
      names.push_back(known->second.first);
      last = std::max(last, known->second.second);
    }
    const bool old = disk_low || request.now - last >= policy.minimum_image_age;
    if (!needed && !names.empty() && old) idle.emplace_back(last, std::move(names));
  }
  std::ranges::sort(idle);
  if (!disk_low && idle.size() > policy.most_images) idle.resize(policy.most_images);
  std::vector<std::string> chosen;
  for (auto& [last, names] : idle) std::ranges::move(names, std::back_inserter(chosen));
  return chosen;
}

CleanupDone clean_up(const DockerAccess& docker, const CleanupPolicy& policy,
                     const CleanupRequest& request) {
  CleanupDone done;
  const auto info = docker.runtime.info();
  if (!info) return done;
  done.disk_low = is_full(info->root_dir, policy.disk_percent);
  const bool disk_low = done.disk_low.value_or(false);
  if (!policy.images || (!request.images && !disk_low)) return done;
  const auto images = docker.resources.list_images();
  if (!images) return done;
  remove_images(docker, choose_images(request, policy, *images, disk_low), done);
  return done;
}

void ImageCleanup::on_begin(const core::Operation& operation, base::Time now) {
  if (const auto* pull = std::get_if<core::PullImage>(&operation.request)) {
    pulls_[operation.id] = pull->image;
  } else if (const auto* create = std::get_if<core::CreateContainer>(&operation.request)) {
    const auto known = uses_.find(create->body["Image"].text_or(""));
    if (known == uses_.end()) return;
    known->second = now;
    changed_ = true;
  }
}

void ImageCleanup::on_done(const core::OperationDone& done, base::Time now) {
  const auto pull = pulls_.find(done.id);
  if (pull == pulls_.end()) return;
  if (done.result) {
    uses_[pull->second] = now;
    changed_ = true;
  }
  pulls_.erase(pull);
}

std::optional<CleanupRequest> ImageCleanup::advance(const core::Core& core, base::Time now) {
  if (running_ || now < wake_at_) return std::nullopt;
  if (!images_at_) images_at_ = now + policy_.interval;
  CleanupRequest request{.uses = uses_, .busy = {}, .images = now >= *images_at_, .now = now};
  if (request.images) images_at_ = now + policy_.interval;
  for (const auto& [arn, task] : core.tasks()) {
    if (task.all_stopped()) continue;
    for (const acs::Container& container : task.payload.containers) {
      request.busy.insert(container.image);
    }
  }
  for (const auto& [id, image] : pulls_) request.busy.insert(image);
  running_ = true;
  return request;
}

std::optional<core::DiskSpace> ImageCleanup::on_cleaned(const CleanupDone& done, base::Time now) {
  running_ = false;
  wake_at_ = std::min(now + disk_interval, images_at_.value_or(base::Time::max()));
  for (const std::string& name : done.removed) changed_ = uses_.erase(name) > 0 || changed_;
  const bool low = done.disk_low.value_or(false);
  if (low == disk_low_) return std::nullopt;
  disk_low_ = low;
  if (low) {
    base::log_warning(
        "The disk with Docker's data is more than {} % full: stopped containers and images that no "
        "task uses are removed now.",
        policy_.disk_percent);
  }
  return core::DiskSpace{low};
}

std::optional<std::string> ImageCleanup::take_changes() {
  if (!std::exchange(changed_, false)) return std::nullopt;
  return print_image_uses(uses_);
}

}  // namespace agent
