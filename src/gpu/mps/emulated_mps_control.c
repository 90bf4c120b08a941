// The nvidia-cuda-mps-control of emulated GPUs: a control daemon that starts, answers and ends as
// NVIDIA's does, and serves no CUDA. The agent runs and watches it exactly as it does the real one.
//
//   nvidia-cuda-mps-control -d     starts the daemon and returns when it answers
//   nvidia-cuda-mps-control        reads commands from standard input, one a line
//
// Commands: get_server_list (answers nothing: no CUDA, no servers) and quit. The daemon listens on
// the socket control and writes its pid to nvidia-cuda-mps-control.pid, both in
// $CUDA_MPS_PIPE_DIRECTORY; its log is control.log in $CUDA_MPS_LOG_DIRECTORY. Containers write to
// the pipe directory: no link in it is followed, and who connects and says nothing is not waited for.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { longest_line = 256, look_interval_ms = 2000, patience_seconds = 1 };

static const char* directory(const char* variable, const char* otherwise) {
  const char* value = getenv(variable);
  return value != NULL && *value != '\0' ? value : otherwise;
}

// False: the path is too long for a socket's name.
static int in_pipe_directory(const char* name, char* path, size_t size) {
  const char* dir = directory("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps");
  return snprintf(path, size, "%s/%s", dir, name) < (int)size;
}

static int address_of(struct sockaddr_un* address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (in_pipe_directory("control", address->sun_path, sizeof address->sun_path)) return 1;
  fprintf(stderr, "CUDA_MPS_PIPE_DIRECTORY is too long\n");
  return 0;
}

static int run_commands(void) {
  struct sockaddr_un address;
  char line[longest_line], answer[longest_line];
  if (!address_of(&address)) return 1;
  while (fgets(line, sizeof line, stdin) != NULL) {
    ssize_t got;
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr*)&address, sizeof address) != 0) {
      printf("Cannot find MPS control daemon process\n");
      return 1;
    }
    if (write(connection, line, strlen(line)) < 0) return 1;
    while ((got = read(connection, answer, sizeof answer)) > 0) {
      fwrite(answer, 1, (size_t)got, stdout);
    }
    close(connection);
  }
  return 0;
}

static void serve(int listener, const char* pid_path) {
  struct sockaddr_un address;
  char line[longest_line];
  for (;;) {
    struct pollfd wait = {.fd = listener, .events = POLLIN, .revents = 0};
    int ready = poll(&wait, 1, look_interval_ms);
    if (access(pid_path, F_OK) != 0) exit(0);  // Its directory is gone, and whoever made it.
    if (ready <= 0) continue;
    int connection = accept(listener, NULL, NULL);
    if (connection < 0) continue;
    const struct timeval patience = {.tv_sec = patience_seconds, .tv_usec = 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t got = read(connection, line, sizeof line - 1);
    line[got > 0 ? got : 0] = '\0';
    if (strncmp(line, "quit", 4) == 0) {
      if (address_of(&address)) unlink(address.sun_path);
      unlink(pid_path);
      close(connection);
      exit(0);
    }
    if (strncmp(line, "get_server_list", 15) != 0) {
      const char* unknown = "The emulated MPS daemon knows get_server_list and quit only\n";
      if (write(connection, unknown, strlen(unknown)) < 0) fprintf(stderr, "write failed\n");
    }
    close(connection);
  }
}

// The daemon's own standard streams: nothing in, the log out.
static void take_streams(void) {
  char path[512];
  snprintf(path, sizeof path, "%s/control.log",
           directory("CUDA_MPS_LOG_DIRECTORY", "/var/log/nvidia-mps"));
  int nothing = open("/dev/null", O_RDWR);
  int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(nothing, 0);
  dup2(log < 0 ? nothing : log, 1);
  dup2(log < 0 ? nothing : log, 2);
}

static int start_daemon(void) {
  struct sockaddr_un address;
  char lock_path[512], pid_path[512];
  if (!address_of(&address) || !in_pipe_directory("control_lock", lock_path, sizeof lock_path) ||
      !in_pipe_directory("nvidia-cuda-mps-control.pid", pid_path, sizeof pid_path)) {
    return 1;
  }
  int lock = open(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0) {
    printf("An instance of this daemon is already running\n");
    return 1;
  }
  unlink(address.sun_path);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr*)&address, sizeof address) != 0 ||
      listen(listener, 16) != 0) {
    fprintf(stderr, "Cannot listen on %s: %s\n", address.sun_path, strerror(errno));
    return 1;
  }
  pid_t child = fork();
  if (child < 0) return 1;
  if (child > 0) return 0;  // Whoever connects now waits until the daemon takes it.
  setsid();
  unlink(pid_path);
  int made = open(pid_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  FILE* file = made < 0 ? NULL : fdopen(made, "w");
  if (file == NULL) return 1;
  fprintf(file, "%ld\n", (long)getpid());
  if (fclose(file) != 0) return 1;
  take_streams();
  printf("Emulated MPS control daemon: it serves no CUDA\n");
  fflush(stdout);
  serve(listener, pid_path);
  return 0;
}

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && strcmp(argv[1], "-d") == 0) return start_daemon();
  if (argc == 1) return run_commands();
  fprintf(stderr, "usage: nvidia-cuda-mps-control [-d]\n");
  return 1;
}
