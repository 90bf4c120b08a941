#include "acs/exec.h"

#include "base/format.h"
#include "base/text.h"
#include "json/value.h"

namespace acs {
namespace {

constexpr std::string_view kinds = "siqzoexfak";
constexpr int64_t most_cells = 10'000;

std::optional<int> cells_of(const json::Value& value) {
  const auto count = value.as_int64();
  if (!count || *count < 1 || *count > most_cells) return std::nullopt;
  return static_cast<int>(*count);
}

}  // namespace

std::string encode_exec(ExecKind kind, std::string_view bytes) {
  std::string message;
  message.reserve(bytes.size() + 1);
  message += static_cast<char>(kind);
  message += bytes;
  return message;
}

std::optional<ExecMessage> decode_exec(std::string_view message) {
  if (message.empty() || !kinds.contains(message.front())) return std::nullopt;
  return ExecMessage{static_cast<ExecKind>(message.front()), message.substr(1)};
}

std::string encode_exec(const ExecStart& start) {
  return encode_exec(ExecKind::Start,
                     json::print(json::Value::object({{"terminal", start.terminal}})));
}

std::string encode_exec(const TerminalSize& size) {
  return encode_exec(ExecKind::Size,
                     base::format(R"({{"cols":{},"rows":{}}})", size.columns, size.rows));
}

std::string encode_exec_consumed(size_t bytes) {
  return encode_exec(ExecKind::Consumed, base::format("{}", bytes));
}

std::optional<ExecStart> read_exec_start(std::string_view bytes) {
  const auto told = json::parse(bytes);
  if (!told || !told->is_object()) return std::nullopt;
  const auto terminal = (*told)["terminal"].as_bool();
  if (!terminal) return std::nullopt;
  return ExecStart{*terminal};
}

std::optional<TerminalSize> read_terminal_size(std::string_view bytes) {
  const auto told = json::parse(bytes);
  if (!told || !told->is_object()) return std::nullopt;
  const auto columns = cells_of((*told)["cols"]);
  const auto rows = cells_of((*told)["rows"]);
  if (!columns || !rows) return std::nullopt;
  return TerminalSize{*columns, *rows};
}

std::optional<size_t> read_exec_consumed(std::string_view bytes) {
  const auto count = base::parse_number<size_t>(bytes);
  return count && *count > 0 && *count <= exec_window ? count : std::nullopt;
}

}  // namespace acs
