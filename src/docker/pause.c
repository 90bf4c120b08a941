// The one program of the pause image: as process 1 it leaves no zombies, and ends with 0 on SIGTERM
// or SIGINT. It has no library below it, so that the image stays at a kilobyte or two.
//
// SIGCHLD is ignored, so that the kernel reaps what is orphaned; SIGTERM and SIGINT are blocked,
// since process 1 would not get them otherwise, and waited for.
// Source: syscalls(2), rt_sigaction(2), rt_sigtimedwait(2).
#include <asm/signal.h>
#include <asm/unistd.h>

static long call(long number, long first, const void* second) {
  // The third argument is null, the fourth the size of a set of signals, in each of the calls
  // below.
#if defined(__x86_64__)
  register long size __asm__("r10") = sizeof(sigset_t);
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(first), "S"(second), "d"(0L), "r"(size)
                   : "rcx", "r11", "memory");
  return number;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = first;
  register const void* x1 __asm__("x1") = second;
  register long x2 __asm__("x2") = 0;
  register long x3 __asm__("x3") = sizeof(sigset_t);
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
#error "The pause program is written for x86-64 and aarch64."
#endif
}

static const struct sigaction ignore = {.sa_handler = SIG_IGN};
static const sigset_t ends = 1UL << (SIGINT - 1) | 1UL << (SIGTERM - 1);

void _start(void) {
  call(__NR_rt_sigaction, SIGCHLD, &ignore);
  call(__NR_rt_sigprocmask, SIG_BLOCK, &ends);
  while (call(__NR_rt_sigtimedwait, (long)&ends, 0) < 0) continue;  // Interrupted.
  call(__NR_exit_group, 0, 0);
}
