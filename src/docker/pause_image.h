// The image of a container that does nothing but hold namespaces for others. It is made on the
// machine, from this program's own bytes: there is nothing to pull.
#pragma once

#include <string>

#include "docker/runtime.h"

namespace docker {

// Its one program, /pause, ends at once with 0 on SIGTERM or SIGINT, and as process 1 leaves no
// zombies of others behind. Linux on the processor that this was built for.
ImageImport pause_image(const std::string& name);

}  // namespace docker
