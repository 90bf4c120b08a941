// Amazon Resource Names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

// arn:partition:service:region:account-id:resource.
// Source: AWS General Reference, "Amazon Resource Names (ARNs)".
struct Arn {
  std::string partition = "aws";
  std::string service;
  std::string region;
  std::string account;
  std::string resource;  // "task/default/0123...", "task-definition/train:3".

  std::string str() const;
  // The part of `resource` before its first "/".
  std::string_view resource_type() const;
  // The part of `resource` behind its first "/"; empty without one.
  std::string_view resource_id() const;
  friend bool operator==(const Arn&, const Arn&) = default;
};

// nullopt when `text` is not an ARN.
std::optional<Arn> parse_arn(std::string_view text);

}  // namespace base
