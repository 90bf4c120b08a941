// Why a call of a container runtime failed.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "base/result.h"

namespace container {

// For a caller that decides whether to try again.
enum class Cause : uint8_t {
  Unreachable,   // The daemon does not answer, or went away in the
                 // middle: the outcome is unknown.
  NotFound,      // No such image, container or volume.
  Conflict,      // The name or the port is taken, or the container is not in the needed state.
  NoSpace,       // The disk is full.
  Timeout,       // The daemon did not answer in time: the outcome is unknown.
  BadParameter,  // The daemon refuses the request as it is; sending it again is pointless.
  Denied,        // The registry wants other credentials, or the image does not exist there.
  Cancelled,     // The caller broke it off.
  Other
};

// `code` is the name that the ECS agent gives to the failure ("CannotStartContainerError"), so that
// `code + ": " + message` is the reason that ECS shows. `message` starts with the daemon's own
// words and ends with the fix where one is known.
struct Error : base::Error {
  Error() = default;
  Error(Cause why, std::string name, std::string sentence)
      : base::Error{std::move(name), std::move(sentence)}, cause(why) {}
  Cause cause = Cause::Other;
  friend bool operator==(const Error&, const Error&) = default;
};

// Converts to base::Result (the cause is lost) when returned through TRY.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

std::unexpected<Error> fail(Cause cause, std::string code, std::string message);

}  // namespace container
