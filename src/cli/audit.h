// The audit log as people look through it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace cli {

inline constexpr const char* audit_file = "audit.log";  // In the data directory.

struct AuditFilter {
  std::optional<base::Time> since = std::nullopt;
  // What the key's id, the principal's or its instance's or task's ARN, or the address holds.
  std::string principal = {};
  std::string action = {};  // "RunTask", whatever its case.
  bool refused = false;     // Only what was refused for lack of rights.
};

bool passes(const json::Value& entry, const AuditFilter& filter);
// The columns TIME, WHO, FROM, ACTION, WHAT and OUTCOME.
std::vector<std::string> audit_row(const json::Value& entry);

// Hands every line of the audit log of `dir` to `take`, the oldest first. Errors: "NotFound" when
// there is none, "IoError".
base::Result<void> read_audit_log(const std::filesystem::path& dir,
                                  const std::function<void(const std::string& line)>& take);

// What `berth doctor` says of it.
struct AuditState {
  bool there = false;
  bool private_mode = true;
  uint64_t not_written = 0;  // Lines that were lost, by what its newest file tells.
  std::string last_loss;     // When that was told.
};
AuditState audit_state(const std::filesystem::path& dir);

}  // namespace cli
