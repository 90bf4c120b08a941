#include "docker/pause_image.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

// A whole ELF program, assembled by the compiler: SIGCHLD is ignored, so that the kernel reaps what
// is orphaned; SIGTERM and SIGINT are blocked, since process 1 would not get them otherwise, and
// waited for. Source: elf(5), syscalls(2), sigtimedwait(2); signal numbers of Linux.
#if defined(__x86_64__)
asm(R"(
  .pushsection .rodata.berth_pause, "a"
  .global berth_pause_begin
  .global berth_pause_end
berth_pause_begin:
  .byte 0x7f, 'E', 'L', 'F', 2, 1, 1, 0
  .8byte 0
  .2byte 2, 62                    # EXEC, x86-64
  .4byte 1
  .8byte 0x400000 + (berth_pause_code - berth_pause_begin)
  .8byte 64, 0                    # program headers; no sections
  .4byte 0
  .2byte 64, 56, 1, 0, 0, 0
  .4byte 1, 5                     # LOAD, read and execute
  .8byte 0, 0x400000, 0x400000
  .8byte berth_pause_end - berth_pause_begin
  .8byte berth_pause_end - berth_pause_begin
  .8byte 0x1000
berth_pause_ignore:
  .8byte 1, 0, 0, 0               # struct sigaction: SIG_IGN, no flags, no restorer, no mask
berth_pause_signals:
  .8byte 0x4002                   # SIGINT is 2, SIGTERM is 15
berth_pause_code:
  movl $13, %eax                  # rt_sigaction(SIGCHLD, ignore, 0, 8)
  movl $17, %edi
  leaq berth_pause_ignore(%rip), %rsi
  xorl %edx, %edx
  movl $8, %r10d
  syscall
  movl $14, %eax                  # rt_sigprocmask(SIG_BLOCK, signals, 0, 8)
  xorl %edi, %edi
  leaq berth_pause_signals(%rip), %rsi
  xorl %edx, %edx
  movl $8, %r10d
  syscall
berth_pause_wait:
  movl $128, %eax                 # rt_sigtimedwait(signals, 0, 0, 8)
  leaq berth_pause_signals(%rip), %rdi
  xorl %esi, %esi
  xorl %edx, %edx
  movl $8, %r10d
  syscall
  testl %eax, %eax
  js berth_pause_wait             # interrupted
  movl $231, %eax                 # exit_group(0)
  xorl %edi, %edi
  syscall
berth_pause_end:
  .popsection
)");
#elif defined(__aarch64__)
asm(R"(
  .pushsection .rodata.berth_pause, "a"
  .balign 8
  .global berth_pause_begin
  .global berth_pause_end
berth_pause_begin:
  .byte 0x7f, 'E', 'L', 'F', 2, 1, 1, 0
  .8byte 0
  .2byte 2, 183                   // EXEC, aarch64
  .4byte 1
  .8byte 0x400000 + (berth_pause_code - berth_pause_begin)
  .8byte 64, 0                    // program headers; no sections
  .4byte 0
  .2byte 64, 56, 1, 0, 0, 0
  .4byte 1, 5                     // LOAD, read and execute
  .8byte 0, 0x400000, 0x400000
  .8byte berth_pause_end - berth_pause_begin
  .8byte berth_pause_end - berth_pause_begin
  .8byte 0x10000
berth_pause_ignore:
  .8byte 1, 0, 0, 0               // struct sigaction: SIG_IGN, no flags, no mask
berth_pause_signals:
  .8byte 0x4002                   // SIGINT is 2, SIGTERM is 15
berth_pause_code:
  mov x8, #134                    // rt_sigaction(SIGCHLD, ignore, 0, 8)
  mov x0, #17
  adr x1, berth_pause_ignore
  mov x2, #0
  mov x3, #8
  svc #0
  mov x8, #135                    // rt_sigprocmask(SIG_BLOCK, signals, 0, 8)
  mov x0, #0
  adr x1, berth_pause_signals
  mov x2, #0
  mov x3, #8
  svc #0
berth_pause_wait:
  mov x8, #137                    // rt_sigtimedwait(signals, 0, 0, 8)
  adr x0, berth_pause_signals
  mov x1, #0
  mov x2, #0
  mov x3, #8
  svc #0
  tbnz w0, #31, berth_pause_wait  // interrupted
  mov x8, #94                     // exit_group(0)
  mov x0, #0
  svc #0
berth_pause_end:
  .popsection
)");
#else
#error "The pause program is written for x86-64 and aarch64."
#endif

extern "C" {
extern const char berth_pause_begin[];  // NOLINT(modernize-avoid-c-arrays)
extern const char berth_pause_end[];    // NOLINT(modernize-avoid-c-arrays)
}

namespace docker {
namespace {

constexpr size_t block = 512;

// One header of a tar archive. Source: POSIX.1-1988, ustar.
std::string tar_header(std::string_view name, size_t size) {
  std::array<char, block> header{};
  const auto put = [&](size_t at, std::string_view text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  std::array<char, 16> number{};
  put(0, name);
  put(100, "0000755");
  put(108, "0000000");
  put(116, "0000000");
  std::snprintf(number.data(), number.size(), "%011zo", size);
  put(124, number.data());
  put(136, "00000000000");
  put(148, "        ");
  header[156] = '0';
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(number.data(), number.size(), "%06o", sum);
  put(148, std::string_view(number.data(), 7));
  return {header.data(), header.size()};
}

}  // namespace

ImageImport pause_image(const std::string& name) {
  std::string program(berth_pause_begin, berth_pause_end);
  std::string archive = tar_header("pause", program.size());
  program.resize((program.size() + block - 1) / block * block, '\0');
  archive += program;
  archive.append(2 * block, '\0');
  return {.name = name, .archive = std::move(archive), .entry_point = {"/pause"}};
}

}  // namespace docker
