// Any bytes through the frames of a process's output, in pieces that the first byte chooses: no
// crash, and the same output as from one piece.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "docker/exec_frames.h"

namespace {

struct Told {
  std::string output;
  std::string error;
  bool failed = false;
  bool whole = false;
};

Told read(std::string_view bytes, size_t piece) {
  Told told;
  docker::ExecFrames frames;
  for (size_t at = 0; at < bytes.size() && !told.failed; at += piece) {
    const auto outputs = frames.feed(bytes.substr(at, piece));
    told.failed = !outputs;
    if (!outputs) break;
    for (const docker::ExecOutput& one : *outputs) {
      CHECK(!one.bytes.empty());
      (one.stream == docker::ExecStream::Error ? told.error : told.output) += one.bytes;
    }
  }
  told.whole = frames.at_end_of_frame();
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Told whole = read(bytes, bytes.size() + 1);
  const Told cut = read(bytes, size_t{1} + data[0] % 37U);
  CHECK(whole.failed == cut.failed);
  if (whole.failed) return 0;  // In pieces more came before the frame that is none.
  CHECK(whole.output == cut.output);
  CHECK(whole.error == cut.error);
  CHECK(whole.whole == cut.whole);
  return 0;
}
