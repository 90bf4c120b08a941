// Any text as a frame of the two agent protocols, in both directions: what can be read must print
// and read back as the same message.
#include <cstdint>
#include <string_view>

#include "acs/messages.h"
#include "acs/telemetry.h"
#include "base/result.h"

namespace {

// Prints, reads and prints again; texts are compared, since a NaN is unlike itself.
template <class Message, class Decode>
void round_trip(const base::Result<Message>& message, const Decode& decode) {
  if (!message) {
    CHECK(!message.error().code.empty() && !message.error().message.empty());
    return;
  }
  const std::string printed = acs::encode(*message);
  const auto again = decode(printed);
  CHECK(again);
  CHECK(acs::encode(*again) == printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip(acs::decode_server_message(text), acs::decode_server_message);
  round_trip(acs::decode_agent_message(text), acs::decode_agent_message);
  round_trip(acs::decode_telemetry_message(text), acs::decode_telemetry_message);
  if (const auto frame = acs::split_telemetry_frame(text)) {
    round_trip(acs::decode_telemetry_request(frame->envelope), acs::decode_telemetry_request);
  }
  return 0;
}
