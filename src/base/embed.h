// A file's bytes inside this program.
#pragma once

#include <cstddef>
#include <string_view>

// Defines `std::string_view name()`: the bytes of the file at `path`, alive as long as the process.
// `path` is a literal that cmake/static_programs.cmake gives to the source. The assembler copies
// the bytes in between two labels.
#define EMBED(name, path)                                                  \
  __asm__(                                                                 \
      ".pushsection .rodata\n"                                             \
      ".globl " #name                                                      \
      "_begin\n"                                                           \
      ".globl " #name                                                      \
      "_end\n"                                                             \
      ".balign 16\n" #name                                                 \
      "_begin:\n"                                                          \
      ".incbin \"" path "\"\n" #name                                       \
      "_end:\n"                                                            \
      ".byte 0\n"                                                          \
      ".popsection\n");                                                    \
  extern "C" const char name##_begin[];                                    \
  extern "C" const char name##_end[];                                      \
  std::string_view name() {                                                \
    return {name##_begin, static_cast<size_t>(name##_end - name##_begin)}; \
  }
