// Which images leave the machine, and when its disk runs full. Only images that this agent pulled
// itself: what somebody brought in by hand is theirs.
// Source: ECS Developer Guide, "Automated task and image cleanup".
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "agent/core/core.h"
#include "base/time.h"
#include "docker/runtime.h"

namespace agent {

// When each image that the agent pulled was last pulled or used, by its name in task definitions.
using ImageUses = std::map<std::string, base::Time>;
std::string print_image_uses(const ImageUses& uses);
ImageUses parse_image_uses(const std::string& text);  // Empty for a text that is none.

struct CleanupRequest {
  ImageUses uses;
  std::set<std::string> busy;  // Names that running tasks need.
  bool images = false;         // Their turn; without it only the disk is looked at.
  base::Time now{};
};

// The names to remove, the least recently used first: at most policy.most_images of those unused
// for policy.minimum_image_age; with `disk_low` all that nobody uses.
std::vector<std::string> choose_images(const CleanupRequest& request, const CleanupPolicy& policy,
                                       const std::vector<docker::ImageSummary>& images,
                                       bool disk_low);

struct CleanupDone {
  std::vector<std::string> removed;
  std::optional<bool> disk_low;  // nullopt: Docker's disk cannot be seen from here.
};
// Blocks; any thread.
CleanupDone clean_up(const DockerAccess& docker, const CleanupPolicy& policy,
                     const CleanupRequest& request);

// Keeps the uses. Belongs to the driver's thread.
class ImageCleanup {
 public:
  ImageCleanup(CleanupPolicy policy, ImageUses uses) : policy_(policy), uses_(std::move(uses)) {}

  // Looks for pulls, and for containers made of images that were pulled.
  void on_begin(const core::Operation& operation, base::Time now);
  void on_done(const core::OperationDone& done, base::Time now);

  // What to do when it is time. One at a time.
  std::optional<CleanupRequest> advance(const core::Core& core, base::Time now);
  // The core's input where the disk's state has changed.
  std::optional<core::DiskSpace> on_cleaned(const CleanupDone& done, base::Time now);
  base::Time wake_at() const { return running_ ? base::Time::max() : wake_at_; }

  // The uses when they have changed since the last call.
  std::optional<std::string> take_changes();

 private:
  CleanupPolicy policy_;
  ImageUses uses_;
  std::map<core::OperationId, std::string> pulls_;  // In flight.
  bool changed_ = false;
  bool running_ = false;
  bool disk_low_ = false;
  base::Time wake_at_ = base::Time::min();
  std::optional<base::Time> images_at_;
};

}  // namespace agent
