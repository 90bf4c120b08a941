// From the Engine API's documents to plain records. Pure. Members that a daemon leaves out, or
// sends as null, keep their defaults; a document without what identifies it is an error, a
// sentence.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "docker/runtime.h"
#include "json/value.h"

namespace docker {

template <class T>
using Decoded = std::expected<T, std::string>;

// The minor of the version to speak, e.g. 41 of "1.41", from the answer of GET /version. Ours is
// 1.43; an older daemon is spoken to in its own, down to 1.24, and one that refuses 1.43 as too
// old in the oldest that it takes.
Decoded<uint32_t> choose_api_minor(const json::Value& version);

RuntimeInfo decode_info(const json::Value& info, uint32_t api_minor);
Decoded<ImageInfo> decode_image(const json::Value& image);
Decoded<CreatedContainer> decode_created(const json::Value& created);
Decoded<ContainerState> decode_container(const json::Value& container);
Decoded<std::vector<ContainerSummary>> decode_list(const json::Value& list);
Decoded<ContainerEvent> decode_event(const json::Value& event);
// The error is "not running" for the zeros that the daemon sends for such a container.
Decoded<ContainerStats> decode_stats(json::Value stats);
Decoded<VolumeInfo> decode_volume(const json::Value& volume);
// Images without a name are left out.
Decoded<std::vector<ImageSummary>> decode_images(const json::Value& images);

// The `message` of an error's body, or the body itself where it is not JSON.
std::string decode_message(std::string_view body);

// Sums up the progress of a pull.
class PullTracker {
 public:
  // The error is the daemon's own sentence when the pull has failed.
  std::expected<void, std::string> add(const json::Value& line);
  const PullProgress& progress() const { return progress_; }

 private:
  struct Layer {
    uint64_t current = 0;
    uint64_t total = 0;
    bool sized = false;    // `total` is known.
    bool present = false;  // It was here before: nothing of it is fetched.
    bool done = false;
  };
  void sum_up();

  std::map<std::string, Layer, std::less<>> layers_;
  PullProgress progress_;
};

}  // namespace docker
