// Where most transcripts begin: an agent that has joined its cluster, and one whose task runs. For
// tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "agent/core/transcript_testing.h"

namespace agent::core::testing {

inline constexpr const char* up = R"(
> ready
  op 1 ListContainers agent-1
  register anew
> done 1 list
> registered
  write agent
  connect, asking for credentials
> open
)";

struct Up : Transcript {
  explicit Up(Config config = test_config()) : Transcript(std::move(config)) {
    EXPECT_EQ(play(up), up);
  }
};

// One task with one container that runs.
struct Running : Up {
  explicit Running(const std::string& payload =
                       R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]})",
                   Config config = test_config())
      : Up(std::move(config)) {
    play("> payload m1 " + payload + "\n> done 2 image\n> done 3 created c1\n> done 4 ok\n" +
         "> submitted 5 accepted\n");
    EXPECT_TRUE(core().tasks().begin()->second.record.reached_running);
  }
};

// That the inputs of `text` are answered as `text` says.
inline void expect(Transcript& transcript, const std::string& text) {
  EXPECT_EQ(transcript.play(text), text);
}

}  // namespace agent::core::testing
