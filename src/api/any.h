// A value of any described struct.
#pragma once

#include <memory>
#include <utility>

#include "api/shape.h"
#include "base/result.h"

namespace api {

// Owns one value of a described struct (typed requests and replies travel through queues as Any).
// Movable, not copyable; empty by default and when moved from.
class Any {
 public:
  Any() = default;
  // A default value of a shape that is known only at run time; fill it with
  // parse_into(text, any.shape(), any.data()).
  static Any create(const Shape& shape) { return Any(&shape, shape.create()); }
  template <class T>
  static Any make(T value) {
    return Any(&shape_of<T>(), std::make_unique<T>(std::move(value)).release());
  }
  Any(Any&& other) noexcept
      : shape_(std::exchange(other.shape_, nullptr)),
        value_(std::exchange(other.value_, nullptr)) {}
  Any& operator=(Any&& other) noexcept {
    std::swap(shape_, other.shape_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Any() {
    if (value_ != nullptr) shape_->destroy(value_);
  }

  bool empty() const { return value_ == nullptr; }
  // Not for an empty Any.
  const Shape& shape() const {
    CHECK(shape_ != nullptr);
    return *shape_;
  }
  void* data() { return value_; }
  const void* data() const { return value_; }

  // nullptr when empty or of another type.
  template <class T>
  const T* get_if() const {
    return shape_ == &shape_of<T>() ? static_cast<const T*>(value_) : nullptr;
  }
  template <class T>
  T* get_if() {
    return shape_ == &shape_of<T>() ? static_cast<T*>(value_) : nullptr;
  }
  // Another type is a broken invariant.
  template <class T>
  const T& as() const {
    CHECK(get_if<T>() != nullptr);
    return *get_if<T>();
  }
  template <class T>
  T& as() {
    CHECK(get_if<T>() != nullptr);
    return *get_if<T>();
  }

 private:
  Any(const Shape* shape, void* value) : shape_(shape), value_(value) {}

  const Shape* shape_ = nullptr;
  void* value_ = nullptr;
};

}  // namespace api
