# Builds the fake libnvidia-ml.so.1 that tests load, ${CMAKE_BINARY_DIR}/fake_nvml/libnvidia-ml.so.1.

set(fake_nvml_source ${CMAKE_SOURCE_DIR}/src/gpu/nvml/fake_nvml.c)
set(fake_nvml_library ${CMAKE_BINARY_DIR}/fake_nvml/libnvidia-ml.so.1)

add_custom_command(
  OUTPUT ${fake_nvml_library}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/fake_nvml
  COMMAND ${CMAKE_C_COMPILER} -std=c17 -O1 -shared -fPIC -Wall -Wextra -Wshadow -Wconversion -Werror
          -D_POSIX_C_SOURCE=200809L -o ${fake_nvml_library} ${fake_nvml_source}
  DEPENDS ${fake_nvml_source}
  COMMENT "Building the fake NVML library for tests"
  VERBATIM)

set_source_files_properties(${CMAKE_SOURCE_DIR}/src/gpu/nvml/nvml_library_test.cpp PROPERTIES
  COMPILE_DEFINITIONS "BERTH_FAKE_NVML=\"${fake_nvml_library}\""
  OBJECT_DEPENDS ${fake_nvml_library})
