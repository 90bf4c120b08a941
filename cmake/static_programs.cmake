# Builds small static programs from C, which berth carries inside itself. They are compiled by
# commands of their own: the flags of this project (sanitizers above all) are not for a static
# program that runs in any image.

# Compiles src/`source` and hands the program's path to src/`carrier` as the definition `name`.
# What follows are flags for this one program.
function(carry_program name source carrier)
  set(program ${CMAKE_BINARY_DIR}/carried/${name})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/carried
    COMMAND ${CMAKE_C_COMPILER} -std=c17 -Os -static -s -Wall -Wextra -Wshadow -Wconversion -Werror
            -D_GNU_SOURCE -ffunction-sections -Wl,--gc-sections ${ARGN}
            -o ${program} ${CMAKE_SOURCE_DIR}/src/${source}
    DEPENDS ${CMAKE_SOURCE_DIR}/src/${source}
    COMMENT "Building the static program of ${source}"
    VERBATIM)
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/${carrier} APPEND PROPERTY
    COMPILE_DEFINITIONS "${name}=\"${program}\"")
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/${carrier} APPEND PROPERTY OBJECT_DEPENDS ${program})
endfunction()

carry_program(BERTH_NVIDIA_SMI gpu/smi/nvidia_smi.c gpu/embedded.cpp)
# "/" is its working directory.
carry_program(BERTH_NVIDIA_SMI_FOR_TESTS gpu/smi/nvidia_smi.c gpu/smi/nvidia_smi_test.cpp
              "-DBERTH_ROOT=\".\"")
carry_program(BERTH_EMULATED_MPS gpu/mps/emulated_mps_control.c gpu/embedded.cpp)
carry_program(BERTH_PAUSE docker/pause.c docker/pause_image.cpp
              -nostdlib -fno-stack-protector -Wl,-z,noseparate-code -Wl,--build-id=none)
