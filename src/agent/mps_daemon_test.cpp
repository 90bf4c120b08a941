#include "agent/mps_daemon.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "agent/child_process.h"
#include "agent/testing.h"

namespace agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Stands for NVIDIA's program: notes each call in `calls`, and has a daemon process of the same
// name, whose pid it writes where NVIDIA's does. The files `refuse` and `hang` beside it make the
// start fail and the daemon silent.
constexpr const char* fake_control = R"sh(#!/bin/sh
here=$(dirname "$0")
pid_file="$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid"
case "$1" in
  --serve) trap 'exit 0' TERM; while :; do sleep 0.05; done ;;
  -d)
    echo "-d pipe=$CUDA_MPS_PIPE_DIRECTORY log=$CUDA_MPS_LOG_DIRECTORY" >>"$here/calls"
    if [ -e "$here/refuse" ]; then echo "no device supports MPS"; exit 1; fi
    "$0" --serve &
    echo $! >"$pid_file" ;;
  *)
    read -r command
    echo "$command" >>"$here/calls"
    if [ -e "$here/hang" ]; then exec sleep 60; fi
    pid=$(cat "$pid_file" 2>/dev/null)
    if [ -z "$pid" ] || ! grep -q '^State:[^Z]*$' "/proc/$pid/status" 2>/dev/null; then
      echo "Cannot find MPS control daemon process"
      exit 1
    fi
    if [ "$command" = quit ]; then kill "$pid"; rm -f "$pid_file"; fi ;;
esac
)sh";

class MpsDaemonTest : public ::testing::Test {
 protected:
  MpsDaemonTest() : directories_(mps_directories(data_.path())) {
    std::ofstream(program()) << fake_control;
    chmod(program().c_str(), 0755);
  }
  ~MpsDaemonTest() override {
    if (const int64_t pid = this->pid(); pid > 1) kill(static_cast<pid_t>(pid), SIGKILL);
  }

  std::string program() const { return data_.path() / "nvidia-cuda-mps-control"; }
  MpsDaemon daemon() {
    MpsDaemon made(directories_,
                   {.answer = base::Milliseconds(5'000), .start = base::Milliseconds(20'000)});
    made.machine_has({.control_program = program()});
    return made;
  }
  int64_t pid() const {
    std::ifstream file(directories_.pipe / "nvidia-cuda-mps-control.pid");
    int64_t pid = 0;
    file >> pid;
    return pid;
  }
  void end_process(int64_t pid) const {
    kill(static_cast<pid_t>(pid), SIGKILL);
    for (int i = 0; i < 10'000 && MpsDaemon::is_process(pid); ++i) usleep(1'000);
  }
  void make(const char* name) const { std::ofstream(data_.path() / name) << ""; }
  // What was asked since the last call.
  std::vector<std::string> calls() {
    std::ifstream file(data_.path() / "calls");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    file.close();
    std::filesystem::remove(data_.path() / "calls");
    return lines;
  }

  testing::TemporaryDirectory data_;
  MpsDirectories directories_;
};

TEST_F(MpsDaemonTest, is_started_with_the_first_share_in_its_own_directories_and_only_once) {
  MpsDaemon mps = daemon();
  mps.look_after();
  EXPECT_THAT(calls(), IsEmpty());  // Nobody has wanted it.
  const auto started = mps.ensure_running();
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_THAT(calls(), ElementsAre("get_server_list",
                                   base::format("-d pipe={} log={}", directories_.pipe.string(),
                                                directories_.log.string()),
                                   "get_server_list"));
  EXPECT_TRUE(MpsDaemon::is_process(pid()));
  ASSERT_TRUE(mps.ensure_running());
  EXPECT_THAT(calls(), ElementsAre("get_server_list"));
  struct stat pipe = {};
  ASSERT_EQ(stat(directories_.pipe.c_str(), &pipe), 0);
  EXPECT_EQ(pipe.st_mode & 0777U, 0755U);
}

TEST_F(MpsDaemonTest, what_containers_left_in_the_pipe_directory_is_not_followed) {
  MpsDaemon mps = daemon();
  ASSERT_TRUE(mps.ensure_running());
  end_process(pid());
  const auto victim = data_.path() / "victim";
  std::ofstream(victim) << "precious";
  const auto file = directories_.pipe / "nvidia-cuda-mps-control.pid";
  std::filesystem::remove(file);
  std::filesystem::create_symlink(victim, file);
  mps.look_after();
  EXPECT_TRUE(MpsDaemon::is_process(pid()));
  std::string text;
  std::ifstream(victim) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(MpsDaemonTest, a_pipe_in_the_place_of_its_pid_does_not_hold_the_agent_up) {
  MpsDaemon mps = daemon();
  ASSERT_TRUE(mps.ensure_running());
  end_process(pid());
  const auto file = directories_.pipe / "nvidia-cuda-mps-control.pid";
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0666), 0);
  mps.look_after();
  EXPECT_TRUE(MpsDaemon::is_process(pid()));
}

