#include "server/used_signatures.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"

namespace server {
namespace {

using std::chrono::seconds;

const base::Time start{seconds(1'750'000'000)};
constexpr seconds tolerance{300};

std::string signature(uint32_t bucket, uint32_t tag) {
  return base::format("{:04x}{:08x}", bucket, tag) + std::string(52, 'a');
}

struct Used : ::testing::Test {
  base::Result<void> take(const std::string& text, base::Time signed_at, base::Time now) {
    return signatures->take(text, signed_at, signed_at + tolerance, now,
                            started + (now - start - clock_set));
  }
  static constexpr base::Milliseconds started{5'000'000};
  seconds clock_set{0};  // By how much since the start.
  std::unique_ptr<UsedSignatures> signatures = std::make_unique<UsedSignatures>(started);
};

TEST_F(Used, a_signature_is_good_once_for_as_long_as_it_is_good) {
  EXPECT_TRUE(take(signature(1, 1), start, start));
  for (const seconds later : {seconds{0}, seconds{1}, seconds{280}, seconds{300}}) {
    const auto again = take(signature(1, 1), start, start + later);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, "InvalidSignatureException");
  }
  EXPECT_TRUE(take(signature(1, 2), start, start));
  EXPECT_TRUE(take(signature(2, 1), start, start));
}

TEST_F(Used, one_from_before_the_start_is_refused_for_nobody_knows_whether_it_was_used) {
  const auto old = take(signature(1, 1), start - seconds{1}, start + seconds{2});
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, "InvalidSignatureException");
  EXPECT_NE(old.error().message.find("clock"), std::string::npos);
}

TEST_F(Used, a_clock_that_is_set_back_keeps_nobody_away) {
  clock_set = -seconds{3'600};
  const base::Time now = start - seconds{3'590};
  EXPECT_TRUE(take(signature(1, 1), now, now));
  EXPECT_FALSE(take(signature(1, 2), now - seconds{20}, now)) << "signed before the start";
}

TEST_F(Used, memory_is_bounded_and_is_free_again_once_signatures_are_no_longer_good) {
  for (uint32_t tag = 0; tag < 8; ++tag) EXPECT_TRUE(take(signature(7, tag + 1), start, start));
  const auto full = take(signature(7, 99), start, start);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, "ThrottlingException");
  const base::Time later = start + seconds{301};
  EXPECT_TRUE(take(signature(7, 99), later, later));
}

TEST_F(Used, of_many_that_bring_the_same_at_once_at_most_one_is_let_in) {
  for (uint32_t round = 0; round < 200; ++round) {
    std::atomic<int> in = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        if (take(signature(round, round + 1), start, start)) ++in;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(in, 1);
  }
}

}  // namespace
}  // namespace server
