#include "docker/exec_frames.h"

#include <algorithm>

#include "base/format.h"

namespace docker {
namespace {

constexpr size_t head_bytes = 8;
constexpr uint8_t output_stream = 1;
constexpr uint8_t error_stream = 2;

}  // namespace

base::Result<void> ExecFrames::take_head(std::string_view& bytes) {
  const size_t most = std::min(head_bytes - head_.size(), bytes.size());
  head_.append(bytes.substr(0, most));
  bytes.remove_prefix(most);
  if (head_.size() < head_bytes) return {};
  const auto byte = [this](size_t index) { return static_cast<uint8_t>(head_[index]); };
  if (byte(0) != output_stream && byte(0) != error_stream) {
    return base::fail("DockerError",
                      base::format("Docker sent output of an unknown stream {}", byte(0)));
  }
  stream_ = byte(0) == error_stream ? ExecStream::Error : ExecStream::Output;
  left_ = uint32_t{byte(4)} << 24 | uint32_t{byte(5)} << 16 | uint32_t{byte(6)} << 8 | byte(7);
  head_.clear();
  return {};
}

base::Result<std::vector<ExecOutput>> ExecFrames::feed(std::string_view bytes) {
  std::vector<ExecOutput> outputs;
  while (!bytes.empty()) {
    if (left_ == 0) {
      TRY_VOID(take_head(bytes));
      continue;
    }
    const size_t most = std::min<size_t>(left_, bytes.size());
    outputs.push_back({stream_, std::string(bytes.substr(0, most))});
    bytes.remove_prefix(most);
    left_ -= static_cast<uint32_t>(most);
  }
  return outputs;
}

}  // namespace docker
