#include "control/agents/identity_document.h"

#include "control/request/errors.h"
#include "json/value.h"

namespace control {

base::Result<IdentityDocument> parse_identity_document(const std::optional<std::string>& text) {
  if (!text || text->empty()) return IdentityDocument{};
  const auto document = json::parse(*text);
  if (!document || !document->is_object()) {
    return invalid_parameter("instanceIdentityDocument is not a JSON object.");
  }
  return IdentityDocument{.instance_id = (*document)["instanceId"].text_or(""),
                          .instance_type = (*document)["instanceType"].text_or(""),
                          .availability_zone = (*document)["availabilityZone"].text_or(""),
                          .image_id = (*document)["imageId"].text_or("")};
}

}  // namespace control
