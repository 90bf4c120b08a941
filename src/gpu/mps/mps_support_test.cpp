#include "gpu/mps/mps_support.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "base/format.h"
#include "gpu/embedded.h"

namespace gpu {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class MpsSupportTest : public ::testing::Test {
 protected:
  MpsSupportTest() {
    std::string name = (fs::temp_directory_path() / "berth-mps-XXXXXX").string();
    dir_ = mkdtemp(name.data());
  }
  ~MpsSupportTest() override { fs::remove_all(dir_); }

  fs::path write_program(const fs::path& path, std::string_view content, mode_t mode) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(content.data(), std::ssize(content));
    chmod(path.c_str(), mode);
    return path;
  }
  // The exit code; what the program printed is in output_.
  int run(const std::string& command) {
    const std::string all =
        base::format("export CUDA_MPS_PIPE_DIRECTORY={0} CUDA_MPS_LOG_DIRECTORY={0}; {1} >{0}/out",
                     dir_.string(), command);
    const int status = std::system(all.c_str());
    std::ifstream file(dir_ / "out");
    output_.assign(std::istreambuf_iterator<char>(file), {});
    return WEXITSTATUS(status);
  }

  fs::path dir_;
  std::string output_;
};

TEST_F(MpsSupportTest, the_first_program_that_can_be_run_is_taken) {
  const std::array dirs{dir_ / "a", dir_ / "b", dir_ / "c"};
  EXPECT_THAT(find_mps_control(dirs).missing, HasSubstr("nvidia-cuda-mps-control"));
  write_program(dirs[0] / "nvidia-cuda-mps-control", "not to be run", 0644);
  EXPECT_EQ(find_mps_control(dirs).control_program, "");
  write_program(dirs[1] / "nvidia-cuda-mps-control", "x", 0755);
  write_program(dirs[2] / "nvidia-cuda-mps-control", "x", 0755);
  const MpsSupport found = find_mps_control(dirs);
  EXPECT_EQ(found.control_program, (dirs[1] / "nvidia-cuda-mps-control").string());
  EXPECT_EQ(found.missing, "");
}

TEST_F(MpsSupportTest, the_emulated_daemon_starts_once_answers_and_quits) {
  const std::string program =
      write_program(dir_ / "nvidia-cuda-mps-control", embedded_mps_control(), 0755).string();
  const std::string ask = "echo get_server_list | " + program;
  EXPECT_EQ(run(ask), 1);
  EXPECT_THAT(output_, HasSubstr("Cannot find MPS control daemon process"));
  EXPECT_EQ(run(program + " -d"), 0);
  EXPECT_EQ(run(ask), 0);
  EXPECT_EQ(output_, "");
  EXPECT_EQ(run(program + " -d"), 1);
  EXPECT_THAT(output_, HasSubstr("already running"));
  EXPECT_TRUE(fs::exists(dir_ / "nvidia-cuda-mps-control.pid"));
  EXPECT_EQ(run("echo start_server | " + program), 0);
  EXPECT_THAT(output_, HasSubstr("emulated"));
  EXPECT_EQ(run("echo quit | " + program), 0);
  EXPECT_EQ(run(ask), 1);
  EXPECT_FALSE(fs::exists(dir_ / "nvidia-cuda-mps-control.pid"));
}

}  // namespace
}  // namespace gpu
