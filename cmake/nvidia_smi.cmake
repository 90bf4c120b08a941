# Builds the nvidia-smi of emulated containers as a small static program and hands its path to
# src/gpu/embedded.cpp, which carries it inside berth. It is compiled by a command of its own: the
# flags of this project (sanitizers above all) are not for a static program that runs in any image.

set(nvidia_smi_source ${CMAKE_SOURCE_DIR}/src/gpu/smi/nvidia_smi.c)
set(nvidia_smi_program ${CMAKE_BINARY_DIR}/nvidia-smi)
set(nvidia_smi_for_tests ${CMAKE_BINARY_DIR}/nvidia-smi-for-tests)  # "/" is its working directory.
set(nvidia_smi_compile ${CMAKE_C_COMPILER} -std=c17 -Os -static -s -Wall -Wextra -Wshadow
    -Wconversion -Werror -D_POSIX_C_SOURCE=200809L -ffunction-sections -Wl,--gc-sections)

add_custom_command(
  OUTPUT ${nvidia_smi_program} ${nvidia_smi_for_tests}
  COMMAND ${nvidia_smi_compile} -o ${nvidia_smi_program} ${nvidia_smi_source}
  COMMAND ${nvidia_smi_compile} "-DBERTH_ROOT=\".\"" -o ${nvidia_smi_for_tests} ${nvidia_smi_source}
  DEPENDS ${nvidia_smi_source}
  COMMENT "Building the static nvidia-smi of emulated containers"
  VERBATIM)

set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/gpu/embedded.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS "BERTH_NVIDIA_SMI=\"${nvidia_smi_program}\"")
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/gpu/embedded.cpp APPEND PROPERTY
  OBJECT_DEPENDS ${nvidia_smi_program})
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/gpu/smi/nvidia_smi_test.cpp PROPERTIES
  COMPILE_DEFINITIONS "BERTH_NVIDIA_SMI=\"${nvidia_smi_for_tests}\""
  OBJECT_DEPENDS ${nvidia_smi_for_tests})
