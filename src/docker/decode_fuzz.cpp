// Any JSON as an answer of the Docker Engine API: every decoder gives a record or a reason.
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "docker/decode.h"

namespace {

template <class T>
void check(const docker::Decoded<T>& decoded) {
  CHECK(decoded || !decoded.error().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(docker::decode_message(text));
  const auto answer = json::parse(text);
  if (!answer) return 0;
  check(docker::choose_api_minor(*answer));
  for (const uint32_t minor : {24U, 43U}) static_cast<void>(docker::decode_info(*answer, minor));
  check(docker::decode_image(*answer));
  check(docker::decode_created(*answer));
  check(docker::decode_container(*answer));
  check(docker::decode_list(*answer));
  check(docker::decode_event(*answer));
  check(docker::decode_stats(*answer));
  check(docker::decode_volume(*answer));
  docker::PullTracker tracker;
  for (const json::Value& line : answer->items()) {
    if (const auto added = tracker.add(line); !added) CHECK(!added.error().empty());
  }
  static_cast<void>(tracker.add(*answer));
  return 0;
}
