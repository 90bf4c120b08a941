#include "net/loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "net/address.h"
#include "net/testing.h"

namespace net {
namespace {

using std::chrono::milliseconds;
using testing::Mailbox;

TEST(Loop, one_thread_runs_work_first_in_first_out) {
  Loop loop(1);
  Mailbox<int> seen;
  for (int i = 0; i < 100; ++i) loop.post([&seen, i] { seen.put(i); });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen.take(), i);
}

TEST(Loop, timers_run_in_the_order_of_their_time) {
  Loop loop(1);
  Mailbox<int> seen;
  loop.after(milliseconds{200}, [&] { seen.put(2); });
  loop.after(milliseconds{1}, [&] { seen.put(1); });
  EXPECT_EQ(seen.take(), 1);
  EXPECT_EQ(seen.take(), 2);
}

TEST(Loop, a_cancelled_timer_does_not_run) {
  Loop loop(2);
  Mailbox<int> seen;
  const TimerId cancelled = loop.after(milliseconds{1'000}, [&] { seen.put(1); });
  loop.cancel(cancelled);
  loop.cancel(cancelled);
  loop.cancel(TimerId{12345});
  loop.after(milliseconds{1'200}, [&] { seen.put(2); });
  EXPECT_EQ(seen.take(), 2);
  EXPECT_TRUE(seen.is_empty());
}

TEST(Loop, stop_runs_what_was_posted_drops_timers_and_refuses_more) {
  std::atomic<int> ran{0};
  auto kept = std::make_shared<int>(0);
  Loop loop(2);
  for (int i = 0; i < 1000; ++i) loop.post([&ran] { ++ran; });
  loop.after(std::chrono::hours{1}, [kept] { ADD_FAILURE(); });
  loop.stop();
  EXPECT_EQ(ran, 1000);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(loop.post([kept] { ADD_FAILURE(); }));
  loop.after(milliseconds{0}, [kept] { ADD_FAILURE(); });
  loop.stop();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Loop, stop_while_other_threads_post_loses_nothing_it_took) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> taken{0};
    std::atomic<int> ran{0};
    Loop loop(2);
    std::thread poster([&] {
      while (loop.post([&ran] { ++ran; })) ++taken;
    });
    while (taken < 50) std::this_thread::yield();
    loop.stop();
    poster.join();
    EXPECT_EQ(taken, ran);
  }
}

TEST(Loop, work_that_posts_work_still_runs_at_stop) {
  Mailbox<bool> inner;
  Loop loop(1);
  loop.post([&] { inner.put(loop.post([&] { inner.put(true); })); });
  const bool taken = inner.take();
  loop.stop();
  EXPECT_EQ(inner.is_empty(), !taken);
}

TEST(Address, a_port_is_free_until_somebody_listens) {
  const uint16_t port = testing::must(find_free_port("127.0.0.1"));
  EXPECT_TRUE(check_port_free("127.0.0.1", port));
  const Fd taken = testing::must(listen_tcp("127.0.0.1", port));
  const auto checked = check_port_free("127.0.0.1", port);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, "AddressInUse");
  EXPECT_NE(checked.error().message.find(std::to_string(port)), std::string::npos);
  EXPECT_EQ(find_free_port("not an address").error().code, "InvalidAddress");
  EXPECT_EQ(address_towards("127.0.0.1", 1).value(), "127.0.0.1");
  EXPECT_FALSE(address_towards("no such host.invalid", 1).has_value());
}

}  // namespace
}  // namespace net
