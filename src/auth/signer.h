// The sending side of AWS Signature Version 4, for our own agent and command line.
// Source: AWS IAM User Guide, "Create a signed AWS API request".
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "auth/request.h"
#include "base/time.h"

namespace auth {

struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token = {};  // Empty for a long-lived key.
};

struct SigningScope {
  std::string region;   // "us-east-1".
  std::string service;  // "ecs".
};

// The headers to add to `request`: X-Amz-Date, X-Amz-Security-Token with a session token, and
// Authorization. Every header of the request is signed but those that proxies change
// (accept-encoding, connection, expect, transfer-encoding, upgrade, user-agent, sec-websocket-*,
// ...). The request must carry Host as it will be sent, and none of the headers that are added.
// Pure.
std::vector<std::pair<std::string, std::string>> sign(const Request& request,
                                                      const Credentials& credentials,
                                                      const SigningScope& scope, base::Time now);

// The query (without "?") that makes a URL of `request` good for `expires` from `now` on: what it
// had, and the X-Amz-* parameters. Only Host is signed of its headers. `expires` is at most 7 days.
// Pure.
std::string presign(const Request& request, const Credentials& credentials,
                    const SigningScope& scope, base::Time now, std::chrono::seconds expires);

}  // namespace auth
