#include "store/batch.h"

#include <string_view>
#include <unordered_set>

namespace store {

void check_batch(const Batch& batch, const Limits& limits) {
  std::unordered_set<std::string_view> keys;
  keys.reserve(batch.operations());
  size_t bytes = 0;
  for (const Put& put : batch.puts) {
    CHECK(keys.insert(put.key).second);
    bytes += put.key.size() + put.value.size();
  }
  for (const std::string& key : batch.deletes) {
    CHECK(keys.insert(key).second);
    bytes += key.size();
  }
  CHECK(batch.operations() <= limits.operations);
  CHECK(bytes <= limits.bytes);
}

}  // namespace store
