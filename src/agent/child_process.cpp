#include "agent/child_process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/format.h"

extern char** environ;

namespace agent {
namespace {

constexpr size_t most_output = size_t{64} << 10;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::unexpected<base::Error> failed_call(const ChildProgram& program, std::string_view what,
                                         int error_number) {
  return base::fail("IoError", base::format("{} of {} failed: {}", what, program.path,
                                            std::generic_category().message(error_number)));
}

std::vector<std::string> environment_of(const ChildProgram& program) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!program.environment.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : program.environment) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// A zero, or the error's number.
int spawn(const ChildProgram& program, int input, int output, int errors, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, input, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, errors, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);  // A Ctrl-C at the terminal is not for it.
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> arguments{program.path};
  arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  std::vector<std::string> environment = environment_of(program);
  const int failed = posix_spawn(&pid, program.path.c_str(), &files, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

enum class Waited : uint8_t { Ended, TimedOut, Cancelled };

// Whoever does not end by itself is killed.
Waited wait_for_end(const ChildProgram& program, pid_t pid, int& status) {
  constexpr base::Milliseconds look_again{100};
  // The header of pidfd_open in glibc 2.36 is for C only.
  const File ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd wait{.fd = ended.get(), .events = POLLIN, .revents = 0};
  const auto give_up = std::chrono::steady_clock::now() + program.timeout;
  Waited waited = Waited::Ended;
  while (true) {
    const auto left =
        std::chrono::ceil<base::Milliseconds>(give_up - std::chrono::steady_clock::now());
    const auto pause = program.cancelled ? std::min(left, look_again) : left;
    if (::poll(&wait, 1, static_cast<int>(std::max<int64_t>(0, pause.count()))) == 1) break;
    if (left <= base::Milliseconds{0}) waited = Waited::TimedOut;
    if (program.cancelled && program.cancelled()) waited = Waited::Cancelled;
    if (waited == Waited::Ended) continue;
    ::kill(-pid, SIGKILL);  // Its group: what it waits for goes, too.
    break;
  }
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return waited;
}

std::string read_all(const File& file) {
  std::string text(most_output, '\0');
  const ssize_t read = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(read > 0 ? static_cast<size_t>(read) : 0);
  return text;
}

}  // namespace

base::Result<ChildEnd> run_child(const ChildProgram& program) {
  // Files in memory, not pipes: a daemon that the program leaves behind may keep them open.
  const File input(::memfd_create("input", MFD_CLOEXEC));
  const File output(::memfd_create("output", MFD_CLOEXEC));
  const File errors(::memfd_create("errors", MFD_CLOEXEC));
  if (input.get() < 0 || output.get() < 0 || errors.get() < 0) {
    return failed_call(program, "memfd_create", errno);
  }
  const ssize_t written = ::pwrite(input.get(), program.input.data(), program.input.size(), 0);
  if (written != std::ssize(program.input)) return failed_call(program, "The input", errno);
  pid_t pid = 0;
  const int error_output = program.errors_apart ? errors.get() : output.get();
  if (const int failed = spawn(program, input.get(), output.get(), error_output, pid);
      failed != 0) {
    return failed_call(program, "The start", failed);
  }
  int status = 0;
  const Waited waited = wait_for_end(program, pid, status);
  ChildEnd end;
  end.output = read_all(output);
  end.errors = read_all(errors);
  if (waited == Waited::Cancelled) {
    return base::fail("Cancelled", base::format("{} was stopped.", program.path));
  }
  if (waited == Waited::TimedOut) {
    return base::fail("Timeout", base::format("{} did not end within {} ms. {}", program.path,
                                              program.timeout.count(),
                                              program.errors_apart ? end.errors : end.output));
  }
  end.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace agent
