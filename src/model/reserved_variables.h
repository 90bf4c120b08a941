// Environment variables that decide which GPUs a container reaches, and how much of a shared one.
// They are Berth's: it sets them from what the control plane has given the container.
// Source: NVIDIA Container Toolkit, "Environment variables"; NVIDIA Multi-Process Service,
// "Environment variables".
#pragma once

#include <string_view>

namespace model {

inline constexpr std::string_view visible_devices_variable = "NVIDIA_VISIBLE_DEVICES";
inline constexpr std::string_view mps_variables = "CUDA_MPS_";  // All that begin so.

inline bool is_reserved_variable(std::string_view name) {
  return name == visible_devices_variable || name.starts_with(mps_variables);
}

}  // namespace model