TEST_F(MpsDaemonTest, is_started_again_when_it_dies) {
  MpsDaemon mps = daemon();
  ASSERT_TRUE(mps.ensure_running());
  const int64_t first = pid();
  end_process(first);
  mps.look_after();
  EXPECT_NE(pid(), first);
  EXPECT_TRUE(MpsDaemon::is_process(pid()));
}

TEST_F(MpsDaemonTest, that_no_longer_answers_is_killed_and_started_again) {
  MpsDaemon mps = daemon();
  ASSERT_TRUE(mps.ensure_running());
  const int64_t first = pid();
  make("hang");
  make("refuse");
  mps.look_after();
  EXPECT_FALSE(MpsDaemon::is_process(first));
  std::filesystem::remove(data_.path() / "hang");
  std::filesystem::remove(data_.path() / "refuse");
  mps.look_after();
  EXPECT_TRUE(MpsDaemon::is_process(pid()));
}

TEST_F(MpsDaemonTest, outlives_its_agent_and_is_taken_over_by_the_next) {
  {
    MpsDaemon mps = daemon();
    ASSERT_TRUE(mps.ensure_running());
  }
  const int64_t first = pid();
  calls();
  MpsDaemon next = daemon();
  EXPECT_THAT(calls(), ElementsAre("get_server_list"));
  EXPECT_EQ(pid(), first);
  end_process(first);
  next.look_after();
  EXPECT_NE(pid(), first);
}

TEST_F(MpsDaemonTest, that_died_while_no_agent_was_there_is_started_by_the_next) {
  {
    MpsDaemon mps = daemon();
    ASSERT_TRUE(mps.ensure_running());
  }
  const int64_t first = pid();
  end_process(first);
  MpsDaemon next = daemon();
  EXPECT_NE(pid(), first);
  EXPECT_TRUE(MpsDaemon::is_process(pid()));
}

TEST_F(MpsDaemonTest, is_told_to_quit_when_nothing_shares_any_more) {
  MpsDaemon mps = daemon();
  mps.stop();
  EXPECT_THAT(calls(), IsEmpty());
  ASSERT_TRUE(mps.ensure_running());
  const int64_t process = pid();
  calls();
  mps.stop();
  EXPECT_THAT(calls(), ElementsAre("quit"));
  for (int i = 0; i < 10'000 && MpsDaemon::is_process(process); ++i) usleep(1'000);
  EXPECT_FALSE(MpsDaemon::is_process(process));
  calls();
  mps.look_after();
  EXPECT_THAT(calls(), IsEmpty());  // It is not wanted any more.
}

TEST_F(MpsDaemonTest, that_cannot_be_started_says_what_the_program_said) {
  make("refuse");
  MpsDaemon mps = daemon();
  const auto started = mps.ensure_running();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("no device supports MPS"));
  EXPECT_THAT(started.error().message, HasSubstr("control.log"));
}

TEST_F(MpsDaemonTest, is_refused_with_the_reason_where_the_program_is_missing) {
  MpsDaemon mps(directories_);
  mps.machine_has({.missing = "There is none."});
  const auto started = mps.ensure_running();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, "UnsupportedFeatureException");
  EXPECT_THAT(started.error().message, HasSubstr("There is none."));
}

TEST_F(MpsDaemonTest, needs_a_directory_whose_sockets_have_names_short_enough) {
  MpsDaemon mps(mps_directories(data_.path() / std::string(100, 'x')));
  mps.machine_has({.control_program = program()});
  EXPECT_THAT(mps.ensure_running().error().message, HasSubstr("shorter data directory"));
}

TEST(run_child, gives_input_and_environment_and_takes_output_and_exit_code) {
  const auto end = run_child({.path = "/bin/sh",
                              .arguments = {"-c", "cat; echo \"$A\" >&2; exit 3"},
                              .environment = {{"A", "b"}},
                              .input = "in\n"});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->output, "in\nb\n");
}

TEST(run_child, does_not_wait_for_what_the_program_leaves_running_nor_for_ever) {
  const auto left = run_child({.path = "/bin/sh", .arguments = {"-c", "sleep 2 & echo done"}});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->output, "done\n");
  const auto late = run_child({.path = "/bin/sh",
                               .arguments = {"-c", "echo stuck; exec sleep 60"},
                               .timeout = base::Milliseconds(100)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "Timeout");
  EXPECT_THAT(late.error().message, HasSubstr("stuck"));
  EXPECT_EQ(run_child({.path = "/nowhere/program"}).error().code, "IoError");
}

}  // namespace
}  // namespace agent
