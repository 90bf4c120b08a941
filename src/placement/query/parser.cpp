#include "placement/query/parser.h"

#include <initializer_list>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "placement/query/literal.h"
#include "placement/query/scanner.h"

namespace placement::query {
namespace {

constexpr int max_depth = 200;

// How tightly the two infix operators bind.
constexpr int or_power = 1;
constexpr int and_power = 2;

struct Parsed {
  uint32_t node = 0;
  bool parenthesised = false;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) {}

  base::Result<Expression> run() {
    if (scanner_.at_end()) return scanner_.expected("an expression");
    (void)TRY(expression(or_power, 0));
    if (!scanner_.at_end()) return scanner_.expected(after_expression());
    return std::move(out_);
  }

 private:
  std::string_view after_expression() const {
    const std::string_view here = scanner_.found();
    if (here == "AND" || here == "OR") {
      return "'and', 'or' or the end of the expression (keywords are lower-case)";
    }
    if (here == ")") return "'and', 'or' or the end of the expression (no '(' is open)";
    if (follows_bare_word()) {
      return "'and', 'or' or the end of the expression (a value with blanks stands in quotes)";
    }
    return "'and', 'or' or the end of the expression";
  }

  // "attribute:berth.gpu-model == Tesla T4": the value was one word, and there is another.
  bool follows_bare_word() const {
    const std::string_view here = scanner_.found();
    return !here.empty() && base::is_plain(here.front());
  }

  base::Result<Parsed> expression(int power, int depth) {
    if (depth > max_depth) {
      return Scanner::error_at(scanner_.position(),
                               base::format("more than {} levels of nesting", max_depth));
    }
    Parsed left = TRY(unary(depth));
    while (true) {
      const size_t before = scanner_.position();
      int found = 0;
      if (scanner_.symbol("&&") || scanner_.keyword("and")) {
        found = and_power;
      } else if (scanner_.symbol("||") || scanner_.keyword("or")) {
        found = or_power;
      }
      if (found == 0 || found < power) {
        scanner_.rewind(before);
        return left;
      }
      const Parsed right = TRY(expression(found + 1, depth + 1));
      if (found == or_power && (mixes(left) || mixes(right))) warn();
      left = {add(found == and_power ? NodeKind::And : NodeKind::Or, left.node, right.node), false};
    }
  }

  // A bare "and" below an "or": a reader may have meant it the other way round.
  bool mixes(const Parsed& parsed) const {
    return !parsed.parenthesised && out_.nodes[parsed.node].kind == NodeKind::And;
  }
  void warn() {
    out_.warning =
        "The expression mixes 'and' and 'or' without parentheses: 'and' binds tighter here; write "
        "the parentheses to be sure.";
  }

  base::Result<Parsed> unary(int depth) {
    if (depth > max_depth) {
      return Scanner::error_at(scanner_.position(),
                               base::format("more than {} levels of nesting", max_depth));
    }
    if (scanner_.symbol("!") || scanner_.keyword("not")) {
      const Parsed operand = TRY(unary(depth + 1));
      return Parsed{add(NodeKind::Not, operand.node, 0), true};
    }
    if (scanner_.symbol("(")) {
      const Parsed inner = TRY(expression(or_power, depth + 1));
      if (!scanner_.symbol(")")) {
        return scanner_.expected(follows_bare_word()
                                     ? "')', 'and' or 'or' (a value with blanks stands in quotes)"
                                     : "')', 'and' or 'or'");
      }
      return Parsed{inner.node, true};
    }
    return Parsed{TRY(simple()), true};
  }

  uint32_t add(NodeKind kind, uint32_t left, uint32_t right) {
    out_.nodes.push_back({kind, left, right});
    return static_cast<uint32_t>(out_.nodes.size() - 1);
  }

  base::Result<uint32_t> simple() {
    Simple simple;
    TRY_VOID(subject(simple));
    TRY_VOID(comparison(simple));
    TRY_VOID(argument(simple));
    if (simple.subject == Subject::TaskGroup || simple.subject == Subject::RunningTasksCount) {
      out_.reads_tasks = true;
    }
    out_.simples.push_back(std::move(simple));
    return add(NodeKind::Simple, static_cast<uint32_t>(out_.simples.size() - 1), 0);
  }

