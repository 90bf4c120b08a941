#include "logs/filter_pattern.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/text.h"

namespace logs {

// A tree: a comparison, or an AND or OR of others.
struct Condition {
  enum class Kind : uint8_t {
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    IsNull,
    IsTrue,
    IsFalse,
    Exists,
    NotExists,
  };
  Kind kind = Kind::And;
  std::vector<Condition> parts = {};  // Of And and Or.
  std::string path = {};              // Of the others, as ReadField wants it.
  std::string value = {};             // What a comparison compares with, without its stars.
  std::optional<double> number = {};  // Where `value` is written as a number.
  bool star_before = false;
  bool star_behind = false;
};

namespace {

using Kind = Condition::Kind;

// Source: CloudWatch Logs API reference, FilterLogEvents, filterPattern.
constexpr size_t longest_pattern = 1'024;

std::unexpected<base::Error> invalid(std::string_view why) {
  return base::fail("InvalidParameterException", base::format("Invalid filter pattern: {}", why));
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_word(char c) {
  return base::is_plain(c, "_");
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A text that is read from its start.
struct Reader {
  std::string_view rest;

  void skip_spaces() {
    while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  }
  // Takes `token` behind spaces, if it is there.
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest.starts_with(token)) return false;
    rest.remove_prefix(token.size());
    return true;
  }
  template <class Predicate>
  std::string_view take_while(Predicate predicate) {
    const auto end = std::ranges::find_if_not(rest, predicate);
    const std::string_view taken = rest.substr(0, static_cast<size_t>(end - rest.begin()));
    rest.remove_prefix(taken.size());
    return taken;
  }
  // As take, for a word: not where it is the start of a longer one.
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && is_word(rest[word.size()])) return false;
    rest.remove_prefix(word.size());
    return true;
  }
  // The text up to the closing quotation mark; the opening one is taken already.
  base::Result<std::string> quoted() {
    std::string text;
    while (!rest.empty()) {
      char c = rest.front();
      rest.remove_prefix(1);
      if (c == '"') return text;
      if (c == '\\' && !rest.empty() && (rest.front() == '"' || rest.front() == '\\')) {
        c = rest.front();
        rest.remove_prefix(1);
      }
      text += c;
    }
    return invalid("a double quotation mark is not closed.");
  }
};

// JSON patterns: alternatives = conjunction { "||" conjunction }; conjunction = comparison
// { "&&" comparison }; comparison = "(" alternatives ")" | selector operator value | ...
class JsonPatternParser {
 public:
  explicit JsonPatternParser(std::string_view text) : reader_{text} {}

  base::Result<Condition> parse() {
    Condition condition = TRY(alternatives());
    if (!reader_.take("}")) return invalid("a JSON pattern must end with } behind its conditions.");
    reader_.skip_spaces();
    if (!reader_.rest.empty()) return invalid("nothing may follow the } of a JSON pattern.");
    return condition;
  }

 private:
  static constexpr int max_depth = 32;

  base::Result<Condition> alternatives() {
    if (++depth_ > max_depth) return invalid("parentheses are nested too deeply.");
    Condition all{.kind = Kind::Or};
    do {
      all.parts.push_back(TRY(conjunction()));
    } while (reader_.take("||"));
    --depth_;
    return all;
  }

  base::Result<Condition> conjunction() {
    Condition all{.kind = Kind::And};
    do {
      all.parts.push_back(TRY(comparison()));
    } while (reader_.take("&&"));
    return all;
  }

  base::Result<Condition> comparison() {
    if (reader_.take("(")) {
      Condition inner = TRY(alternatives());
      if (!reader_.take(")")) return invalid("a parenthesis is not closed.");
      return inner;
    }
    Condition condition;
    condition.path = TRY(selector());
    condition.kind = TRY(comparison_kind());
    if (condition.kind <= Kind::GreaterOrEqual) TRY_VOID(read_value(condition));
    return condition;
  }

