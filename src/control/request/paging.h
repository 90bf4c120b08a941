// One way to page through an ordered list: the token names the last key that was given out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/types.h"
#include "base/result.h"

namespace control {

struct PageRequest {
  std::string after;  // Empty: from the start.
  size_t size = 100;
};

// Errors: InvalidParameterException for a token that is not ours or a size out of 1..`most`.
base::Result<PageRequest> page_request(const std::optional<std::string>& next_token,
                                       const std::optional<int32_t>& max_results,
                                       int32_t most = 100);
// The token of a page that ended at `last`.
std::string page_token(std::string_view last);

// Collects one page. `next` is left empty when the list ended.
class Page {
 public:
  explicit Page(PageRequest request) : request_(std::move(request)) {}

  // Whether `key` lies behind what earlier pages gave out.
  bool wants(std::string_view key) const { return key > request_.after; }
  // False when the page is full: stop there, there is more.
  bool add(std::string key);

  api::List<std::string> keys;
  std::optional<std::string> next_token;

 private:
  PageRequest request_;
};

}  // namespace control
