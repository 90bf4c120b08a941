// Takes apart what Docker sends for a process without a terminal: frames of eight bytes of head
// (the stream, the length) and their bytes. Pure.
// Source: Docker Engine API reference, "Attach to a container", "Stream format".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace docker {

enum class ExecStream : uint8_t { Output, Error };

struct ExecOutput {
  ExecStream stream = ExecStream::Output;
  std::string bytes;
  friend bool operator==(const ExecOutput&, const ExecOutput&) = default;
};

class ExecFrames {
 public:
  // The output that has come whole or in part, in order; none of it is empty. Errors: "DockerError"
  // for a frame of an unknown stream; nothing more can be read then.
  base::Result<std::vector<ExecOutput>> feed(std::string_view bytes);
  // Whether the bytes so far end with a frame.
  bool at_end_of_frame() const { return head_.empty() && left_ == 0; }

 private:
  base::Result<void> take_head(std::string_view& bytes);

  std::string head_;   // As much of the next frame's head as has come.
  uint32_t left_ = 0;  // Of the frame's bytes.
  ExecStream stream_ = ExecStream::Output;
};

}  // namespace docker
