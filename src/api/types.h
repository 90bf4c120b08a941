// The types that fields of generated structs are made of.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/shape.h"
#include "base/time.h"

namespace api {

// A vector that also knows whether it is on the wire at all: absent and empty are different
// statements there, while code that only iterates sees no elements either way.
// A default List is absent. It is present once it has an element, is made from or assigned a
// vector or a list of elements (an empty one too: `tags = {}`), or set_present() is called.
template <class T>
class List : public std::vector<T> {
 public:
  using Base = std::vector<T>;
  List() = default;
  List(Base items) : Base(std::move(items)), marked_(true) {}
  List(std::initializer_list<T> items) : Base(items), marked_(true) {}
  template <class Iterator>
    requires requires(Iterator it) { *it, ++it; }
  List(Iterator first, Iterator last) : Base(first, last), marked_(true) {}
  List& operator=(std::initializer_list<T> items) {
    Base::operator=(items);
    marked_ = true;
    return *this;
  }
  List& operator=(Base items) {
    Base::operator=(std::move(items));
    marked_ = true;
    return *this;
  }

  bool present() const { return marked_ || !this->empty(); }
  void set_present() { marked_ = true; }
  void set_absent() {
    this->clear();
    marked_ = false;
  }

  friend bool operator==(const List& left, const List& right) {
    return left.present() == right.present() &&
           static_cast<const Base&>(left) == static_cast<const Base&>(right);
  }
  friend bool operator==(const List& left, const Base& right) {
    return static_cast<const Base&>(left) == right;
  }

 private:
  bool marked_ = false;
};

// Likewise a map from text to values, in the order of the text.
template <class T>
class Map : public std::map<std::string, T> {
 public:
  using Base = std::map<std::string, T>;
  Map() = default;
  Map(Base items) : Base(std::move(items)), marked_(true) {}
  Map(std::initializer_list<typename Base::value_type> items) : Base(items), marked_(true) {}
  Map& operator=(std::initializer_list<typename Base::value_type> items) {
    Base::operator=(items);
    marked_ = true;
    return *this;
  }
  Map& operator=(Base items) {
    Base::operator=(std::move(items));
    marked_ = true;
    return *this;
  }

  bool present() const { return marked_ || !this->empty(); }
  void set_present() { marked_ = true; }
  void set_absent() {
    this->clear();
    marked_ = false;
  }

  friend bool operator==(const Map& left, const Map& right) {
    return left.present() == right.present() &&
           static_cast<const Base&>(left) == static_cast<const Base&>(right);
  }
  friend bool operator==(const Map& left, const Base& right) {
    return static_cast<const Base&>(left) == right;
  }

 private:
  bool marked_ = false;
};

// An optional T that T itself may have as a field. Copies its value, as std::optional does.
template <class T>
class Box {
 public:
  Box() = default;
  Box(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Box(const Box& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(Box other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~Box() = default;

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *value_; }
  T& operator*() { return *value_; }
  const T* operator->() const { return value_.get(); }
  T* operator->() { return value_.get(); }
  T& emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() { value_ = nullptr; }

  friend bool operator==(const Box& left, const Box& right) {
    return left.has_value() == right.has_value() && (!left || *left == *right);
  }

 private:
  std::unique_ptr<T> value_;
};

// Bytes; base64 on the wire.
struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

// Any JSON value, as its compact text.
struct Document {
  std::string json;
  friend bool operator==(const Document&, const Document&) = default;
};

}  // namespace api
