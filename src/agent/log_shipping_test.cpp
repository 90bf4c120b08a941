#include "agent/log_shipping.h"

#include <gmock/gmock.h>

#include <thread>

#include "agent/testing.h"
#include "base/log.h"
#include "docker/fake.h"

namespace agent {
namespace {

using testing::ControlPlane;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Seen;

// Ends a log that it follows after so many lines, as dockerd does where the reader is slow.
class EndsEarly final : public docker::ContainerStreams {
 public:
  EndsEarly(docker::ContainerStreams& whole, size_t lines) : whole_(whole), lines_(lines) {}

  docker::Result<void> events(const docker::EventsRequest& request,
                              const docker::OnEvent& on_event) override {
    return whole_.events(request, on_event);
  }
  docker::Result<void> logs(const docker::LogsRequest& request,
                            const docker::OnLogLine& on_line) override {
    size_t left = request.follow ? lines_ : SIZE_MAX;
    return whole_.logs(request, [&](docker::LogLine&& line) {
      if (left == 0) return false;
      --left;
      return on_line(std::move(line));
    });
  }
  docker::Result<docker::ContainerStats> stats(const std::string& id) override {
    return whole_.stats(id);
  }

 private:
  docker::ContainerStreams& whole_;
  const size_t lines_;
};

class LogShippingTest : public ::testing::Test {
 protected:
  LogShippingTest() {
    base::set_log_level(base::LogLevel::Error);
    docker_.add_image("busybox");
    docker_.set_time(now_);
    id_ = docker_.create("c", json::Value::object({{"Image", "busybox"}}))->runtime_id;
    EXPECT_TRUE(docker_.start(id_).has_value());
    api_ = ApiClient::create({.server_urls = {plane_.url()},
                              .credentials = {"AGENTKEY", "agentsecret"},
                              .tls = {},
                              .region = "us-east-1"},
                             clock_)
               .value();
    request_.task_arn = "t";
    request_.container_name = "main";
    request_.runtime_id = id_;
    request_.group = "g";
    request_.stream = "s";
    request_.create_group = true;
  }

  void TearDown() override {
    EXPECT_EQ(plane_.with([](Seen& seen) { return seen.gaps; }), gaps_);
  }

  void write(const std::string& line) {
    docker_.write_log(id_, docker::OutputStream::Stdout, line);
  }
  void pass(base::Milliseconds time) { docker_.set_time(now_ += time); }

  core::OperationResult ship(std::stop_token stop = {}) {
    std::stop_source never;  // The fake follows only what can be stopped.
    return ship_logs({.request = request_,
                      .position = position_,
                      .streams = streams_ != nullptr ? *streams_ : docker_,
                      .api = *api_,
                      .clock = clock_,
                      .stop = stop.stop_possible() ? stop : never.get_token(),
                      .moved = [this](const LogPosition& moved) { position_ = moved; }});
  }
  std::vector<std::string> lines() { return plane_.lines("g", "s"); }

  base::SystemClock clock_;
  base::Time now_ = clock_.now();
  docker::FakeRuntime docker_;
  docker::ContainerStreams* streams_ = nullptr;  // Of docker_ itself otherwise.
  ControlPlane plane_;
  std::unique_ptr<ApiClient> api_;
  std::string id_;
  core::ShipLogs request_;
  LogPosition position_;
  size_t gaps_ = 0;  // That the test makes.
};

TEST_F(LogShippingTest, all_lines_in_order_and_no_empty_ones) {
  write("a");
  write("");
  write("b");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("a", "b"));
  EXPECT_EQ(position_.next_event, 2);
}

TEST_F(LogShippingTest, nothing_is_told_again_after_a_restart_at_any_line) {
  const size_t count = 12;
  for (size_t i = 0; i < count; ++i) {
    if (i % 3 == 0) pass(std::chrono::seconds(40));
    write(base::format("{}", i));
  }
  docker_.exit_container(id_, 0);
  // Positions as they were when only the first n lines had been there.
  for (size_t cut = 0; cut <= count; ++cut) {
    SCOPED_TRACE(cut);
    docker::FakeRuntime early;
    early.add_image("busybox");
    base::Time time = now_ - std::chrono::seconds(160);
    early.set_time(time);
    const std::string id =
        early.create("c", json::Value::object({{"Image", "busybox"}}))->runtime_id;
    ASSERT_TRUE(early.start(id).has_value());
    request_.runtime_id = id;
    request_.stream = base::format("s{}", cut);
    position_ = {};
    const auto run = [&] {
      std::stop_source never;
      return ship_logs({.request = request_,
                        .position = position_,
                        .streams = early,
                        .api = *api_,
                        .clock = clock_,
                        .stop = never.get_token(),
                        .moved = [this](const LogPosition& moved) { position_ = moved; }});
    };
    std::vector<std::string> expected;
    for (size_t i = 0; i < count; ++i) {
      if (i == cut) {
        early.exit_container(id, 0);
        ASSERT_TRUE(run().has_value());
        ASSERT_TRUE(early.start(id).has_value());
      }
      if (i % 3 == 0) early.set_time(time += std::chrono::seconds(40));
      early.write_log(id, docker::OutputStream::Stdout, base::format("{}", i));
      expected.push_back(base::format("{}", i));
    }
    early.exit_container(id, 0);
    ASSERT_TRUE(run().has_value());
    EXPECT_EQ(plane_.lines("g", request_.stream), expected);
    EXPECT_EQ(position_.next_event, static_cast<int64_t>(count));
    // Once more: there is nothing left to tell.
    const size_t puts = plane_.with([](Seen& seen) { return seen.puts; });
    ASSERT_TRUE(run().has_value());
    EXPECT_EQ(plane_.with([](Seen& seen) { return seen.puts; }), puts);
  }
}

TEST_F(LogShippingTest, nothing_is_lost_after_a_clock_that_was_ahead) {
  std::vector<std::string> written;
  const auto write_some = [&] {
    for (int i = 0; i < 5; ++i) {
      write(written.emplace_back(base::format("line {}", written.size())));
    }
  };
  write_some();
  pass(std::chrono::hours(6));
  write_some();
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  // The agent comes back after the clock was set back, and finds lines of before and after.
  pass(std::chrono::hours(-6));
  ASSERT_TRUE(docker_.start(id_).has_value());
  write_some();
  pass(std::chrono::hours(-1));
  write_some();
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_EQ(lines(), written);
  EXPECT_EQ(position_.next_event, std::ssize(written));
}

TEST_F(LogShippingTest, a_followed_log_that_ends_early_is_whole_though_the_clock_was_set_back) {
  EndsEarly early(docker_, 4);
  streams_ = &early;
  std::vector<std::string> written;
  for (int i = 0; i < 12; ++i) {
    if (i % 3 == 0) pass(std::chrono::hours(i % 2 == 0 ? 6 : -8));
    write(written.emplace_back(base::format("line {}", i)));
  }
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_EQ(lines(), written);
}

TEST_F(LogShippingTest, a_place_far_from_the_end_of_the_log_is_found_again) {
  write("a");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  ASSERT_TRUE(docker_.start(id_).has_value());
  for (int i = 0; i < 3'000; ++i) write(base::format("{}", i));
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_EQ(lines().size(), 3'001U);
  EXPECT_EQ(lines()[1], "0");
}

TEST_F(LogShippingTest, a_line_of_an_older_agent_s_position_is_known_by_its_time) {
  write("a");
  write("b");
  const int64_t first_ns =
      std::chrono::nanoseconds(std::chrono::milliseconds(now_.time_since_epoch().count())).count();
  position_ = {.runtime_id = id_, .next_event = 1, .last = LineMark{.time_ns = first_ns}};
  plane_.with([](Seen& seen) { seen.groups["g"]["s"].next = 1; });
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("b"));
}

TEST_F(LogShippingTest, an_agent_that_lost_its_position_sends_again_and_the_server_keeps_one_copy) {
  write("a");
  write("b");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  position_ = {};
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("a", "b"));
}

TEST_F(LogShippingTest, lines_that_docker_has_dropped_do_not_swallow_newer_ones) {
  position_ = {.runtime_id = id_, .next_event = 5, .last = LineMark{.time_ns = 1, .hash = 1}};
  plane_.with([](Seen& seen) { seen.groups["g"]["s"].next = 5; });
  write("new");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("new"));
  EXPECT_EQ(position_.next_event, 6);
}

