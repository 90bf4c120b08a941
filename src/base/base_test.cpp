#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/arn.h"
#include "base/id.h"
#include "base/queue.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"

namespace base {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail("Odd", "the number is odd");
  return number / 2;
}

Result<int> quarter(int number) {
  return half(TRY(half(number)));
}

TEST(Result, try_returns_the_value_or_the_first_error) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error(), (Error{"Odd", "the number is odd"}));
}

TEST(Random, the_same_seed_gives_the_same_numbers) {
  Random a(7);
  Random b(7);
  EXPECT_EQ(a.hex(32), b.hex(32));
  EXPECT_NE(a.hex(32), a.hex(32));
  EXPECT_EQ(Random(1).hex(32).size(), 32U);
}

TEST(Random, a_uuid_is_of_version_four) {
  const std::string uuid = Random(3).uuid();
  ASSERT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid[14], '4');
  for (const size_t dash : {8U, 13U, 18U, 23U}) EXPECT_EQ(uuid[dash], '-');
}

TEST(Time, rfc3339_is_read_with_and_without_fraction_zone_and_time) {
  const auto noon = parse_rfc3339("2018-06-18T12:00:00Z");
  ASSERT_TRUE(noon);
  EXPECT_EQ(parse_rfc3339("2018-06-18T14:00:00+02:00"), noon);
  EXPECT_EQ(parse_rfc3339("2018-06-18T12:00:00"), noon);
  EXPECT_EQ(*parse_rfc3339("2018-06-18T12:00:00.25Z") - *noon, Milliseconds{250});
  EXPECT_EQ(*noon - *parse_rfc3339("2018-06-18"), std::chrono::hours{12});
  for (const char* bad : {"", "2018", "2018-13-01", "2018-06-18T25:00:00Z", "2018-06-18T12:00:00.Z",
                          "2018-06-18T12:00:00Zx", "2018-02-30"}) {
    EXPECT_FALSE(parse_rfc3339(bad)) << bad;
  }
}

TEST(Time, both_formats_read_back) {
  const Time time{Milliseconds{1'753'000'123'000}};
  EXPECT_EQ(parse_rfc3339(format_rfc3339(time)), time);
  EXPECT_EQ(parse_basic(format_basic(time)), time);
}

TEST(Arn, reads_back_and_names_its_parts) {
  const auto arn = parse_arn("arn:aws:ecs:us-east-1:123456789012:task/default/abc");
  ASSERT_TRUE(arn);
  EXPECT_EQ(arn->resource_type(), "task");
  EXPECT_EQ(arn->resource_id(), "default/abc");
  EXPECT_EQ(parse_arn(arn->str()), arn);
  EXPECT_FALSE(parse_arn("default"));
  EXPECT_FALSE(parse_arn("arn:aws:ecs:us-east-1:1:"));
}

using ManyId = Id<struct ManyTag, StemOrder>;

TEST(StemOrder, ids_of_one_stem_stand_as_their_texts_do) {
  Random random(1);
  std::vector<std::string> texts{"a/", "a/1", "a/10", "a/2", "a/abcd", "a/abcde", "a/b", "a/\xff"};
  for (int i = 0; i < 200; ++i) texts.push_back("a/" + random.hex(16));
  for (const std::string& left : texts) {
    for (const std::string& right : texts) {
      EXPECT_EQ(ManyId(left) <=> ManyId(right), left <=> right) << left << " and " << right;
      EXPECT_EQ(ManyId(left) == ManyId(right), left == right);
    }
  }
}

TEST(StemOrder, ids_of_one_stem_stand_together) {
  Random random(2);
  std::set<ManyId> ids;
  for (int i = 0; i < 300; ++i) ids.emplace("c/" + std::to_string(i % 3) + "/" + random.hex(16));
  EXPECT_EQ(ids.size(), 300U);
  std::vector<uint32_t> stems;
  for (const ManyId& id : ids) {
    if (stems.empty() || stems.back() != id.order().stem()) stems.push_back(id.order().stem());
  }
  EXPECT_EQ(stems.size(), 3U);
}

TEST(StemOrder, a_text_without_a_stem_is_an_id_all_the_same) {
  EXPECT_LT(ManyId("t1"), ManyId("t2"));
  EXPECT_LT(ManyId(""), ManyId("t1"));
  EXPECT_EQ(ManyId(), ManyId(""));
}

TEST(Text, a_number_is_the_whole_text) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1.5"), 1.5);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "300"}) {
    EXPECT_EQ(parse_number<uint8_t>(text), std::nullopt) << text;
  }
}

TEST(Text, percent_encoding_keeps_what_is_unreserved_or_named) {
  EXPECT_EQ(percent_encoded("aZ9-._~"), "aZ9-._~");
  EXPECT_EQ(percent_encoded("a/b:c d&e=%\xff"), "a%2Fb%3Ac%20d%26e%3D%25%FF");
  EXPECT_EQ(percent_encoded("host:5000/a b@sha256:1", "/:@"), "host:5000/a%20b@sha256:1");
}

TEST(Queue, is_bounded_and_first_in_first_out) {
  Queue<int> queue(2);
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_TRUE(queue.try_push(2));
  EXPECT_FALSE(queue.try_push(3));
  EXPECT_EQ(queue.pop_batch(10, std::chrono::milliseconds{0}), (std::vector<int>{1, 2}));
}

TEST(Queue, close_wakes_a_waiting_consumer_and_drains) {
  Queue<int> queue(2);
  std::thread consumer([&] {
    EXPECT_EQ(queue.pop(), 1);
    EXPECT_EQ(queue.pop(), std::nullopt);
  });
  EXPECT_TRUE(queue.push(1));
  queue.close();
  consumer.join();
  EXPECT_FALSE(queue.push(2));
}

}  // namespace
}  // namespace base
