// Without machines to launch: refuses, and says what is missing.
#pragma once

#include <memory>

#include "machines/provider.h"

namespace machines {

std::unique_ptr<MachineProvider> no_machines();

}  // namespace machines
