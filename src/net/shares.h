// How much each of many has of one thing; for the files of net/ only.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace net {

// Lock-free; any thread. Memory is fixed: two names that meet in one place share it, and nobody
// outside can tell which do.
class Shares {
 public:
  Shares();

  size_t place_of(std::string_view name) const;
  // Counts `amount` in. False when the place then has more than `most`; it is counted all the same.
  bool add(size_t place, size_t amount, size_t most) {
    return of_place_[place].fetch_add(amount) + amount <= most;
  }
  void remove(size_t place, size_t amount) { of_place_[place].fetch_sub(amount); }

 private:
  static constexpr size_t places = 4096;

  uint64_t salt_ = 0;
  std::array<std::atomic<size_t>, places> of_place_{};
};

}  // namespace net
