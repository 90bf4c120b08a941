// One more process in a container that runs. Source: Docker Engine API reference, "Exec".
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "docker/exec_frames.h"
#include "net/http_client.h"

namespace docker {

struct ExecRequest {
  std::string container;
  std::vector<std::string> command;
  bool terminal = true;  // With one, output and standard error are one stream.
};

// read() belongs to one thread, write() and close_input() to one, everything else to a third.
class ExecProcess {
 public:
  // `host` as for DockerClient. Errors: the connection's; "DockerError" with Docker's own sentence.
  static base::Result<std::unique_ptr<ExecProcess>> start(const std::string& host,
                                                          const ExecRequest& request);

  // Output as it comes; no bytes when the process has ended.
  base::Result<ExecOutput> read();
  // Waits while the process does not read. Errors: it reads no more.
  base::Result<void> write(std::string_view bytes);
  // The process reads the end of its input. With a terminal: Ctrl-D, which means that only at the
  // beginning of a line.
  base::Result<void> close_input();
  base::Result<void> resize(int columns, int rows);
  // Once read() has told the end. Waits up to `patience` for Docker to see that end too.
  // Errors: "DockerError".
  base::Result<int> exit_code(base::Milliseconds patience);
  // On the daemon's machine; 0 when it has ended. Docker may tell it a moment after the process has
  // begun: waits up to `patience`. Errors: "DockerError".
  base::Result<int64_t> process_id(base::Milliseconds patience);
  // From any thread: read() and write() end.
  void cancel();

 private:
  ExecProcess(std::unique_ptr<net::HttpClient> client, std::string id,
              std::unique_ptr<net::RawStream> stream, bool terminal);

  struct State {
    bool running = false;
    std::optional<int64_t> exit_code;
    int64_t process_id = 0;  // 0: not told yet, or ended.
  };
  base::Result<State> look();

  std::unique_ptr<net::HttpClient> client_;
  std::string id_;
  std::unique_ptr<net::RawStream> stream_;
  const bool terminal_;
  // Of the thread that reads.
  ExecFrames frames_;
  std::deque<ExecOutput> ready_;
};

}  // namespace docker
