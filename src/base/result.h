// Errors as values. A failure that a caller can cause or must expect is a Result; a broken
// invariant is CHECK, which aborts in every build.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <expected>
#include <string>
#include <utility>

namespace base {

struct Error {
  std::string code;     // AWS error code as it goes on the wire, e.g. "ClusterNotFoundException".
  std::string message;  // One sentence for a human: the cause and, where there is one, the fix.
  friend bool operator==(const Error&, const Error&) = default;
};

// std::expected of libstdc++ 12 is not [[nodiscard]]; deriving makes it so.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(std::string code, std::string message) {
  return std::unexpected<Error>(Error{std::move(code), std::move(message)});
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace base

// Evaluates to the value, or returns the error from the enclosing function (a GNU statement
// expression). Not for coroutines: there the `if` is written by hand.
#define TRY(...)                                              \
  ({                                                          \
    auto try_result_ = (__VA_ARGS__);                         \
    if (!try_result_) [[unlikely]]                            \
      return std::unexpected(std::move(try_result_).error()); \
    std::move(try_result_).value();                           \
  })

// As TRY, for a Result<void>.
#define TRY_VOID(...)                                         \
  do {                                                        \
    auto try_result_ = (__VA_ARGS__);                         \
    if (!try_result_) [[unlikely]]                            \
      return std::unexpected(std::move(try_result_).error()); \
  } while (false)

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) [[unlikely]] {                                              \
      std::fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                               \
    }                                                                             \
  } while (false)
