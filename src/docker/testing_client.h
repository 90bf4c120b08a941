// A client whose daemon answers from a transcript, and that transcript's lines. For tests only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "docker/client.h"
#include "docker/testing_transport.h"

namespace docker {

inline const std::string version_body =
    R"({"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12"})";

// The transcript begins behind the question for the version.
struct Session {
  explicit Session(std::vector<Exchange> transcript, size_t piece = 7) {
    transcript.insert(transcript.begin(),
                      Exchange{"GET /version", 200, version_body, std::nullopt});
    client = std::make_unique<DockerClient>(
        std::make_unique<ReplayTransport>(std::move(transcript), calls, piece), Timeouts{});
  }
  const Call& last() const { return calls.back(); }

  std::vector<Call> calls;
  std::unique_ptr<DockerClient> client;
};

inline Exchange answer(std::string request, int status, std::string body) {
  return {std::move(request), status, std::move(body), std::nullopt};
}

}  // namespace docker
