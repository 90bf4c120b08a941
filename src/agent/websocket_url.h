// URLs of the control plane's websockets.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/http.h"

namespace agent {

// <endpoint>/ws?<name>=<value>&..., the values percent-encoded. The scheme may be http as well as
// ws. Errors: "InvalidUrl".
base::Result<net::Url> websocket_url(
    const std::string& endpoint,
    const std::vector<std::pair<std::string_view, std::string>>& query);

}  // namespace agent
