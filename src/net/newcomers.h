// Connections whose peers have not shown yet that they may be here; for the files of net/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace net {

class HttpConnection;

// Who opens connections, or sends heads, without end pushes out his own: where there are too many,
// the oldest goes, of the address that has too many first. A peer that means it has sent its whole
// request long before. Of one thread of the loop; no connection is touched here.
class Newcomers {
 public:
  struct Limits {
    size_t most = 0;
    size_t most_of_address = 0;
    size_t most_bytes = 0;  // That all of them have sent and that nobody has looked at.
  };
  explicit Newcomers(Limits limits) : limits_(limits) {}

  // The youngest from now on. `address` is as peer_network() tells. Not one that is there.
  void add(HttpConnection* one, std::string address);
  bool contains(HttpConnection* one) const { return all_.contains(one); }
  // One that is not there too: it does nothing then.
  void remove(HttpConnection* one);
  // What it has sent by now; one that is not there is ignored.
  void keep(HttpConnection* one, size_t bytes);
  // Who has to go; nullptr: the limits hold. Call it again once that one was removed.
  HttpConnection* next_to_go() const;

 private:
  using ByAge = std::set<std::pair<uint64_t, HttpConnection*>>;
  struct Newcomer {
    uint64_t age = 0;  // A lower one is older.
    std::string address;
    size_t bytes = 0;
  };

  const Limits limits_;
  uint64_t last_age_ = 0;
  std::map<HttpConnection*, Newcomer> all_;
  ByAge by_age_;
  ByAge with_bytes_;
  std::map<std::string, ByAge> of_address_;
  // The address that was last found to have too many.
  std::string crowded_;
  size_t bytes_ = 0;
};

}  // namespace net
