// Any bytes through the log demultiplexer, in pieces that the first byte chooses: no crash, no line
// longer than promised, and the same lines as from one piece.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "docker/log_demultiplexer.h"

namespace {

using docker::LogDemultiplexer;
using docker::LogForm;
using docker::LogLine;

struct Told {
  std::vector<LogLine> lines;
  bool failed = false;
};

Told read(LogForm form, std::string_view bytes, size_t piece) {
  Told told;
  const docker::OnLogLine on_line = [&told](LogLine&& line) {
    CHECK(line.bytes.size() <= docker::max_log_line_bytes);
    told.lines.push_back(std::move(line));
    return true;
  };
  LogDemultiplexer demultiplexer(form);
  for (size_t at = 0; at < bytes.size() && !told.failed; at += piece) {
    told.failed = !demultiplexer.feed(bytes.substr(at, piece), on_line).has_value();
  }
  if (!told.failed) told.failed = !demultiplexer.finish(on_line).has_value();
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const LogForm form : {LogForm::Multiplexed, LogForm::Raw}) {
    const Told whole = read(form, bytes, bytes.size() + 1);
    const Told cut = read(form, bytes, size_t{1} + data[0] % 37U);
    CHECK(whole.failed == cut.failed);
    CHECK(whole.lines.size() == cut.lines.size());
    for (size_t i = 0; i < whole.lines.size(); ++i) {
      CHECK(whole.lines[i].bytes == cut.lines[i].bytes);
      CHECK(whole.lines[i].time_ns == cut.lines[i].time_ns);
      CHECK(whole.lines[i].stream == cut.lines[i].stream);
    }
  }
  return 0;
}
