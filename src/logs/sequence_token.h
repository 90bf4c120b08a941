// The upload sequence tokens that older clients expect.
#pragma once

#include <cstdint>
#include <string>

namespace logs {

// 56 digits. CloudWatch Logs ignores the token that a client sends back, and so does this store;
// clients only want one.
std::string sequence_token(int64_t number);

}  // namespace logs