  // $.a.b[0]["c d"] to $."a"."b"[0]."c d".
  base::Result<std::string> selector() {
    if (!reader_.take("$")) {
      return invalid("a JSON condition must start with a selector such as $.field.");
    }
    std::string path = "$";
    while (!reader_.rest.empty()) {
      if (reader_.rest.starts_with('.')) {
        reader_.rest.remove_prefix(1);
        const auto name = reader_.take_while([](char c) { return is_word(c) || c == '-'; });
        if (name.empty()) {
          return invalid("a selector needs a name of letters, digits, - and _ behind each dot.");
        }
        path += base::format(".\"{}\"", name);
      } else if (reader_.rest.starts_with('[')) {
        reader_.rest.remove_prefix(1);
        path += TRY(subscript());
      } else {
        break;
      }
    }
    if (path.size() == 1) return invalid("a selector must name a field, such as $.field.");
    return path;
  }

  base::Result<std::string> subscript() {
    std::string step;
    if (reader_.take("\"")) {
      const std::string name = TRY(reader_.quoted());
      // SQLite's paths have no way to write these within a name.
      if (name.find_first_of("\"\\") != std::string::npos) {
        return invalid("a field name with a quotation mark or backslash cannot be selected.");
      }
      step = base::format(".\"{}\"", name);
    } else {
      const std::string_view index = reader_.take_while(is_digit);
      if (index.empty() || index.size() > 9) {
        return invalid("a selector needs a number between [ and ], such as $.users[0].");
      }
      step = base::format("[{}]", index);
    }
    if (!reader_.take("]")) return invalid("a [ of a selector is not closed.");
    return step;
  }

  base::Result<Kind> comparison_kind() {
    if (reader_.take_word("IS")) {
      if (reader_.take_word("NULL")) return Kind::IsNull;
      if (reader_.take_word("TRUE")) return Kind::IsTrue;
      if (reader_.take_word("FALSE")) return Kind::IsFalse;
      return invalid("IS must be followed by NULL, TRUE or FALSE.");
    }
    if (reader_.take_word("NOT")) {
      if (reader_.take_word("EXISTS")) return Kind::NotExists;
      return invalid("NOT must be followed by EXISTS.");
    }
    if (reader_.take_word("EXISTS")) return Kind::Exists;
    if (reader_.take("!=")) return Kind::NotEqual;
    if (reader_.take("<=")) return Kind::LessOrEqual;
    if (reader_.take(">=")) return Kind::GreaterOrEqual;
    if (reader_.take("=")) return Kind::Equal;
    if (reader_.take("<")) return Kind::Less;
    if (reader_.take(">")) return Kind::Greater;
    return invalid("a selector must be followed by one of = != < > <= >= IS, EXISTS, NOT EXISTS.");
  }

  base::Result<void> read_value(Condition& condition) {
    reader_.skip_spaces();
    const bool is_quoted = reader_.take("\"");
    if (is_quoted) {
      condition.value = TRY(reader_.quoted());
    } else {
      condition.value = reader_.take_while([](char c) {
        return is_word(c) || c == '*' || c == '.' || c == '-' || c == '+' || c == ':' || c == '/';
      });
    }
    if (condition.value.empty() && !is_quoted) {
      if (reader_.rest.starts_with('%')) {
        return invalid("regular expressions (%...%) are not supported here.");
      }
      return invalid(
          "an operator must be followed by a value; one with characters other than letters, "
          "digits and _ must be in double quotation marks.");
    }
    if (!is_quoted) condition.number = parse_number(condition.value);
    const bool equality = condition.kind == Kind::Equal || condition.kind == Kind::NotEqual;
    if (!equality && !condition.number) return invalid("< > <= and >= compare with a number.");
    take_stars(condition);
    return {};
  }

  static std::optional<double> parse_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || !(is_digit(text.back()) &&
                          text.find_first_not_of("0123456789.eE+-") == std::string_view::npos)) {
      return std::nullopt;
    }
    return base::parse_number<double>(text);
  }

  // A star is a wildcard at the start and at the end only: "Ev*ent" means these very characters.
  static void take_stars(Condition& condition) {
    std::string& value = condition.value;
    if (value.starts_with('*')) {
      condition.star_before = true;
      value.erase(0, 1);
    }
    if (value.ends_with('*')) {
      condition.star_behind = true;
      value.pop_back();
    }
  }

  Reader reader_;
  int depth_ = 0;
};

bool text_matches(const Condition& condition, std::string_view text) {
  if (condition.star_before && condition.star_behind) return text.contains(condition.value);
  if (condition.star_before) return text.ends_with(condition.value);
  if (condition.star_behind) return text.starts_with(condition.value);
  return text == condition.value;
}

