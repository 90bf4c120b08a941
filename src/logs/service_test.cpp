#include "logs/service.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "logs/operations/operations.h"
#include "logs/tables/schema.h"
#include "logs/testing.h"

namespace logs {
namespace {

TEST(logs_service, every_operation_of_its_table_is_built) {
  for (const api::Operation& each : api::logs_service().operations) {
    EXPECT_NE(find_operation(each.name), nullptr) << each.name;
  }
}

// Requests without any member must be refused, not crash: each operation checks for itself.
TEST(logs_service, every_operation_answers_an_empty_request) {
  TestLogs logs;
  for (const OperationEntry& entry : operation_table()) {
    const api::Operation& each = operation(entry.name);
    const auto answer = logs.service->handle(each, api::Any::create(*each.input), test_now);
    if (entry.name == "DescribeLogGroups") {
      EXPECT_TRUE(answer);
    } else {
      ASSERT_FALSE(answer) << entry.name;
      EXPECT_EQ(answer.error().code, "InvalidParameterException") << entry.name;
    }
  }
}

TEST(logs_service, the_calls_of_a_batch_see_each_other_and_fail_alone) {
  TestLogs logs;
  wire::CreateLogGroupRequest create_group;
  create_group.log_group_name = "g";
  wire::CreateLogStreamRequest create_stream;
  create_stream.log_group_name = "g";
  create_stream.log_stream_name = "s";
  wire::GetLogEventsRequest get;
  get.log_group_name = "g";
  get.log_stream_name = "s";
  std::vector<std::pair<std::string_view, api::Any>> requests;
  requests.emplace_back("CreateLogGroup", api::Any::make(create_group));
  requests.emplace_back("CreateLogGroup", api::Any::make(create_group));
  requests.emplace_back("CreateLogStream", api::Any::make(create_stream));
  requests.emplace_back("PutLogEvents",
                        api::Any::make(put_request("g", "s", {{ms_before_now(1), "m"}})));
  requests.emplace_back("PutLogEvents", api::Any::make(put_request("g", "missing", {{1, "m"}})));
  requests.emplace_back("GetLogEvents", api::Any::make(get));
  std::vector<Call> calls;
  for (const auto& [name, request] : requests) {
    calls.push_back({.operation = &operation(name), .request = &request});
  }
  const auto answers = logs.service->handle_batch(calls, test_now);
  ASSERT_EQ(answers.size(), 6);
  EXPECT_TRUE(answers[0]);
  EXPECT_EQ(answers[1].error().code, "ResourceAlreadyExistsException");
  EXPECT_TRUE(answers[2]);
  EXPECT_TRUE(answers[3]);
  EXPECT_EQ(answers[4].error().code, "ResourceNotFoundException");
  EXPECT_EQ(answers[5]->as<wire::GetLogEventsResponse>().events.size(), 1);
  EXPECT_TRUE(logs.service->handle_batch({}, test_now).empty());
}

TEST(logs_service, a_file_that_is_no_database_is_refused) {
  TemporaryDirectory directory;
  std::ofstream(directory.file()) << std::string(10'000, 'x');
  const auto opened = Service::open(directory.file(), "eu-west-1", "123456789012");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, sqlite::corrupt);
}

TEST(logs_service, an_index_entry_without_its_event_is_damage_and_no_crash) {
  TestLogs logs;
  logs.create_group("g");
  logs.create_stream("g", "s");
  logs.put(put_request("g", "s", {{ms_before_now(1), "m"}}));
  remove_event_behind_its_index(logs.directory.file());
  wire::FilterLogEventsRequest request;
  request.log_group_name = "g";
  const base::Error error = logs.error("FilterLogEvents", request);
  EXPECT_EQ(error.code, "ServiceUnavailableException");
  EXPECT_TRUE(error.message.contains(logs.directory.file())) << error.message;
  ASSERT_TRUE(logs.service->damage());
  EXPECT_EQ(logs.service->damage()->code, sqlite::corrupt);
  // And at the next start.
  logs.service.reset();
  const auto opened = Service::open(logs.directory.file(), "eu-west-1", "123456789012");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, sqlite::corrupt);
  EXPECT_TRUE(is_damage(opened.error()));
}

TEST(logs_service, a_look_through_the_file_finds_an_index_that_is_wrong_either_way) {
  for (const bool event_is_gone : {true, false}) {
    TestLogs logs;
    logs.create_group("g");
    logs.create_stream("g", "s");
    logs.put(put_request("g", "s", std::vector<Line>(2'500, Line{ms_before_now(1), "m"})));
    const auto through = [&]() -> base::Result<void> {
      while (!TRY(logs.service->scrub())) {
      }
      return {};
    };
    EXPECT_TRUE(through());
    EXPECT_TRUE(through());
    if (event_is_gone) {
      remove_event_behind_its_index(logs.directory.file());
    } else {
      empty_the_index(logs.directory.file());
    }
    EXPECT_FALSE(through());
    ASSERT_TRUE(logs.service->damage());
    EXPECT_TRUE(logs.service->damage()->message.contains("index")) << event_is_gone;
  }
}

TEST(logs_service, streams_of_an_older_file_are_every_agent_s_until_one_numbers_its_events) {
  TestLogs logs;
  logs.create_group("g");
  logs.create_stream("g", "s");
  logs.service.reset();
  {
    const auto database = sqlite::Database::open(logs.directory.file(), {});
    ASSERT_TRUE((*database)->execute("DROP TABLE log_stream_writer; PRAGMA user_version=1;"));
  }
  logs.reopen();
  const auto put = [&](const std::string& instance, std::optional<int64_t> position) {
    logs.writer = {.kind = Writer::Kind::Agent, .instance = instance};
    return logs.error("PutLogEvents", put_request("g", "s", {{ms_before_now(1), "m"}}, position))
        .code;
  };
  EXPECT_EQ(put("one", std::nullopt), "");
  EXPECT_EQ(put("two", std::nullopt), "");
  EXPECT_EQ(put("one", 0), "");
  EXPECT_EQ(put("two", 0), "AccessDeniedException");
  EXPECT_EQ(put("one", 1), "");
}

TEST(logs_service, a_reader_sees_what_is_committed_and_changes_nothing) {
  TestLogs logs;
  logs.create_group("g");
  logs.create_stream("g", "s");
  const auto reader =
      Service::open_reader(logs.directory.file(), "eu-west-1", "123456789012").value();
  wire::FilterLogEventsRequest request;
  request.log_group_name = "g";
  for (size_t count = 1; count <= 3; ++count) {
    logs.put(put_request("g", "s", {{ms_before_now(1), "m"}}));
    const auto found =
        reader->handle(operation("FilterLogEvents"), api::Any::make(request), test_now);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->as<wire::FilterLogEventsResponse>().events.size(), count);
  }
  EXPECT_FALSE(reader->handle(operation("PutLogEvents"),
                              api::Any::make(put_request("g", "s", {{ms_before_now(1), "m"}})),
                              test_now));
}

TEST(logs_service, the_write_ahead_log_is_emptied_once_it_has_grown_under_a_reader) {
  TestLogs logs;
  logs.create_group("g");
  logs.create_stream("g", "s");
  const auto database =
      sqlite::Database::open(logs.directory.file(), {.access = sqlite::Access::Existing}).value();
  const std::string wal = logs.directory.file() + "-wal";
  {
    const auto reader = sqlite::ReadTransaction::begin(*database).value();
    for (int i = 0; i < 80; ++i) {
      logs.put(put_request("g", "s", {{ms_before_now(1), std::string(1'000'000, 'x')}}));
    }
    EXPECT_GT(std::filesystem::file_size(wal), 64U << 20U);
  }
  ASSERT_TRUE(logs.service->sweep(logs.now).has_value());
  EXPECT_LT(std::filesystem::file_size(wal), 64U << 20U);
}

TEST(logs_service, a_file_of_a_newer_version_is_refused) {
  TemporaryDirectory directory;
  open_service(directory.file());
  ASSERT_TRUE((*sqlite::Database::open(directory.file(), {}))->set_user_version(99));
  const auto opened = Service::open(directory.file(), "eu-west-1", "123456789012");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("has format 99"), std::string::npos);
}

// No statement reads a whole table or sorts, but those over all groups and tags of a group.
TEST(logs_service, every_statement_goes_by_an_index) {
  TemporaryDirectory directory;
  const auto database = *open_database(directory.file());
  int looked_at = 0;
  for (const auto statements : {Groups::sql(), Streams::sql(), Events::sql(), Scrubber::sql()}) {
    for (const std::string sql : statements) {
      auto plan = *database->prepare("EXPLAIN QUERY PLAN " + sql);
      while (*plan.step()) {
        ++looked_at;
        const std::string step(plan.column_text(3));
        EXPECT_FALSE(step.contains("TEMP B-TREE")) << sql << ": " << step;
        const bool small = step == "SCAN log_group" || step == "SCAN next_event" ||
                           step == "SCALAR SUBQUERY 1" ||
                           step.starts_with("LIST SUBQUERY");  // Its own steps follow.
        EXPECT_TRUE(small || step.starts_with("SEARCH")) << sql << ": " << step;
      }
    }
  }
  EXPECT_GT(looked_at, 20);
}

// Within its life, files cannot grow: what a full disk looks like.
class FullDisk {
 public:
  explicit FullDisk(rlim_t most_bytes) {
    previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    CHECK(::getrlimit(RLIMIT_FSIZE, &previous_) == 0);
    const rlimit limit{.rlim_cur = most_bytes, .rlim_max = previous_.rlim_max};
    CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  FullDisk(const FullDisk&) = delete;
  ~FullDisk() {
    CHECK(::setrlimit(RLIMIT_FSIZE, &previous_) == 0);
    std::signal(SIGXFSZ, previous_handler_);
  }

 private:
  rlimit previous_{};
  void (*previous_handler_)(int) = nullptr;
};

TEST(logs_service, a_full_disk_fails_the_whole_batch_and_changes_nothing) {
  TestLogs logs;
  logs.create_group("g");
  for (const char* name : {"s", "t"}) logs.create_stream("g", name);
  logs.writer = {.kind = Writer::Kind::Server};
  logs.put(put_request("g", "s", {{ms_before_now(2), "before"}}, 0));
  const api::Any small = api::Any::make(put_request("g", "s", {{ms_before_now(1), "lost"}}, 1));
  const api::Any big =
      api::Any::make(put_request("g", "t", {{ms_before_now(1), std::string(1'000'000, 'x')}}));
  const api::Operation* const put = &operation("PutLogEvents");
  const std::vector<Call> calls = {{.operation = put, .request = &small, .writer = logs.writer},
                                   {.operation = put, .request = &big, .writer = logs.writer}};
  {
    const FullDisk full(500'000);
    for (const auto& answer : logs.service->handle_batch(calls, test_now)) {
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().code, "ServiceUnavailableException");
    }
  }
  EXPECT_EQ(logs.read("g", "s").size(), 1);
  EXPECT_EQ(logs.describe_stream("g", "s").berth_next_position, 1);
  EXPECT_EQ(logs.describe_group("g").stored_bytes, 6 + 26);
  for (const auto& answer : logs.service->handle_batch(calls, test_now)) EXPECT_TRUE(answer);
  EXPECT_EQ(logs.read("g", "s").size(), 2);
  EXPECT_EQ(logs.read("g", "t").size(), 1);
}

// Puts batches until it is killed; tells its parent after each how far it is.
[[noreturn]] void ship_until_killed(const std::string& file, int64_t from, int report) {
  const auto service = open_service(file);
  for (int64_t position = from;;) {
    std::vector<Line> lines;
    const int64_t count = 1 + position % 7;
    for (int64_t index = 0; index < count; ++index) {
      lines.push_back({ms_before_now(0), std::to_string(position + index)});
    }
    const auto answer = service->handle(operation("PutLogEvents"),
                                        api::Any::make(put_request("g", "s", lines, position)),
                                        test_now, {.kind = Writer::Kind::Server});
    if (!answer) ::_exit(1);
    position += count;
    if (::write(report, &position, sizeof(position)) != sizeof(position)) ::_exit(2);
  }
}

TEST(logs_service, kill_9_at_any_moment_loses_nothing_acknowledged_and_doubles_nothing) {
  TestLogs logs;
  logs.create_group("g");
  logs.create_stream("g", "s");
  int64_t acknowledged = 0;
  for (int round = 0; round < 8; ++round) {
    logs.service.reset();
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    // From before the last acknowledged position, as an agent that lost answers does.
    const int64_t from = std::max<int64_t>(0, acknowledged - 5);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(pipe_ends[0]);
      ship_until_killed(logs.directory.file(), from, pipe_ends[1]);
    }
    ::close(pipe_ends[1]);
    for (int answers = 0; answers < 20 + round * 7; ++answers) {
      ASSERT_EQ(::read(pipe_ends[0], &acknowledged, sizeof(acknowledged)),
                static_cast<ssize_t>(sizeof(acknowledged)));
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (::read(pipe_ends[0], &acknowledged, sizeof(acknowledged)) > 0) {
    }
    ::close(pipe_ends[0]);

    logs.service = open_service(logs.directory.file());
    const auto events = logs.read("g", "s");
    ASSERT_GE(std::ssize(events), acknowledged);
    for (size_t index = 0; index < events.size(); ++index) {
      ASSERT_EQ(events[index].message, std::to_string(index));
    }
    ASSERT_EQ(logs.describe_stream("g", "s").berth_next_position, std::ssize(events));
  }
  EXPECT_GT(acknowledged, 100);
}

}  // namespace
}  // namespace logs
