// Any texts as the records of a store: they are refused with a reason, or make a state whose
// records read back as the same.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/records.h"

namespace {

std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

using Records = std::map<std::string, std::string, std::less<>>;

base::Result<model::ClusterState> load(const Records& records) {
  model::ClusterState state;
  for (const auto& [key, value] : records) TRY_VOID(model::load_record(state, key, value));
  TRY_VOID(model::finish_load(state));
  return state;
}

Records encode(const model::ClusterState& state, const Records& keys) {
  const model::Account account{"us-east-1", "123456789012"};
  const model::RecordEncoder encoder(state, account);
  Records made;
  for (const auto& [key, ignored] : keys) {
    if (auto value = encoder.encode(key)) made.emplace(key, std::move(*value));
  }
  return made;
}

}  // namespace

// Lines: key, value, key, value ...
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Records records;
  while (!rest.empty()) {
    const std::string_view key = take_line(rest);
    records.insert_or_assign(std::string(key), std::string(take_line(rest)));
  }
  const auto state = load(records);
  if (!state) {
    CHECK(!state.error().code.empty() && !state.error().message.empty());
    return 0;
  }
  const Records written = encode(*state, records);
  const auto again = load(written);
  if (!again) return 0;  // A key that its value does not belong to is written no more.
  CHECK(encode(*again, written) == written);
  return 0;
}
