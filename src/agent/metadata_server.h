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
#include "base/result.h"
#include "net/http_server.h"
#include "net/loop.h"

namespace agent {

inline constexpr const char* metadata_address = "169.254.170.2";
// Within a container's network. Source of the ports: amazon-ecs-agent, ecs-init/exec/iptables.
inline MetadataPlace metadata_place() {
  return {.address = metadata_address, .asked_port = 80, .listening_port = 51679};
}

// Belongs to one thread at a time. Requests come as MetadataAsked into the inbox, which outlives it
// as the loop does.
class MetadataServer {
 public:
  MetadataServer(net::Loop& loop, Inbox& inbox) : loop_(loop), inbox_(inbox) {}

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
  struct Endpoint {
    int64_t pid = 0;
    std::unique_ptr<net::HttpServer> server;
  };
  base::Result<std::unique_ptr<net::HttpServer>> listen(net::HttpServerOptions options,
                                                        std::string task_arn);

  net::Loop& loop_;
  Inbox& inbox_;
  std::unique_ptr<net::HttpServer> host_;
  std::map<std::string, Endpoint> endpoints_;  // By container.
};

}  // namespace agent
