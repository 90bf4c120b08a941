#include "net/newcomers.h"

namespace net {

void Newcomers::add(HttpConnection* one, std::string address) {
  const uint64_t age = ++last_age_;
  by_age_.insert({age, one});
  ByAge& peers = of_address_[address];
  peers.insert({age, one});
  if (peers.size() > limits_.most_of_address) crowded_ = address;
  all_.emplace(one, Newcomer{age, std::move(address), 0});
}

void Newcomers::remove(HttpConnection* one) {
  const auto found = all_.find(one);
  if (found == all_.end()) return;
  const Newcomer& gone = found->second;
  by_age_.erase({gone.age, one});
  with_bytes_.erase({gone.age, one});
  bytes_ -= gone.bytes;
  const auto peers = of_address_.find(gone.address);
  peers->second.erase({gone.age, one});
  if (peers->second.empty()) of_address_.erase(peers);
  all_.erase(found);
}

void Newcomers::keep(HttpConnection* one, size_t bytes) {
  const auto found = all_.find(one);
  if (found == all_.end()) return;
  Newcomer& newcomer = found->second;
  bytes_ = bytes_ - newcomer.bytes + bytes;
  newcomer.bytes = bytes;
  if (bytes > 0) {
    with_bytes_.insert({newcomer.age, one});
  } else {
    with_bytes_.erase({newcomer.age, one});
  }
}

HttpConnection* Newcomers::next_to_go() const {
  const auto crowd = of_address_.find(crowded_);
  if (crowd != of_address_.end() && crowd->second.size() > limits_.most_of_address) {
    return crowd->second.begin()->second;
  }
  if (by_age_.size() > limits_.most) return by_age_.begin()->second;
  if (bytes_ > limits_.most_bytes) return with_bytes_.begin()->second;
  return nullptr;
}

}  // namespace net
