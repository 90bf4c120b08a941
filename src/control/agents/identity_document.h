// The document with which a machine says what it is. Its cloud signature is not checked: the
// caller's SigV4 key is the trust. Source: EC2 User Guide, "Instance identity documents".
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace control {

struct IdentityDocument {
  std::string instance_id;
  std::string instance_type;
  std::string availability_zone;
  std::string image_id;
};

// Empty text (an external instance) gives an empty document. Errors: InvalidParameterException.
base::Result<IdentityDocument> parse_identity_document(const std::optional<std::string>& text);

}  // namespace control
