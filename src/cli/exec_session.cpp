#include "cli/exec_session.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <thread>

#include "acs/exec.h"
#include "base/queue.h"
#include "cli/exec_line.h"

namespace cli {
namespace {

constexpr int size_interval_ms = 100;
constexpr int broken_pipe_exit_code = 128 + SIGPIPE;
constexpr size_t output_capacity = acs::exec_window + 1'000;  // A message has a byte at least.

// Keys go to the far end as they are pressed, until this goes.
class RawTerminal {
 public:
  RawTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~RawTerminal() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

// Wakes a thread that polls.
class Bell {
 public:
  Bell() {
    if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) ends_ = {-1, -1};
  }
  ~Bell() {
    for (const int end : ends_) ::close(end);
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  int descriptor() const { return ends_[0]; }
  // A full pipe rings already.
  void ring() const { [[maybe_unused]] const ssize_t count = ::write(ends_[1], "!", 1); }
  void silence() const {
    std::array<char, 256> rings{};
    while (::read(ends_[0], rings.data(), rings.size()) > 0) {
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// The signals that end a program, taken as something to read: the session is to be closed before
// this process goes, or the control plane takes it for a broken connection and waits.
class Signals {
 public:
  Signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, one);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);  // Of the threads to come too.
    file_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() { ::close(file_); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return file_; }
  // False: one has come.
  bool wait(base::Milliseconds time) const {
    pollfd ready{.fd = file_, .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, static_cast<int>(time.count())) <= 0;
  }
  // The exit code of a process that such a signal ends; nullopt: none has come.
  std::optional<int> exit_code() const {
    signalfd_siginfo info{};
    if (::read(file_, &info, sizeof info) != sizeof info) return std::nullopt;
    return 128 + static_cast<int>(info.ssi_signo);
  }

 private:
  int file_ = -1;
};

// How the session has ended.
struct End {
  int exit_code = 1;
  std::string failure;  // Empty: the command has ended by itself.
};

// Between the thread that prints and the session's own.
struct Printing {
  base::Queue<std::string> output{output_capacity};  // Messages in their order.
  base::Queue<size_t> printed{output_capacity};      // Bytes of messages.
  base::Queue<End> ended{4};
  Bell bell;  // Of the session's thread.
  Bell stop;  // Of the printer.

  void end(End how) {
    ended.try_push(std::move(how));
    bell.ring();
  }
};

// False: nobody takes it any more, or this process is to go. No write is larger than a pipe takes
// at once where it takes anything, so none waits for a reader.
bool write_all(int file, std::string_view bytes, const Bell& stop) {
  while (!bytes.empty()) {
    std::array<pollfd, 2> files{pollfd{.fd = file, .events = POLLOUT, .revents = 0},
                                pollfd{.fd = stop.descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(files.data(), files.size(), -1);
    if (files[1].revents != 0) return false;
    const ssize_t count =
        ::write(file, bytes.data(), std::min<size_t>(bytes.size(), size_t{PIPE_BUF}));
    if (count < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

End ended_with(const acs::ExecMessage& last) {
  if (last.kind == acs::ExecKind::Failure) return {1, std::string(last.bytes)};
  End end;
  std::from_chars(last.bytes.data(), last.bytes.data() + last.bytes.size(), end.exit_code);
  return end;
}

// Writes what comes until the last message; a thread of its own, since whoever reads this end's
// output may be slow. The far end may send more only once this has written.
void print_output(Printing& printing) {
  while (const auto message = printing.output.pop()) {
    const auto read = acs::decode_exec(*message);
    if (read->kind == acs::ExecKind::ExitCode || read->kind == acs::ExecKind::Failure) {
      return printing.end(ended_with(*read));
    }
    const int file = read->kind == acs::ExecKind::Error ? STDERR_FILENO : STDOUT_FILENO;
    // As a program ends that writes into a pipe which nobody reads.
    if (!write_all(file, read->bytes, printing.stop)) {
      return printing.end({broken_pipe_exit_code, {}});
    }
    printing.printed.push(read->bytes.size());
    printing.bell.ring();
  }
}

std::optional<acs::TerminalSize> terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return std::nullopt;
  }
  return acs::TerminalSize{size.ws_col, size.ws_row};
}

// Passes what comes to the printer, and sends what is read here, and sizes, until the session has
// ended.
class ExecSession {
 public:
  ExecSession(Printing& printing, ExecLine& line, const Signals& signals,
              const ExecSessionOptions& options)
      : printing_(printing),
        line_(line),
        signals_(signals),
        options_(options),
        open_(options.input) {}

  End run() {
    if (!open_) line_.send(acs::encode_exec(acs::ExecKind::EndOfInput));
    while (true) {
      auto end = printing_.ended.pop_batch(1, base::Milliseconds{0});
      if (!end.empty()) return std::move(end.front());
      if (const auto code = signals_.exit_code()) return {*code, {}};
      take_news();
      for (const size_t printed :
           printing_.printed.pop_batch(output_capacity, base::Milliseconds{0})) {
        line_.send(acs::encode_exec_consumed(printed));
      }
      if (options_.terminal) tell_size();
      wait_and_read();
    }
  }

 private:
  void take_news() {
    ExecLine::News news = line_.take();
    for (std::string& message : news.messages) take(std::move(message));
    // Told when all that came before is printed.
    if (news.closed) print(acs::encode_exec(acs::ExecKind::Failure, *news.closed));
  }

  void take(std::string message) {
    const auto read = acs::decode_exec(message);
    if (!read) return;
    switch (read->kind) {
      case acs::ExecKind::Consumed: {
        const size_t consumed = acs::read_exec_consumed(read->bytes).value_or(0);
        room_ = std::min(room_ + consumed, acs::exec_window);
        return;
      }
      case acs::ExecKind::Output:
      case acs::ExecKind::Error:
      case acs::ExecKind::ExitCode:
      case acs::ExecKind::Failure:
        return print(std::move(message));
      default:
        return;
    }
  }

  void print(std::string message) {
    if (printing_.output.try_push(std::move(message))) return;
    printing_.end({1, "The session's far end sent more than it may."});
  }

  void tell_size() {
    const auto size = terminal_size();
    if (!size || size == told_) return;
    told_ = size;
    line_.send(acs::encode_exec(*size));
  }

  void wait_and_read() {
    std::array<pollfd, 3> files{
        pollfd{.fd = open_ && room_ > 0 ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0},
        pollfd{.fd = printing_.bell.descriptor(), .events = POLLIN, .revents = 0},
        pollfd{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(files.data(), files.size(), options_.terminal ? size_interval_ms : -1);
    if (files[1].revents != 0) printing_.bell.silence();
    if (files[0].revents == 0) return;
    const ssize_t count = ::read(STDIN_FILENO, buffer_.data(), std::min(buffer_.size(), room_));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      open_ = false;
      line_.send(acs::encode_exec(acs::ExecKind::EndOfInput));
      return;
    }
    const std::string_view bytes(buffer_.data(), static_cast<size_t>(count));
    line_.send(acs::encode_exec(acs::ExecKind::Input, bytes));
    room_ -= bytes.size();
  }

  Printing& printing_;
  ExecLine& line_;
  const Signals& signals_;
  const ExecSessionOptions options_;
  bool open_;
  size_t room_ = acs::exec_window;
  std::optional<acs::TerminalSize> told_;
  std::array<char, acs::exec_most_bytes> buffer_{};
};

}  // namespace

base::Result<int> run_exec_session(const Credentials& credentials, const api::ecs::Session& session,
                                   const ExecSessionOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  const Signals signals;
  Printing printing;
  End end;
  {
    ExecLine line({.credentials = credentials,
                   .session = session,
                   .terminal = options.terminal,
                   .wake = [&printing] { printing.bell.ring(); },
                   .wait = [&signals](base::Milliseconds time) { return signals.wait(time); }});
    TRY_VOID(line.open());
    std::thread printer([&printing] { print_output(printing); });
    {
      std::optional<RawTerminal> raw;
      if (options.terminal && options.input) raw.emplace();
      end = ExecSession(printing, line, signals, options).run();
    }
    printing.output.close();
    printing.stop.ring();
    printer.join();
  }
  if (!end.failure.empty()) return base::fail("SessionEnded", end.failure);
  return end.exit_code;
}

}  // namespace cli
