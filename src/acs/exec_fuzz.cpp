// Any bytes as a message of a session of ExecuteCommand: what is read prints and reads back as the
// same, and nothing is outside of what is allowed.
#include <cstdint>
#include <string_view>

#include "acs/exec.h"
#include "base/result.h"

namespace {

// What an encoder prints, without its kind.
std::string_view bytes_of(const std::string& message, acs::ExecKind kind) {
  const auto read = acs::decode_exec(message);
  CHECK(read && read->kind == kind);
  return read->bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto message = acs::decode_exec(text);
  if (!message) return 0;
  CHECK(acs::encode_exec(message->kind, message->bytes) == text);
  if (const auto start = acs::read_exec_start(message->bytes)) {
    const std::string printed = acs::encode_exec(*start);
    CHECK(acs::read_exec_start(bytes_of(printed, acs::ExecKind::Start)) == start);
  }
  if (const auto cells = acs::read_terminal_size(message->bytes)) {
    CHECK(cells->columns >= 1 && cells->columns <= 10'000);
    CHECK(cells->rows >= 1 && cells->rows <= 10'000);
    const std::string printed = acs::encode_exec(*cells);
    CHECK(acs::read_terminal_size(bytes_of(printed, acs::ExecKind::Size)) == cells);
  }
  if (const auto consumed = acs::read_exec_consumed(message->bytes)) {
    CHECK(*consumed >= 1 && *consumed <= acs::exec_window);
    const std::string printed = acs::encode_exec_consumed(*consumed);
    CHECK(acs::read_exec_consumed(bytes_of(printed, acs::ExecKind::Consumed)) == consumed);
  }
  return 0;
}
