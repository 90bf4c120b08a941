# Builds the nvidia-cuda-mps-control of emulated GPUs as a small static program and hands its path to
# src/gpu/embedded.cpp, which carries it inside berth.

set(emulated_mps_source ${CMAKE_SOURCE_DIR}/src/gpu/mps/emulated_mps_control.c)
set(emulated_mps_program ${CMAKE_BINARY_DIR}/emulated-mps-control)

add_custom_command(
  OUTPUT ${emulated_mps_program}
  COMMAND ${CMAKE_C_COMPILER} -std=c17 -Os -static -s -Wall -Wextra -Wshadow -Wconversion -Werror
          -D_GNU_SOURCE -ffunction-sections -Wl,--gc-sections
          -o ${emulated_mps_program} ${emulated_mps_source}
  DEPENDS ${emulated_mps_source}
  COMMENT "Building the static nvidia-cuda-mps-control of emulated GPUs"
  VERBATIM)

set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/gpu/embedded.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS "BERTH_EMULATED_MPS=\"${emulated_mps_program}\"")
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/gpu/embedded.cpp APPEND PROPERTY
  OBJECT_DEPENDS ${emulated_mps_program})
