// What the ends of a session of ExecuteCommand say to each other: Berth's agent, which runs the
// command in the container, and `berth exec`; the control plane stands between and passes it on.
// One binary message of a websocket is a kind and its bytes. Pure values.
//
// The agent waits for Start, then runs the process. Whoever sends bytes of the process (input one
// way, output and standard error the other) has at most `exec_window` of them under way that the
// far end has not told to be Consumed: so nobody on the way has to keep more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace acs {

enum class ExecKind : char {
  // To the agent.
  Start = 's',  // JSON of ExecStart; the first message.
  Input = 'i',
  EndOfInput = 'q',
  Size = 'z',  // JSON of TerminalSize.
  // From the agent.
  Output = 'o',
  Error = 'e',     // Standard error; only without a terminal.
  ExitCode = 'x',  // In digits; the last message.
  Failure = 'f',   // Why there is no exit code, a sentence; the last message.
  // Both ways.
  Consumed = 'a',  // So many bytes were taken, in digits.
  // Between the control plane and `berth exec` alone, see exec_link.h.
  Taken = 'k',  // So many messages were taken in all, in digits.
};

inline constexpr size_t exec_window = size_t{1} << 20;
// Of bytes of the process in one message.
inline constexpr size_t exec_most_bytes = size_t{32} << 10;

struct ExecMessage {
  ExecKind kind = ExecKind::Input;
  std::string_view bytes;  // Of the message that was decoded.
};

struct ExecStart {
  bool terminal = true;
  friend bool operator==(const ExecStart&, const ExecStart&) = default;
};

struct TerminalSize {
  int columns = 0;
  int rows = 0;
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

std::string encode_exec(ExecKind kind, std::string_view bytes = {});
// nullopt: of no known kind.
std::optional<ExecMessage> decode_exec(std::string_view message);

std::string encode_exec(const ExecStart& start);
std::string encode_exec(const TerminalSize& size);
std::string encode_exec_consumed(size_t bytes);
// Of the bytes of a message; nullopt when they are none.
std::optional<ExecStart> read_exec_start(std::string_view bytes);
// Columns and rows are from 1 to 10,000.
std::optional<TerminalSize> read_terminal_size(std::string_view bytes);
// 1 to exec_window.
std::optional<size_t> read_exec_consumed(std::string_view bytes);

}  // namespace acs
