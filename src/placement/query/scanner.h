// The characters of a cluster query expression, read as the parser asks for them: what a bare word
// may contain depends on where it stands, so there is no list of tokens made beforehand.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "placement/query/ast.h"

namespace placement::query {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}  // Borrowed for the scanner's life.

  void skip_blanks();
  bool at_end();  // Behind blanks.
  size_t position() const { return position_; }
  void rewind(size_t position) { position_ = position; }

  // Each of these skips blanks, and consumes nothing when it does not find what it looks for.
  bool symbol(std::string_view symbol);    // "(", "[", "&&": just these characters.
  bool keyword(std::string_view keyword);  // "and": not the beginning of a longer word.
  std::optional<Operator> comparison();    // "==", "not_in", "!exists", ...

  // [A-Za-z]+ as subjects are spelled; empty when there is none.
  std::string_view subject_word();
  // Of attributes: A-Z a-z 0-9 - _ / \ . ; empty when there is none.
  std::string_view attribute_name();
  // A bare word or a quoted text.
  base::Result<std::string> literal();
  // As literal(), but a bare one runs to the next blank or unbalanced ')'.
  base::Result<std::string> pattern();

  // "Invalid expression at character 7: expected ..., found 'x'." Characters count from 1.
  std::unexpected<base::Error> expected(std::string_view what) const;
  static std::unexpected<base::Error> error_at(size_t position, std::string_view sentence);
  std::string_view found() const;  // A word or character at the position, for messages.

 private:
  base::Result<std::string> quoted(char quote);

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace placement::query
