// One more process in a container that runs. Source: Docker Engine API reference, "Exec".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"

namespace docker {

struct ExecRequest {
  std::string container;
  std::vector<std::string> command;
};

// Has a terminal. read() belongs to one thread, everything else to another.
class ExecProcess {
 public:
  // `host` as for DockerClient. Errors: the connection's; "DockerError" with Docker's own sentence.
  static base::Result<std::unique_ptr<ExecProcess>> start(const std::string& host,
                                                          const ExecRequest& request);

  // Output as it comes; "" when the process has ended.
  base::Result<std::string> read();
  base::Result<void> write(std::string_view bytes);
  base::Result<void> close_input();
  base::Result<void> resize(int columns, int rows);
  // Once read() has told the end.
  base::Result<int> exit_code();
  // On the daemon's machine; 0 when it has ended.
  base::Result<int64_t> process_id();
  // From any thread: read() and write() end.
  void cancel();

 private:
  ExecProcess(std::unique_ptr<net::HttpClient> client, std::string id,
              std::unique_ptr<net::RawStream> stream);

  std::unique_ptr<net::HttpClient> client_;
  std::string id_;
  std::unique_ptr<net::RawStream> stream_;
};

}  // namespace docker
