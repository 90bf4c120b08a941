#include "control/request/paging.h"

#include "base/format.h"
#include "control/request/errors.h"

namespace control {
namespace {
constexpr std::string_view token_mark = "berth-page:";
}  // namespace

base::Result<PageRequest> page_request(const std::optional<std::string>& next_token,
                                       const std::optional<int32_t>& max_results, int32_t most) {
  PageRequest request;
  request.size = static_cast<size_t>(most);
  if (max_results) {
    if (*max_results < 1 || *max_results > most) {
      return invalid_parameter(
          base::format("maxResults is {}; it must be between 1 and {}.", *max_results, most));
    }
    request.size = static_cast<size_t>(*max_results);
  }
  if (!next_token || next_token->empty()) return request;
  if (!next_token->starts_with(token_mark)) {
    return invalid_parameter(
        "Invalid token: nextToken is not one that this server gave out. Start again without it.");
  }
  request.after = next_token->substr(token_mark.size());
  return request;
}

std::string page_token(std::string_view last) {
  return std::string(token_mark) + std::string(last);
}

bool Page::add(std::string key) {
  if (keys.size() == request_.size) {
    next_token = page_token(keys.back());
    return false;
  }
  keys.push_back(std::move(key));
  return true;
}

}  // namespace control
