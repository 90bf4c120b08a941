// Paths by which a container would reach GPUs that the control plane did not give it.
#pragma once

#include <string>
#include <string_view>

namespace model {

// The absolute path as the kernel reads it where no part is a link: without "//", "." and "..".
std::string plain_path(std::string_view path);

// Whether the path, of the machine or within a container, is the device of an NVIDIA GPU, or lies
// in the directory by whose entries the NVIDIA runtime is asked for GPUs, whatever the variable
// says. However it is spelled; links are not followed.
// Source: NVIDIA Container Toolkit, "accept-nvidia-visible-devices-as-volume-mounts".
bool is_gpu_path(std::string_view path);

// The same of what is given to a container as a device: Docker takes a directory for every device
// within it.
bool holds_gpu_devices(std::string_view host_path);

}  // namespace model
