// A signed call of the public API, as any client makes it.
#pragma once

#include <cstddef>
#include <string_view>

#include "api/json.h"
#include "api/service.h"
#include "base/result.h"
#include "cli/installation.h"
#include "net/tls.h"

namespace cli {

// Whose certificates are trusted. Errors: "IoError".
base::Result<net::TlsClientOptions> trust_of(const Credentials& credentials);

// Errors: the API's own code and message; the connection's ("ConnectionRefused", "Timeout").
base::Result<std::string> call_api(const Credentials& credentials, const api::Service& service,
                                   std::string_view operation, const std::string& body);

inline constexpr size_t most_described = 100;  // Things that one Describe call takes.

template <class Response, class Request>
base::Result<Response> call(const Credentials& credentials, const api::Service& service,
                            std::string_view operation, const Request& request) {
  const std::string body = TRY(call_api(credentials, service, operation, api::print(request)));
  return api::parse<Response>(body, {.validate = false});
}

}  // namespace cli
