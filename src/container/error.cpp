#include "container/error.h"

namespace container {

std::unexpected<Error> fail(Cause cause, std::string code, std::string message) {
  return std::unexpected(Error(cause, std::move(code), std::move(message)));
}

}  // namespace container
