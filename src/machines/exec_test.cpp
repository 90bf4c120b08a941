#include "machines/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "api/base64.h"

namespace machines {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Exec : public ::testing::Test {
 protected:
  Exec() {
    std::string made = (std::filesystem::temp_directory_path() / "berth-exec-XXXXXX").string();
    CHECK(::mkdtemp(made.data()) != nullptr);
    folder = made;
    program("launch", "echo i-1");
    program("terminate", "true");
    program("list", "true");
  }
  ~Exec() override { std::filesystem::remove_all(folder); }

  void program(const std::string& name, const std::string& body) const {
    std::ofstream file(folder / name);
    file << "#!/bin/sh\ncd '" << folder.string() << "'\n" << body << "\n";
    file.close();
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(folder / name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::unique_ptr<MachineProvider> provider(base::Milliseconds timeout = std::chrono::minutes(1)) {
    auto made = exec_machines({.folder = folder,
                               .launch_timeout = timeout,
                               .terminate_timeout = timeout,
                               .list_timeout = timeout});
    CHECK(made.has_value());
    return std::move(*made);
  }
  static control::LaunchMachine order() {
    control::LaunchMachine made;
    made.group = "gpus";
    made.token = "g-1";
    made.instance_type = "p3.8xlarge";
    made.availability_zone = "us-east-1b";
    made.tags = {{"team", "vision"}};
    api::append_base64(made.user_data, "#!/bin/sh\necho ECS_CLUSTER=big\n");
    return made;
  }

  std::filesystem::path folder;
};

TEST_F(Exec, launch_gets_all_that_a_machine_is_made_from) {
  program("launch",
          "echo \"$*\" > arguments; env | grep -E '^BERTH_(AG|AV|GR|TA)' | sort > environment; cat "
          "> user-data\n"
          "echo preparing; echo i-42; echo");
  const auto launched = provider()->launch(order());
  ASSERT_TRUE(launched.has_value()) << launched.error().message;
  EXPECT_EQ(*launched, "i-42");
  EXPECT_EQ(text_of("arguments"), "g-1 p3.8xlarge\n");
  EXPECT_EQ(text_of("environment"),
            "BERTH_AGAIN=\nBERTH_AVAILABILITY_ZONE=us-east-1b\nBERTH_GROUP=gpus\n"
            "BERTH_TAGS={\"team\":\"vision\"}\n");
  EXPECT_EQ(text_of("user-data"), "#!/bin/sh\necho ECS_CLUSTER=big\n");
}

TEST_F(Exec, what_a_program_says_to_its_standard_error_is_the_reason) {
  program("launch", "echo i-1; echo no capacity in rack 7 >&2; exit 3");
  const auto launched = provider()->launch(order());
  ASSERT_FALSE(launched.has_value());
  EXPECT_THAT(launched.error().message, HasSubstr("ended with code 3: no capacity in rack 7"));
  program("terminate", "echo it is locked >&2; exit 1");
  const auto terminated = provider()->terminate({"gpus", "i-1"});
  ASSERT_FALSE(terminated.has_value());
  EXPECT_THAT(terminated.error().message, HasSubstr("it is locked"));
}

TEST_F(Exec, terminate_gets_the_id) {
  program("terminate", "echo \"$BERTH_GROUP $*\" > arguments");
  ASSERT_TRUE(provider()->terminate({"gpus", "i-1"}).has_value());
  EXPECT_EQ(text_of("arguments"), "gpus i-1\n");
}

TEST_F(Exec, list_names_tokens_and_ids) {
  program("list", "echo g-1 i-1; echo; printf 'g-2\\ti-2\\n'");
  const auto listed = provider()->list();
  ASSERT_TRUE(listed.has_value()) << listed.error().message;
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ((*listed)[1].token, "g-2");
  EXPECT_EQ((*listed)[1].id, "i-2");
}

TEST_F(Exec, a_list_with_one_bad_line_is_no_list) {
  for (const char* const text : {"g-1\n", "g-1 i 1\n", "g-1 i-1\n; rm\n", "<html>\n"}) {
    EXPECT_FALSE(parse_list(text).has_value()) << text;
  }
  EXPECT_TRUE(parse_list("")->empty());
  EXPECT_TRUE(parse_list("\n\n")->empty());
}

TEST_F(Exec, an_answer_without_an_id_is_an_error) {
  for (const char* const text : {"", "\n", "two words\n", "i-1\nnow it is up!\n"}) {
    EXPECT_FALSE(parse_launched(text).has_value()) << text;
  }
  EXPECT_EQ(*parse_launched("working\ni-1\n\n"), "i-1");
  EXPECT_FALSE(parse_launched(std::string(300, 'a')).has_value());
}

TEST_F(Exec, a_program_that_hangs_is_killed_with_all_that_it_waits_for) {
  program("launch", "echo $$ > pid; sleep 600");
  const auto launched = provider(base::Milliseconds(300))->launch(order());
  ASSERT_FALSE(launched.has_value());
  EXPECT_EQ(launched.error().code, "Timeout");
}

TEST_F(Exec, cancel_ends_what_is_under_way) {
  program("launch", "sleep 600");
  const auto made = provider();
  base::Result<std::string> launched;
  std::thread caller([&] { launched = made->launch(order()); });
  made->cancel();
  caller.join();
  ASSERT_FALSE(launched.has_value());
  EXPECT_EQ(launched.error().code, "Cancelled");
}

TEST_F(Exec, a_missing_program_is_told_before_anything_is_launched) {
  std::filesystem::remove(folder / "list");
  const auto made = exec_machines({.folder = folder});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("list"));
  std::filesystem::permissions(folder / "launch", std::filesystem::perms::owner_read);
}

}  // namespace
}  // namespace machines
