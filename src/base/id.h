// Strong identifiers: a text that is not just any text.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace base {

// By their texts alone.
struct TextOrder {
  TextOrder() = default;
  explicit TextOrder(std::string_view /*text*/) {}
  friend auto operator<=>(const TextOrder&, const TextOrder&) = default;
};

// Of "stem/id". Held beside the text, so that a search among very many ids reads few of their
// texts, each of which lies somewhere else in memory. Ids of one stem stand as their texts do; one
// stem before another as the hashes say.
class StemOrder {
 public:
  StemOrder() = default;
  explicit StemOrder(std::string_view text) {
    const size_t begin = text.rfind('/') + 1;  // 0: there is no stem.
    if (begin > 0) {
      stem_ = static_cast<uint32_t>(std::hash<std::string_view>{}(text.substr(0, begin)));
    }
    for (size_t i = begin; i < begin + sizeof(id_); ++i) {
      id_ = id_ << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
    }
  }
  uint32_t stem() const { return stem_; }
  friend auto operator<=>(const StemOrder&, const StemOrder&) = default;

 private:
  uint32_t stem_ = 0;  // A hash.
  uint32_t id_ = 0;    // The id's first four letters.
};

// `struct TaskArnTag; using TaskArn = base::Id<TaskArnTag>;`
template <class Tag, class Order = TextOrder>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : order_(text), text_(std::move(text)) {}
  explicit Id(std::string_view text) : order_(text), text_(text) {}
  explicit Id(const char* text) : Id(std::string_view(text)) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  const Order& order() const { return order_; }
  friend auto operator<=>(const Id&, const Id&) = default;
  friend bool operator==(const Id&, const Id&) = default;

 private:
  [[no_unique_address]] Order order_;
  std::string text_;
};

}  // namespace base

template <class Tag, class Order>
struct std::hash<base::Id<Tag, Order>> {
  size_t operator()(const base::Id<Tag, Order>& id) const noexcept {
    return std::hash<std::string_view>{}(id.str());
  }
};