bool equals(const Condition& condition, const JsonField& field) {
  switch (field.kind) {
    case JsonField::Kind::True:
      return text_matches(condition, "true");
    case JsonField::Kind::False:
      return text_matches(condition, "false");
    case JsonField::Kind::Number:
      if (condition.number) return field.number == *condition.number;
      return text_matches(condition, field.text);
    default:
      return text_matches(condition, field.text);
  }
}

bool field_satisfies(const Condition& condition, const JsonField& field) {
  using FieldKind = JsonField::Kind;
  const bool comparable = field.kind == FieldKind::True || field.kind == FieldKind::False ||
                          field.kind == FieldKind::Number || field.kind == FieldKind::Text;
  const bool numeric = field.kind == FieldKind::Number && condition.number.has_value();
  switch (condition.kind) {
    case Kind::Equal:
      return comparable && equals(condition, field);
    case Kind::NotEqual:
      return comparable && !equals(condition, field);
    case Kind::Less:
      return numeric && field.number < *condition.number;
    case Kind::LessOrEqual:
      return numeric && field.number <= *condition.number;
    case Kind::Greater:
      return numeric && field.number > *condition.number;
    case Kind::GreaterOrEqual:
      return numeric && field.number >= *condition.number;
    case Kind::IsNull:
      return field.kind == FieldKind::Null;
    case Kind::IsTrue:
      return field.kind == FieldKind::True;
    case Kind::IsFalse:
      return field.kind == FieldKind::False;
    case Kind::Exists:
      return field.kind != FieldKind::Missing && field.kind != FieldKind::NotJson;
    case Kind::NotExists:
      return field.kind == FieldKind::Missing;
    case Kind::And:
    case Kind::Or:
      break;
  }
  CHECK(false);
}

base::Result<bool> satisfies(const Condition& condition, std::string_view message,
                             const ReadField& read_field) {
  if (condition.kind != Kind::And && condition.kind != Kind::Or) {
    return field_satisfies(condition, TRY(read_field(message, condition.path)));
  }
  const bool decisive = condition.kind == Kind::Or;
  for (const Condition& part : condition.parts) {
    if (TRY(satisfies(part, message, read_field)) == decisive) return decisive;
  }
  return !decisive;
}

}  // namespace

base::Result<FilterPattern> FilterPattern::parse(std::string_view text) {
  if (text.size() > longest_pattern) {
    return invalid(
        base::format("it has {} bytes, and at most {} are taken.", text.size(), longest_pattern));
  }
  FilterPattern pattern;
  Reader reader{text};
  if (reader.take("{")) {
    pattern.condition_ =
        std::make_shared<const Condition>(TRY(JsonPatternParser(reader.rest).parse()));
    return pattern;
  }
  if (reader.rest.starts_with('[')) {
    return invalid("space-delimited patterns ([...]) are not supported here.");
  }
  for (reader.skip_spaces(); !reader.rest.empty(); reader.skip_spaces()) {
    std::vector<std::string>* list = &pattern.required_;
    if (reader.take("-")) {
      list = &pattern.excluded_;
    } else if (reader.take("?")) {
      list = &pattern.any_of_;
    }
    if (reader.rest.starts_with('%')) {
      return invalid("regular expressions (%...%) are not supported here.");
    }
    if (reader.rest.starts_with('"')) {
      reader.rest.remove_prefix(1);
      list->push_back(TRY(reader.quoted()));
      continue;
    }
    const std::string_view term = reader.take_while([](char c) { return !is_space(c); });
    if (term.empty() || !std::ranges::all_of(term, is_word)) {
      return base::fail(
          "InvalidParameterException",
          base::format("Invalid character(s) in term '{}': put a term with characters "
                       "other than letters, digits and _ in double quotation marks.",
                       term));
    }
    list->emplace_back(term);
  }
  return pattern;
}

bool FilterPattern::matches_terms(std::string_view message) const {
  const auto contained = [&](const std::string& term) { return message.contains(term); };
  if (std::ranges::any_of(excluded_, contained)) return false;
  if (!std::ranges::all_of(required_, contained)) return false;
  const bool only_optional = required_.empty() && excluded_.empty() && !any_of_.empty();
  return !only_optional || std::ranges::any_of(any_of_, contained);
}

base::Result<bool> FilterPattern::matches(std::string_view message,
                                          const ReadField& read_field) const {
  if (condition_) return satisfies(*condition_, message, read_field);
  return matches_terms(message);
}

}  // namespace logs
