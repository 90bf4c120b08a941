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

Records encode(const model::ClusterState& state) {
  Records made;
  for (const model::RecordKey& key : model::record_keys(state)) {
    auto value = model::encode_record(state, key);
    CHECK(value.has_value());
    made.emplace(model::print(key), std::move(*value));
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
  const Records written = encode(*state);
  const auto again = load(written);
  CHECK(again.has_value() && encode(*again) == written);
  return 0;
}
