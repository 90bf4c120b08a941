// A far end that says anything to one end of the line of a session, which sends and changes its
// connection meanwhile: what it keeps is what it has sent and not been told of, in order, and it
// counts what it takes.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "acs/exec.h"
#include "acs/exec_link.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace {

bool is_taken_message(const acs::ExecLink& link, const std::string& message) {
  return message == link.taken_message();
}

// What the link ought to keep: everything but the first `taken` of `sent`.
void check_rest(const std::vector<std::string>& rest, const std::deque<std::string>& sent,
                uint64_t taken) {
  CHECK(taken <= sent.size() && rest.size() == sent.size() - taken);
  for (size_t index = 0; index < rest.size(); ++index) CHECK(rest[index] == sent[index + taken]);
}

}  // namespace

// Steps, each a byte that says what it is and the length of the bytes that follow it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view left(reinterpret_cast<const char*>(data), size);
  acs::ExecLink link;
  std::deque<std::string> sent;
  uint64_t taken_by_far_end = 0;
  while (!left.empty()) {
    const auto head = static_cast<uint8_t>(left.front());
    const std::string_view bytes = left.substr(1, head >> 2);
    left.remove_prefix(1 + bytes.size());
    const uint64_t before = link.taken();
    switch (head & 3) {
      case 0:
        sent.emplace_back(bytes);
        CHECK(link.send(std::string(bytes)) == bytes);
        break;
      case 1: {
        const auto count = base::parse_number<uint64_t>(bytes);
        if (!count) break;
        const bool possible = *count >= taken_by_far_end && *count <= sent.size();
        const auto rest = link.resume(*count);
        CHECK(rest.has_value() == possible);
        if (!rest) return 0;  // The connection is refused.
        taken_by_far_end = *count;
        check_rest(*rest, sent, taken_by_far_end);
        break;
      }
      case 2:
        link.reconnect();
        CHECK(!link.is_open());
        break;
      default: {
        const bool waited = !link.is_open();
        const acs::ExecLink::Received received = link.receive(bytes);
        CHECK(!(received.broken && received.for_caller));
        CHECK(link.taken() == before + (received.for_caller ? 1 : 0));
        if (received.broken) return 0;  // The session ends.
        if (received.for_caller) {
          CHECK(!waited && received.answers.size() <= 1);
          for (const auto& answer : received.answers) CHECK(is_taken_message(link, answer));
          break;
        }
        // The far end has told how much it has.
        taken_by_far_end = base::parse_number<uint64_t>(bytes.substr(1)).value();
        CHECK(link.is_open());
        if (waited) check_rest(received.answers, sent, taken_by_far_end);
        break;
      }
    }
    CHECK(link.settled() == (taken_by_far_end == sent.size()));
    CHECK(link.settled() == (link.kept_bytes() == 0));
  }
  return 0;
}
