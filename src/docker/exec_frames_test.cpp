#include "docker/exec_frames.h"

#include <gtest/gtest.h>

#include "docker/testing_frames.h"

namespace docker {
namespace {

// Neighbouring pieces of one stream as one.
std::vector<ExecOutput> joined(const std::vector<ExecOutput>& outputs) {
  std::vector<ExecOutput> all;
  for (const ExecOutput& output : outputs) {
    if (!all.empty() && all.back().stream == output.stream) {
      all.back().bytes += output.bytes;
    } else {
      all.push_back(output);
    }
  }
  return all;
}

TEST(ExecFrames, the_streams_are_told_apart_however_the_bytes_are_cut) {
  const std::string zeros(300, '\0');
  const std::string bytes = frame(1, "out") + frame(2, "err\xff") + frame(1, "") + frame(1, zeros);
  const std::vector<ExecOutput> expected{
      {ExecStream::Output, "out"}, {ExecStream::Error, "err\xff"}, {ExecStream::Output, zeros}};
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    ExecFrames frames;
    std::vector<ExecOutput> outputs;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      const auto told = frames.feed(std::string_view(bytes).substr(at, piece));
      ASSERT_TRUE(told.has_value());
      for (const ExecOutput& output : *told) {
        EXPECT_FALSE(output.bytes.empty());
        outputs.push_back(output);
      }
    }
    EXPECT_TRUE(frames.at_end_of_frame());
    EXPECT_EQ(joined(outputs), expected) << "in pieces of " << piece;
  }
}

TEST(ExecFrames, an_unknown_stream_and_a_cut_frame_are_noticed) {
  ExecFrames frames;
  EXPECT_EQ(frames.feed(frame(7, "x")).error().code, "DockerError");
  ExecFrames cut;
  EXPECT_TRUE(cut.feed(frame(1, "abc").substr(0, 10)).has_value());
  EXPECT_FALSE(cut.at_end_of_frame());
}

}  // namespace
}  // namespace docker