  base::Result<void> subject(Simple& simple) {
    scanner_.skip_blanks();
    const size_t begin = scanner_.position();
    const std::string_view word = scanner_.subject_word();
    if (word == "attribute" && scanner_.symbol(":")) {
      simple.attribute = scanner_.attribute_name();
      if (simple.attribute.empty()) return scanner_.expected("the attribute's name");
      if (simple.attribute.size() > 128) {
        return Scanner::error_at(begin, "an attribute's name has at most 128 characters");
      }
      simple.subject = Subject::Attribute;
      return {};
    }
    if (word == "task" && scanner_.symbol(":") && scanner_.keyword("group")) {
      simple.subject = Subject::TaskGroup;
      return {};
    }
    static constexpr std::pair<std::string_view, Subject> plain[] = {
        {"agentConnected", Subject::AgentConnected},       {"agentVersion", Subject::AgentVersion},
        {"ec2InstanceId", Subject::Ec2InstanceId},         {"registeredAt", Subject::RegisteredAt},
        {"runningTasksCount", Subject::RunningTasksCount},
    };
    for (const auto& [name, value] : plain) {
      if (word == name) {
        simple.subject = value;
        return {};
      }
    }
    scanner_.rewind(begin);
    return scanner_.expected(
        "a subject (attribute:<name>, task:group, agentConnected, agentVersion, ec2InstanceId, "
        "registeredAt or runningTasksCount)");
  }

  base::Result<void> comparison(Simple& simple) {
    scanner_.skip_blanks();
    const size_t begin = scanner_.position();
    const std::optional<Operator> op = scanner_.comparison();
    if (!op || !takes(simple.subject, *op)) {
      scanner_.rewind(begin);
      return scanner_.expected(base::format("an operator of {} ({})", subject_name(simple),
                                            operators_of(simple.subject)));
    }
    simple.op = *op;
    return {};
  }

  base::Result<void> argument(Simple& simple) {
    switch (simple.op) {
      case Operator::Exists:
      case Operator::NotExists:
        return {};
      case Operator::Matches:
      case Operator::NotMatches:
        return pattern(simple);
      case Operator::In:
      case Operator::NotIn:
        return list(simple);
      default:
        return one(simple);
    }
  }

  base::Result<void> one(Simple& simple) {
    scanner_.skip_blanks();
    const size_t begin = scanner_.position();
    std::string text = TRY(scanner_.literal());
    base::Result<Literal> literal = read_literal(simple.subject, std::move(text));
    if (!literal) return Scanner::error_at(begin, literal.error().message);
    simple.arguments.push_back(std::move(*literal));
    return {};
  }

  base::Result<void> list(Simple& simple) {
    if (!scanner_.symbol("[")) return scanner_.expected("'[' and a list of values");
    do {
      TRY_VOID(one(simple));
    } while (scanner_.symbol(","));
    if (!scanner_.symbol("]")) {
      return scanner_.expected(
          follows_bare_word() ? "',' or ']' (a value with blanks stands in quotes)" : "',' or ']'");
    }
    return {};
  }

  base::Result<void> pattern(Simple& simple) {
    scanner_.skip_blanks();
    const size_t begin = scanner_.position();
    const std::string text = TRY(scanner_.pattern());
    base::Result<std::unique_ptr<re2::RE2>> compiled = compile_pattern(text);
    if (!compiled) return Scanner::error_at(begin, compiled.error().message);
    simple.pattern = std::move(*compiled);
    return {};
  }

  Scanner scanner_;
  Expression out_;
};

}  // namespace

base::Result<Expression> parse(std::string_view text) {
  if (text.size() > max_expression_length) {
    return Scanner::error_at(max_expression_length,
                             base::format("an expression has at most {} characters, this has {}",
                                          max_expression_length, text.size()));
  }
  return Parser(text).run();
}

}  // namespace placement::query
