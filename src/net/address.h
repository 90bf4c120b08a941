// Questions about the addresses and TCP ports of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace net {

// A TCP port of `address` that nobody listens on at this moment. Somebody may take it before the
// caller does; to listen oneself, listening on port 0 is the sure way. Errors: "InvalidAddress".
base::Result<uint16_t> find_free_port(const std::string& address);

// An error naming port and cause when one cannot listen there. Errors: "AddressInUse",
// "InvalidAddress", "AccessDenied".
base::Result<void> check_port_free(const std::string& address, uint16_t port);

// The address, in numbers, that this machine has towards that host: the one that connections to it
// come from. Nothing is sent. May take seconds where the name has to be resolved.
// Errors: "ConnectionRefused" naming the host.
base::Result<std::string> address_towards(const std::string& host, uint16_t port);

}  // namespace net
