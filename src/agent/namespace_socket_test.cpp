#include "agent/namespace_socket.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

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

}  // namespace
}  // namespace agent
