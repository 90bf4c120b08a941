// Which changes may make room for tasks.
#pragma once

#include "model/change.h"

namespace control {

// Whether tasks may fit now that did not before. Tasks that ended are not looked at: instances
// whose tasks changed are found by touched_instances().
bool gives_capacity(const model::Change& change);

}  // namespace control
