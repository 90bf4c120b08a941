// Where containers find the metadata and credentials endpoints.
//
// A container with a network of its own has 169.254.170.2 on its loopback interface, with a socket
// that this agent listens on: nobody outside of that network can ask there, several agents on one
// machine are not in each other's way, and the machine's own network is left alone. Containers in
// the machine's network ask at a port of 127.0.0.1.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "agent/input.h"
#include "agent/namespace_socket.h"
#include "base/pace.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http_server.h"
#include "net/loop.h"

namespace agent {

inline constexpr const char* metadata_address = "169.254.170.2";
// Within a container's network. Source of the ports: amazon-ecs-agent, ecs-init/exec/iptables.
inline MetadataPlace metadata_place() {
  return {.address = metadata_address, .asked_port = 80, .listening_port = 51679};
}
// Where a cloud tells a machine its own keys. Source: AWS, "Instance metadata and user data"; the
// same at Google Cloud, Azure and others.
inline constexpr const char* instance_metadata_address = "169.254.169.254";

// What one task may ask: more is answered with 429, after a while, so that asking without end keeps
// nobody busy. Source: amazon-ecs-agent, ecs-agent/tmds (DefaultTaskMetadataSteadyStateRate,
// DefaultTaskMetadataBurstRate).
inline constexpr base::Pace metadata_pace(40, 60);
// Containers in the machine's network ask at one place, where their tasks are not known yet: these
// are all of them together, beside metadata_pace for each id that is asked for.
inline constexpr base::Pace host_metadata_pace(400, 600);
inline constexpr base::Milliseconds metadata_refusal_delay{250};
inline constexpr size_t metadata_connections = 16;  // Of one container; one more waits.
inline constexpr size_t host_metadata_connections = 256;
inline constexpr size_t metadata_head_bytes = size_t{8} << 10;
inline constexpr size_t metadata_body_bytes = size_t{4} << 10;  // Of a PUT; others have none.

// Belongs to one thread at a time. Requests come as MetadataAsked into the inbox, which outlives it
// as the loop and the clock do. The loop should have no other work: tasks may keep it busy.
class MetadataServer {
 public:
  // All containers together have a quarter of the files that this process may open: the rest is the
  // agent's own.
  MetadataServer(net::Loop& loop, Inbox& inbox, base::Clock& clock);

  // At 127.0.0.1; `wanted` is the port of an earlier process, which running containers know; 0:
  // any. Errors: those of net::HttpServer.
  base::Result<uint16_t> serve_host(uint16_t wanted);

  // At a socket in a container's network, which is taken over.
  void serve(const std::string& runtime_id, const std::string& task_arn, int64_t pid, int socket);
  // Whether the container's process has an endpoint, or one is being made for it.
  bool serves(const std::string& runtime_id, int64_t pid) const;
  // Ends those of containers that `keep` says no to.
  template <class Keep>
  void retain(Keep keep) {
    std::erase_if(endpoints_, [&](const auto& entry) { return !keep(entry.first); });
  }
  void stop();

 private:
  // What was asked; it is shared by the endpoints of a task's containers and their requests.
  struct Asked;
  struct Endpoint {
    int64_t pid = 0;
    std::string task_arn;
    std::shared_ptr<Asked> asked;
    std::unique_ptr<net::HttpServer> server;
  };
  base::Result<std::unique_ptr<net::HttpServer>> listen(net::HttpServerOptions options,
                                                        std::string task_arn,
                                                        std::shared_ptr<Asked> asked);
  std::shared_ptr<Asked> asked_by(const std::string& task_arn) const;

  net::Loop& loop_;
  Inbox& inbox_;
  base::Clock& clock_;
  std::shared_ptr<net::ConnectionBudget> budget_;  // Shared by all endpoints.
  std::unique_ptr<net::HttpServer> host_;
  std::map<std::string, Endpoint> endpoints_;  // By container.
};

}  // namespace agent
