// Custom attributes of container instances.
#pragma once

#include "api/generated/ecs.h"
#include "base/result.h"

namespace control::ecs {

// Name: 1 to 128 of letters, digits and - _ / \ . ; value: the same and @ : and blank, no blank at
// either end. Source: ECS API reference, "Attribute". Errors: InvalidParameterException.
base::Result<void> check_attribute(const api::ecs::Attribute& attribute);

// That a client may put or delete it: "berth." and "ecs." say what agents can do, and theirs alone.
// Errors: InvalidParameterException.
base::Result<void> check_custom_attribute(const api::ecs::Attribute& attribute);

}  // namespace control::ecs
