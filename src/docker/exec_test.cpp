#include "docker/exec.h"

#include "docker/testing_real_docker.h"

namespace docker {
namespace {

using testing::RealDocker;

constexpr int attempts = 30;

// Docker hands out a process's output before it tells its id.
TEST_F(RealDocker, a_process_that_speaks_has_an_id_until_it_ends) {
  const std::string container = start("exec", body("trap exit TERM; sleep 600 & wait"));
  for (int i = 0; i < attempts; ++i) {
    auto process = ExecProcess::start(
        host_,
        {.container = container, .command = {"sh", "-c", "echo up; read"}, .terminal = false});
    ASSERT_TRUE(process.has_value()) << process.error().message;
    const auto output = (*process)->read();
    ASSERT_TRUE(output.has_value()) << output.error().message;
    EXPECT_EQ("up\n", output->bytes);
    const auto running = (*process)->process_id(base::Milliseconds{10'000});
    ASSERT_TRUE(running.has_value()) << running.error().message;
    EXPECT_GT(*running, 1);
    ASSERT_TRUE((*process)->close_input().has_value());
    ASSERT_TRUE((*process)->exit_code(base::Milliseconds{10'000}).has_value());
    EXPECT_EQ(0, (*process)->process_id(base::Milliseconds{0}).value_or(-1));
  }
}

}  // namespace
}  // namespace docker
