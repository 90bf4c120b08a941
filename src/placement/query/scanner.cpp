#include "placement/query/scanner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"

namespace placement::query {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '/' || c == '\\' || c == '.';
}
bool ends_word(char c) {
  return is_blank(c) || c == ',' || c == '[' || c == ']' || c == '(' || c == ')' || c == '\'' ||
         c == '"';
}

// Longer spellings come before those that they begin with.
constexpr std::array<std::pair<std::string_view, Operator>, 10> symbols = {{
    {"==", Operator::Equals},
    {"=~", Operator::Matches},
    {"!=", Operator::NotEquals},
    {"!~", Operator::NotMatches},
    {"!in", Operator::NotIn},
    {"!exists", Operator::NotExists},
    {">=", Operator::GreaterEqual},
    {">", Operator::Greater},
    {"<=", Operator::LessEqual},
    {"<", Operator::Less},
}};
constexpr std::array<std::pair<std::string_view, Operator>, 12> words = {{
    {"equals", Operator::Equals},
    {"not_equals", Operator::NotEquals},
    {"greater_than", Operator::Greater},
    {"greater_than_equal", Operator::GreaterEqual},
    {"less_than", Operator::Less},
    {"less_than_equal", Operator::LessEqual},
    {"in", Operator::In},
    {"not_in", Operator::NotIn},
    {"matches", Operator::Matches},
    {"not_matches", Operator::NotMatches},
    {"exists", Operator::Exists},
    {"not_exists", Operator::NotExists},
}};
constexpr std::array<std::string_view, 6> reserved = {"and", "or",     "not",
                                                      "in",  "exists", "matches"};

}  // namespace

void Scanner::skip_blanks() {
  while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
}

bool Scanner::at_end() {
  skip_blanks();
  return position_ == text_.size();
}

bool Scanner::symbol(std::string_view symbol) {
  skip_blanks();
  if (!text_.substr(position_).starts_with(symbol)) return false;
  position_ += symbol.size();
  return true;
}

bool Scanner::keyword(std::string_view keyword) {
  skip_blanks();
  const std::string_view rest = text_.substr(position_);
  if (!rest.starts_with(keyword)) return false;
  if (rest.size() > keyword.size()) {
    const char next = rest[keyword.size()];
    if (is_name(next) || next == ':') return false;
  }
  position_ += keyword.size();
  return true;
}

std::optional<Operator> Scanner::comparison() {
  skip_blanks();
  for (const auto& [spelling, op] : symbols) {
    if (is_letter(spelling.back()) ? keyword(spelling) : symbol(spelling)) return op;
  }
  for (const auto& [spelling, op] : words) {
    if (keyword(spelling)) return op;
  }
  return std::nullopt;
}

std::string_view Scanner::subject_word() {
  skip_blanks();
  size_t end = position_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  const std::string_view word = text_.substr(position_, end - position_);
  position_ = end;
  return word;
}

std::string_view Scanner::attribute_name() {
  size_t end = position_;
  while (end < text_.size() && is_name(text_[end])) ++end;
  const std::string_view name = text_.substr(position_, end - position_);
  position_ = end;
  return name;
}

base::Result<std::string> Scanner::literal() {
  skip_blanks();
  if (position_ < text_.size() && (text_[position_] == '\'' || text_[position_] == '"')) {
    return quoted(text_[position_]);
  }
  size_t end = position_;
  while (end < text_.size() && !ends_word(text_[end])) {
    const std::string_view rest = text_.substr(end);
    if (rest.starts_with("&&") || rest.starts_with("||")) break;
    ++end;
  }
  const std::string_view word = text_.substr(position_, end - position_);
  if (word.empty()) return expected("a value");
  if (std::ranges::find(reserved, word) != reserved.end()) {
    return error_at(
        position_,
        base::format("'{}' is a keyword, so it needs quotes as a value: '\"{}\"'", word, word));
  }
  position_ = end;
  return std::string(word);
}

base::Result<std::string> Scanner::pattern() {
  skip_blanks();
  if (position_ < text_.size() && (text_[position_] == '\'' || text_[position_] == '"')) {
    return quoted(text_[position_]);
  }
  size_t end = position_;
  int open = 0;
  for (; end < text_.size() && !is_blank(text_[end]); ++end) {
    if (text_[end] == '\\' && end + 1 < text_.size() && !is_blank(text_[end + 1])) {
      ++end;
    } else if (text_[end] == '(') {
      ++open;
    } else if (text_[end] == ')' && --open < 0) {
      break;
    }
  }
  const std::string_view word = text_.substr(position_, end - position_);
  if (word.empty()) return expected("a regular expression");
  position_ = end;
  return std::string(word);
}

base::Result<std::string> Scanner::quoted(char quote) {
  const size_t begin = position_ + 1;
  const size_t end = text_.find(quote, begin);
  if (end == std::string_view::npos) {
    return error_at(position_, base::format("the quote ({}) is never closed", quote));
  }
  position_ = end + 1;
  return std::string(text_.substr(begin, end - begin));
}

std::string_view Scanner::found() const {
  size_t begin = position_;
  while (begin < text_.size() && is_blank(text_[begin])) ++begin;
  size_t end = begin;
  while (end < text_.size() && !ends_word(text_[end])) ++end;
  if (end == begin && end < text_.size()) ++end;
  return text_.substr(begin, std::min<size_t>(end - begin, 40));
}

std::unexpected<base::Error> Scanner::expected(std::string_view what) const {
  const std::string_view here = found();
  if (here.empty()) {
    return error_at(text_.size(), base::format("expected {}, found the end", what));
  }
  const auto position = static_cast<size_t>(here.data() - text_.data());
  return error_at(position, base::format("expected {}, found '{}'", what, here));
}

std::unexpected<base::Error> Scanner::error_at(size_t position, std::string_view sentence) {
  return base::fail(
      "InvalidParameterException",
      base::format("Invalid expression at character {}: {}.", position + 1, sentence));
}

}  // namespace placement::query
