// Where the other machines of a cluster reach this one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace agent {

// net::address_towards, or a stand-in for it.
using AddressTowards = std::function<base::Result<std::string>(const std::string&, uint16_t)>;

// The address that this machine has towards the first of the URLs for which it is no loopback one;
// else the one that it has towards the rest of the world; a loopback address only where it has no
// other, and then only tasks on this machine reach each other. Empty: it has none.
std::string host_address(const std::vector<std::string>& urls, const AddressTowards& towards);

}  // namespace agent
