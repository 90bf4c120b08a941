#include "net/input_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace net {

std::span<char> InputBuffer::prepare(size_t size) {
  if (capacity_ - end_ < size) {
    const size_t used = end_ - begin_;
    if (capacity_ < used + size) {
      const size_t capacity = std::max(used + size, capacity_ * 2);
      auto data = std::make_unique_for_overwrite<char[]>(capacity);
      if (used > 0) std::memcpy(data.get(), data_.get() + begin_, used);
      data_ = std::move(data);
      capacity_ = capacity;
    } else {
      std::memmove(data_.get(), data_.get() + begin_, used);
    }
    begin_ = 0;
    end_ = used;
  }
  return {data_.get() + end_, capacity_ - end_};
}

void InputBuffer::consume(size_t size) {
  begin_ += size;
  if (begin_ == end_) begin_ = end_ = 0;
}

void InputBuffer::release_if_empty() {
  if (begin_ != end_) return;
  data_.reset();
  capacity_ = begin_ = end_ = 0;
}

}  // namespace net
