#include "agent/namespace_socket.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "agent/child_process.h"

namespace agent {
namespace {

TEST(NamespaceSocket, what_is_dropped_in_the_own_network_is_taken_back) {
  if (!may_enter_namespaces()) GTEST_SKIP() << "only root may change a network";
  // A thread's network goes with the thread.
  std::jthread([] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    const std::string address = "169.254.170.2";
    EXPECT_EQ(drop_no_more(address).value(), false);
    EXPECT_EQ(drop_in_own_network(address).value(), true);
    EXPECT_EQ(drop_in_own_network(address).value(), false);
    EXPECT_EQ(drop_no_more(address).value(), true);
    EXPECT_EQ(drop_no_more(address).value(), false);
  }).join();
}

TEST(NamespaceSocket, what_containers_send_to_an_address_is_dropped_until_it_is_taken_back) {
  if (!may_enter_namespaces()) GTEST_SKIP() << "only root may change a network";
  std::jthread([] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    const auto rules = [] {
      return run_child({.path = "/bin/sh", .arguments = {"-c", "ip rule | grep 169.254.169.254"}})
          .value()
          .output;
    };
    const std::string address = "169.254.169.254";
    EXPECT_EQ(forward_again(address).value(), false);
    EXPECT_EQ(drop_forwarded(address).value(), true);
    EXPECT_EQ(drop_forwarded(address).value(), false);
    EXPECT_EQ(rules(),
              "16925:\tfrom all to 169.254.169.254 iif lo lookup main\n"
              "16926:\tfrom all to 169.254.169.254 blackhole\n");
    EXPECT_EQ(forward_again(address).value(), true);
    EXPECT_EQ(forward_again(address).value(), false);
    EXPECT_EQ(rules(), "");
  }).join();
}

}  // namespace
}  // namespace agent
