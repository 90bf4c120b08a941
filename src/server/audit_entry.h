// What the audit log tells of a call: one line of JSON, with CloudTrail's names for what it has.
// Pure. A line holds no secret: of the input only the members that are named here, which name
// things, count them or say how; of the answer only counts, ARNs and the ids of keys.
// Source: AWS CloudTrail User Guide, "CloudTrail record contents".
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "api/any.h"
#include "api/service.h"
#include "auth/access.h"
#include "base/result.h"
#include "base/time.h"

namespace server {

struct AuditedCall {
  base::Time time;  // When the request was there.
  std::string request_id;
  // Who has proved who it is; else nobody, of whom `claimed_key` tells what it said.
  std::optional<auth::Caller> caller;
  std::string claimed_key;
  std::string remote_address;  // "10.0.0.7:41234".
  std::string service;         // "ecs".
  std::string operation;       // "RunTask".
  std::string parameters;      // As named_members() has made it; empty: none are known.
};
using AuditedResult = std::expected<api::Any, base::Error>;

// Whether a call has its line however it ends: it changes something, or reads a secret. Not what
// agents report by themselves of their tasks and write to logs, and not what only explains.
// `by_agent`: with the key of an agent.
bool is_audited(const api::Service& service, const api::Operation& operation, const api::Any& input,
                bool by_agent);
// An error that says that the caller may not do it, or is not who it says; such a call always has
// its line.
bool is_refusal(const base::Error& error);

// The access key id that a request names, where it looks like one: who has taken a secret for an id
// must not find it in a file. Else empty.
std::string claimed_key_id(std::string_view text);

// The members of a request that a line may show, as a JSON object.
std::string named_members(const api::Any& input);

// With "\n" at its end.
std::string audit_line(const AuditedCall& call, const AuditedResult& result);

// Calls without a line of their own, since there were too many (see audit_pace.h).
struct LeftOut {
  uint64_t unknown = 0;  // Refused, of callers who have not proved who they are.
  uint64_t refused = 0;  // Refused, of agents and tasks.
  uint64_t others = 0;   // Of agents and tasks.
  bool any() const { return unknown + refused + others > 0; }
};
std::string left_out_line(base::Time time, const LeftOut& left_out);
// Lines that the file did not take: its disk was full or failed.
std::string not_written_line(base::Time time, uint64_t lines);

// "192.0.2.1" of "192.0.2.1:4711", "::1" of "[::1]:4711".
std::string_view host_of(std::string_view remote_address);

}  // namespace server
