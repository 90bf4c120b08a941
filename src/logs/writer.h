// Who makes a call, as far as log streams care.
#pragma once

#include <cstdint>
#include <string>

namespace logs {

struct Writer {
  enum class Kind : uint8_t {
    Account,   // With a key that may do everything; an agent may have such a one too.
    TaskRole,  // With a key of a task's role.
    Agent,     // Of a container instance, or the log driver of its Docker.
    Server,    // Berth itself: sessions of ExecuteCommand.
  };
  Kind kind = Kind::Account;
  std::string instance = {};  // Of an Agent: the ARN of its container instance.
};

}  // namespace logs
