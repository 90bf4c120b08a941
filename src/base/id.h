// Strong identifiers: a text that is not just any text.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace base {

// `struct TaskArnTag; using TaskArn = base::Id<TaskArnTag>;`
template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}
  explicit Id(std::string_view text) : text_(text) {}
  explicit Id(const char* text) : text_(text) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  friend auto operator<=>(const Id&, const Id&) = default;
  friend bool operator==(const Id&, const Id&) = default;

 private:
  std::string text_;
};

}  // namespace base

template <class Tag>
struct std::hash<base::Id<Tag>> {
  size_t operator()(const base::Id<Tag>& id) const noexcept {
    return std::hash<std::string_view>{}(id.str());
  }
};
