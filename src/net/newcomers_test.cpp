#include "net/newcomers.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace net {
namespace {

// Only their addresses count.
struct Connections : ::testing::Test {
  HttpConnection* one(size_t n) { return reinterpret_cast<HttpConnection*>(&places.at(n)); }
  std::vector<size_t> gone(Newcomers& newcomers) {
    std::vector<size_t> all;
    while (HttpConnection* const next = newcomers.next_to_go()) {
      all.push_back(static_cast<size_t>(reinterpret_cast<const uint64_t*>(next) - places.data()));
      newcomers.remove(next);
    }
    return all;
  }
  std::array<uint64_t, 16> places{};
};

TEST_F(Connections, the_oldest_goes_when_there_are_too_many) {
  Newcomers newcomers({.most = 2, .most_of_address = 9, .most_bytes = 100});
  newcomers.add(one(0), "a");
  newcomers.add(one(1), "b");
  EXPECT_EQ(newcomers.next_to_go(), nullptr);
  newcomers.add(one(2), "c");
  EXPECT_EQ(gone(newcomers), std::vector<size_t>{0});
}

TEST_F(Connections, an_address_with_too_many_pushes_out_its_own) {
  Newcomers newcomers({.most = 9, .most_of_address = 2, .most_bytes = 100});
  newcomers.add(one(0), "quiet");
  for (size_t i = 1; i < 6; ++i) newcomers.add(one(i), "loud");
  EXPECT_EQ(gone(newcomers), (std::vector<size_t>{1, 2, 3}));
  EXPECT_TRUE(newcomers.contains(one(0)));
}

TEST_F(Connections, unfinished_heads_are_bounded_by_their_bytes) {
  Newcomers newcomers({.most = 9, .most_of_address = 9, .most_bytes = 100});
  newcomers.add(one(0), "a");
  newcomers.add(one(1), "b");
  newcomers.add(one(2), "c");
  newcomers.keep(one(1), 60);
  newcomers.keep(one(2), 30);
  newcomers.keep(one(2), 40);
  EXPECT_EQ(newcomers.next_to_go(), nullptr);
  newcomers.keep(one(2), 41);
  EXPECT_EQ(gone(newcomers), std::vector<size_t>{1});  // Not the one that has sent nothing.
}

TEST_F(Connections, one_that_has_shown_its_key_is_none_any_more) {
  Newcomers newcomers({.most = 1, .most_of_address = 1, .most_bytes = 100});
  newcomers.add(one(0), "a");
  newcomers.keep(one(0), 1'000);
  newcomers.remove(one(0));
  newcomers.remove(one(0));
  newcomers.add(one(1), "a");
  newcomers.keep(one(7), 1'000);
  EXPECT_EQ(newcomers.next_to_go(), nullptr);
  EXPECT_FALSE(newcomers.contains(one(0)));
}

}  // namespace
}  // namespace net
