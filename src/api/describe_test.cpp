#include "api/describe.h"

#include <gtest/gtest.h>

#include "api/any.h"
#include "api/generated/ecs.h"
#include "api/json.h"
#include "api/testing/random_value.h"
#include "base/random.h"

namespace api_describe_test {

struct TaskTag;
using TaskId = base::Id<TaskTag>;

enum class Health : int16_t { Unknown = -1, Healthy = 7, Unhealthy = 9 };
API_DESCRIBED(Health);
API_DESCRIBE_ENUM(Health, {Health::Unknown, "UNKNOWN"}, {Health::Healthy, "HEALTHY"},
                  {Health::Unhealthy, "UNHEALTHY"});

struct Probe {
  std::string command;
  uint32_t retries = 3;
  std::vector<Probe> inner = {};
  api::Box<Probe> next = {};
  friend bool operator==(const Probe&, const Probe&) = default;
};
API_DESCRIBED(Probe);
API_DESCRIBE(Probe, API_REQUIRED(command, "command"),
             API_RANGED(retries, "retries", (::api::Range{.min = 1, .max = 10})),
             API_MEMBER(inner, "inner"), API_MEMBER(next, "next"));

struct Message {
  TaskId task;
  std::string text;
  bool flag = false;
  int8_t tiny = 0;
  uint16_t small = 0;
  int32_t number = 0;
  int64_t sequence = 0;
  uint64_t hash = 0;
  double ratio = 0;
  base::Time at;
  base::Milliseconds timeout{30'000};
  Health health = Health::Unknown;
  Probe probe;
  api::Blob blob;
  api::Document document;
  std::vector<std::string> names;
  std::vector<Health> history;
  std::vector<Probe> probes;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::vector<Probe>> groups;
  api::List<int32_t> ports;
  api::Map<Probe> by_name;
  std::optional<bool> maybe_flag;
  std::optional<std::string> maybe_text;
  std::optional<TaskId> maybe_task;
  std::optional<base::Time> maybe_at;
  std::optional<Health> maybe_health;
  std::optional<Probe> maybe_probe;
  std::optional<std::vector<std::string>> maybe_names;
  std::optional<std::map<std::string, std::string>> maybe_labels;
  api::ecs::Tag tag;
  std::vector<api::ecs::Task> tasks;
  std::optional<api::ecs::LaunchType> launch_type;
  friend bool operator==(const Message&, const Message&) = default;
};
API_DESCRIBED(Message);
API_DESCRIBE(Message, API_MEMBER(task, "task"), API_MEMBER(text, "text"), API_MEMBER(flag, "flag"),
             API_MEMBER(tiny, "tiny"), API_MEMBER(small, "small"), API_MEMBER(number, "number"),
             API_MEMBER(sequence, "sequence"), API_MEMBER(hash, "hash"), API_MEMBER(ratio, "ratio"),
             API_MEMBER(at, "at"), API_MEMBER(timeout, "timeoutMs"), API_MEMBER(health, "health"),
             API_MEMBER(probe, "probe"), API_MEMBER(blob, "blob"), API_MEMBER(document, "document"),
             API_MEMBER(names, "names"), API_MEMBER(history, "history"),
             API_MEMBER(probes, "probes"), API_MEMBER(labels, "labels"),
             API_MEMBER(groups, "groups"), API_MEMBER(ports, "ports"),
             API_MEMBER(by_name, "byName"), API_MEMBER(maybe_flag, "maybeFlag"),
             API_MEMBER(maybe_text, "maybeText"), API_MEMBER(maybe_task, "maybeTask"),
             API_MEMBER(maybe_at, "maybeAt"), API_MEMBER(maybe_health, "maybeHealth"),
             API_MEMBER(maybe_probe, "maybeProbe"), API_MEMBER(maybe_names, "maybeNames"),
             API_MEMBER(maybe_labels, "maybeLabels"), API_MEMBER(tag, "tag"),
             API_MEMBER(tasks, "tasks"), API_MEMBER(launch_type, "launchType"));

namespace {

TEST(api_describe, a_default_struct_prints_its_numbers_but_no_empty_texts_lists_or_times) {
  EXPECT_EQ(api::print(Message{}),
            R"({"flag":false,"tiny":0,"small":0,"number":0,"sequence":0,"hash":0,"ratio":0,)"
            R"("timeoutMs":30000,"health":"UNKNOWN","probe":{"command":"","retries":3},"tag":{}})");
}

TEST(api_describe, every_kind_of_field_comes_back) {
  const api::Shape& shape = api::shape_of<Message>();
  for (uint64_t seed = 0; seed < 200; ++seed) {
    base::Random random(seed);
    Message message;
    api::testing::fill_random(shape, api::Range(), &message, random, 6);
    const std::string text = api::print(message);
    const auto read = api::parse<Message>(text);
    ASSERT_TRUE(read) << read.error().message << "\n" << text;
    EXPECT_EQ(*read, message) << text;
    EXPECT_TRUE(api::equal(shape, &*read, &message));
  }
}

TEST(api_describe, the_words_of_the_header_hold) {
  const auto message = api::parse<Message>(R"({
    "task": "t-1", "hash": 18446744073709551615, "tiny": -128, "timeoutMs": 5, "health": "HEALTHY",
    "probe": {"command": "true"}, "maybeNames": [], "maybeLabels": {"a": "b"}, "at": 1.5,
    "groups": {"g": [{"command": "x", "retries": 4, "inner": [{"command": "y"}]}]},
    "maybeHealth": "UNHEALTHY", "launchType": "EXTERNAL", "tag": {"key": "k"}})");
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->task.str(), "t-1");
  EXPECT_EQ(message->hash, UINT64_MAX);
  EXPECT_EQ(message->tiny, -128);
  EXPECT_EQ(message->timeout, base::Milliseconds(5));
  EXPECT_EQ(message->health, Health::Healthy);
  EXPECT_EQ(message->probe.retries, 3U);
  EXPECT_TRUE(message->maybe_names && message->maybe_names->empty());
  EXPECT_EQ(message->groups.at("g")[0].inner[0].command, "y");
  EXPECT_EQ(message->maybe_health, Health::Unhealthy);
  EXPECT_EQ(message->launch_type, api::ecs::LaunchType::External);
  EXPECT_EQ(*api::parse<Message>(api::print(*message)), *message);
}

TEST(api_describe, what_a_type_cannot_hold_is_refused) {
  for (const char* text :
       {R"({"tiny":128})", R"({"tiny":-129})", R"({"small":-1})", R"({"small":65536})",
        R"({"hash":-1})", R"({"hash":18446744073709551616})", R"({"number":2147483648})",
        R"({"sequence":9223372036854775808})", R"({"timeoutMs":"1s"})", R"({"probe":[]})"}) {
    const auto message = api::parse<Message>(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().code, "SerializationException") << text;
  }
  for (const char* text :
       {R"({"probe":{}})", R"({"probe":{"command":"x","retries":0}})", R"({"health":"FINE"})",
        R"({"probes":[{"command":"x","retries":11}]})", R"({"maybeProbe":{}})"}) {
    const auto message = api::parse<Message>(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().code, "InvalidParameterException") << text;
  }
}

TEST(api_describe, enumerators_have_names_both_ways) {
  EXPECT_EQ(api::to_string(Health::Unknown), "UNKNOWN");
  EXPECT_EQ(api::to_string(Health::Unhealthy), "UNHEALTHY");
  EXPECT_EQ(api::to_string(static_cast<Health>(3)), "");
  EXPECT_EQ(api::parse_enum<Health>("HEALTHY"), Health::Healthy);
  EXPECT_EQ(api::parse_enum<Health>("healthy"), std::nullopt);
  EXPECT_EQ(api::to_string(api::ecs::LaunchType::ManagedInstances), "MANAGED_INSTANCES");
}

TEST(api_describe, a_box_copies_its_value) {
  Probe probe{.command = "a"};
  probe.next = Probe{.command = "b"};
  Probe copy = probe;
  copy.next->command = "c";
  EXPECT_EQ(probe.next->command, "b");
  EXPECT_EQ(api::print(copy), R"({"command":"a","retries":3,"next":{"command":"c","retries":3}})");
  EXPECT_NE(copy, probe);
}

}  // namespace
}  // namespace api_describe_test
