#include "logs/sequence_token.h"

#include "base/format.h"

namespace logs {

std::string sequence_token(int64_t number) {
  return base::format("{:056}", number);
}

}  // namespace logs