TEST_F(LogShippingTest, a_followed_log_that_ends_early_is_read_to_its_end) {
  EndsEarly early(docker_, 4);
  streams_ = &early;
  std::vector<std::string> written;
  for (int i = 0; i < 10; ++i) {
    write(written.emplace_back(base::format("line {}", i)));
    if (i % 3 == 0) pass(std::chrono::minutes(i));
  }
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_EQ(lines(), written);
  ASSERT_TRUE(ship().has_value());  // From where it is.
  EXPECT_EQ(lines(), written);
}

TEST_F(LogShippingTest, much_output_goes_in_batches_that_the_service_takes) {
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    expected.push_back(base::format("{:02} {}", i, std::string(100'000, 'x')));
    write(expected.back());
  }
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_EQ(lines(), expected);
  EXPECT_GE(plane_.with([](Seen& seen) { return seen.puts; }), 7U);
}

TEST_F(LogShippingTest, bytes_that_are_no_utf8_become_replacement_characters) {
  write("a\xFF\xC3(b");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("a\xEF\xBF\xBD\xEF\xBF\xBD(b"));
}

TEST_F(LogShippingTest, times_never_go_back_in_a_request) {
  pass(std::chrono::seconds(2));
  write("later");
  pass(std::chrono::seconds(-1));
  write("earlier");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("later", "earlier"));
  const auto times = plane_.with([](Seen& seen) { return seen.groups["g"]["s"].times; });
  EXPECT_EQ(times[0], times[1]);
}

TEST_F(LogShippingTest, a_line_that_is_refused_does_not_hold_up_the_rest) {
  ASSERT_TRUE(make_log_stream(*api_, request_).has_value());
  plane_.refuse("PutLogEvents", "InvalidParameterException", "Log event too large", 2);
  write("bad");
  write("good");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("good"));
  gaps_ = 1;
}

TEST_F(LogShippingTest, a_stream_that_was_deleted_is_made_anew) {
  ASSERT_TRUE(make_log_stream(*api_, request_).has_value());
  plane_.with([](Seen& seen) { seen.groups.clear(); });
  write("a");
  docker_.exit_container(id_, 0);
  ASSERT_TRUE(ship().has_value());
  EXPECT_THAT(lines(), ElementsAre("a"));
}

TEST_F(LogShippingTest, it_ends_when_it_is_stopped_although_nobody_takes_the_output) {
  plane_.down();
  write("a");
  std::stop_source stop;
  base::Queue<core::OperationResult> ended(1);
  std::jthread shipping([&] { ended.push(ship(stop.get_token())); });
  stop.request_stop();
  const auto result = ended.pop();
  ASSERT_FALSE(result->has_value());
  EXPECT_EQ(result->error().cause, core::Cause::Cancelled);
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(LogShippingTest, a_container_that_is_gone_is_docker_s_error) {
  docker_.vanish(id_);
  const auto result = ship();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().cause, core::Cause::NotFound);
}

}  // namespace
}  // namespace agent
