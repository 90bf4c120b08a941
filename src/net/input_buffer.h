// The bytes between a socket and a parser; for the files of net/ only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace net {

// Bytes that were read and not yet consumed.
class InputBuffer {
 public:
  std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  // Space for at least `size` more bytes; then commit() what came.
  std::span<char> prepare(size_t size);
  void commit(size_t size) { end_ += size; }
  void consume(size_t size);
  // Gives the memory back where nothing is in it.
  void release_if_empty();

 private:
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace net
