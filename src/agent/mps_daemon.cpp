#include "agent/mps_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/child_process.h"
#include "base/format.h"
#include "base/log.h"
#include "base/text.h"

namespace agent {
namespace {

namespace fs = std::filesystem;

// A socket's name has 107 characters at most, and the daemon puts some behind the directory.
constexpr size_t longest_pipe_directory = 80;
constexpr base::Milliseconds start_poll{50};

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

fs::path of_process(int64_t pid, std::string_view name) {
  return base::format("/proc/{}/{}", pid, name);
}

// A zombie is no process any more.
bool is_alive(int64_t pid) {
  std::ifstream file(of_process(pid, "status"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("State:")) return line.find('Z') == std::string::npos;
  }
  return false;
}

base::Result<void> make_open_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  // Containers may run as any user.
  if (!error && ::chmod(path.c_str(), 0755) != 0) error.assign(errno, std::generic_category());
  if (!error) return {};
  return base::fail("GpuDriverException", base::format("The directory {} of NVIDIA MPS cannot be "
                                                       "made: {}.",
                                                       path.string(), error.message()));
}

// What containers left there since the last daemon, which the next would follow or wait for.
base::Result<void> empty_directory(const fs::path& path) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    fs::remove_all(entry.path(), error);
    if (error) break;
  }
  if (!error) return {};
  return base::fail("GpuDriverException",
                    base::format("The directory {} of NVIDIA MPS cannot be emptied: {}.",
                                 path.string(), error.message()));
}

}  // namespace

MpsDirectories mps_directories(const fs::path& data_dir) {
  const fs::path mps = fs::absolute(data_dir) / "mps";
  return {.pipe = mps / "pipe", .log = mps / "log"};
}

bool MpsDaemon::is_process(int64_t pid) {
  // The kernel keeps 15 characters: both nvidia-cuda-mps-control and -server.
  if (first_line(of_process(pid, "comm")) != "nvidia-cuda-mps") return false;
  std::error_code error;
  const fs::path its = fs::read_symlink(of_process(pid, "ns/mnt"), error);
  return !error && its == fs::read_symlink("/proc/self/ns/mnt", error);
}

void MpsDaemon::machine_has(gpu::MpsSupport support) {
  support_ = std::move(support);
  std::error_code ignored;  // Unreadable is as good as absent.
  const bool left_here = process() || fs::exists(directories_.pipe / "control", ignored);
  if (support_.control_program.empty() || !left_here) return;
  wanted_ = true;
  if (answers()) {
    base::log_info("The NVIDIA MPS daemon of an earlier agent (pid {}) is taken over.",
                   process().value_or(0));
  } else {
    look_after();
  }
}

base::Result<void> MpsDaemon::ensure_running() {
  if (support_.control_program.empty()) {
    return base::fail(
        "UnsupportedFeatureException",
        base::format("this container instance cannot share GPUs through NVIDIA MPS: {} "
                     "Ask for whole GPUs, or place the task elsewhere.",
                     support_.missing.empty() ? "it has no GPUs." : support_.missing));
  }
  wanted_ = true;
  if (answers()) return {};
  kill_process();
  return start();
}

void MpsDaemon::look_after() {
  if (!wanted_ || answers()) return;
  base::log_warning(
      "The NVIDIA MPS daemon does not answer and is started again; processes that shared GPUs "
      "through it have lost them.");
  kill_process();
  if (const auto started = start(); !started) {
    base::log_error("Until NVIDIA MPS runs, no container can share a GPU here: {}",
                    started.error().message);
  }
}

void MpsDaemon::stop() {
  if (!std::exchange(wanted_, false)) return;
  const auto told = command("quit");
  const auto give_up = std::chrono::steady_clock::now() + timing_.answer;
  while (process() && is_alive(*process()) && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(start_poll);
  }
  if (!told || (process() && is_alive(*process()))) kill_process();
  std::error_code ignored;  // It may have removed the file itself.
  fs::remove(pid_file(), ignored);
  base::log_info("The NVIDIA MPS daemon has ended: no container shares a GPU.");
}

base::Result<std::string> MpsDaemon::command(std::string_view text) {
  ChildEnd end =
      TRY(run_child({.path = support_.control_program,
                     .environment = {{"CUDA_MPS_PIPE_DIRECTORY", directories_.pipe.string()},
                                     {"CUDA_MPS_LOG_DIRECTORY", directories_.log.string()}},
                     .input = std::string(text) + "\n",
                     .timeout = timing_.answer}));
  if (end.exit_code == 0) return std::move(end.output);
  return base::fail("GpuDriverException", std::string(base::trimmed(end.output, " \n")));
}

base::Result<void> MpsDaemon::start() {
  if (directories_.pipe.string().size() > longest_pipe_directory) {
    return base::fail("GpuDriverException",
                      base::format("NVIDIA MPS cannot use the directory {}, since it has more than "
                                   "{} characters: give the agent a shorter data directory.",
                                   directories_.pipe.string(), longest_pipe_directory));
  }
  TRY_VOID(make_open_directory(directories_.pipe));
  TRY_VOID(make_open_directory(directories_.log));
  TRY_VOID(empty_directory(directories_.pipe));
  const ChildEnd started =
      TRY(run_child({.path = support_.control_program,
                     .arguments = {"-d"},
                     .environment = {{"CUDA_MPS_PIPE_DIRECTORY", directories_.pipe.string()},
                                     {"CUDA_MPS_LOG_DIRECTORY", directories_.log.string()}},
                     .timeout = timing_.start}));
  const auto give_up = std::chrono::steady_clock::now() + timing_.start;
  while (started.exit_code == 0 && std::chrono::steady_clock::now() < give_up) {
    if (answers()) {
      base::log_info("The NVIDIA MPS daemon runs, pid {}.", process().value_or(0));
      return {};
    }
    std::this_thread::sleep_for(start_poll);
  }
  return base::fail(
      "GpuDriverException",
      base::format("the NVIDIA MPS daemon does not start ({} -d, exit code {}): {} Its log is {}.",
                   support_.control_program, started.exit_code,
                   base::trimmed(started.output, " \n"),
                   (directories_.log / "control.log").string()));
}

bool MpsDaemon::answers() {
  return command("get_server_list").has_value();
}

void MpsDaemon::kill_process() {
  const std::optional<int64_t> pid = process();
  // The number may be somebody else's by now.
  if (!pid || !is_alive(*pid) || !is_process(*pid)) return;
  ::kill(static_cast<pid_t>(*pid), SIGKILL);
  for (int i = 0; i < 100 && is_alive(*pid); ++i) std::this_thread::sleep_for(start_poll);
}

// Containers write to its directory: neither a link nor a pipe without a writer is opened.
std::optional<int64_t> MpsDaemon::process() const {
  const int file = ::open(pid_file().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 32> text{};
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  const std::string_view digits(text.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  const auto pid = base::parse_number<int64_t>(base::trimmed(digits, " \n"));
  return pid && *pid > 1 ? pid : std::nullopt;
}

fs::path MpsDaemon::pid_file() const {
  return directories_.pipe / "nvidia-cuda-mps-control.pid";
}

}  // namespace agent
