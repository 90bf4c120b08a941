// A Transport for tests: answers from a transcript, and remembers what was asked.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "docker/transport.h"

namespace docker {

struct Exchange {
  std::string request;  // "GET /version"; the beginning of "METHOD target" must be this.
  int status = 200;
  std::string body;  // Of a stream with status 2xx it comes in pieces of `piece` bytes.
  std::optional<TransportError> error;  // After the body.
};

// Answers in the order of the transcript; a call that is not the next one fails the test.
class ReplayTransport final : public Transport {
 public:
  ReplayTransport(std::vector<Exchange> transcript, std::vector<Call>& calls, size_t piece = 7)
      : transcript_(transcript.begin(), transcript.end()), calls_(calls), piece_(piece) {}
  ~ReplayTransport() override { EXPECT_TRUE(transcript_.empty()) << transcript_.front().request; }

  TransportResult<Answer> request(const Call& call) override {
    const Exchange exchange = next(call);
    if (exchange.error) return std::unexpected(*exchange.error);
    return Answer{exchange.status, exchange.body};
  }

  TransportResult<Answer> stream(const Call& call, const std::stop_token& stop,
                                 const OnBytes& on_bytes) override {
    const Exchange exchange = next(call);
    if (exchange.status != 200) return Answer{exchange.status, exchange.body};
    for (size_t at = 0; at < exchange.body.size(); at += piece_) {
      if (stop.stop_requested()) {
        return std::unexpected(TransportError{TransportError::Kind::Cancelled, "cancelled"});
      }
      if (!on_bytes(std::string_view(exchange.body).substr(at, piece_))) return Answer{200, ""};
    }
    if (exchange.error) return std::unexpected(*exchange.error);
    return Answer{200, ""};
  }

  const std::string& host() const override { return host_; }

 private:
  Exchange next(const Call& call) {
    calls_.push_back(call);
    const std::string asked = call.method + " " + call.target;
    if (transcript_.empty()) {
      ADD_FAILURE() << "not in the transcript: " << asked;
      return {.request = asked, .status = 599, .body = "", .error = std::nullopt};
    }
    Exchange exchange = std::move(transcript_.front());
    transcript_.pop_front();
    EXPECT_TRUE(asked.starts_with(exchange.request)) << asked << " is not " << exchange.request;
    return exchange;
  }

  std::deque<Exchange> transcript_;
  std::vector<Call>& calls_;
  size_t piece_;
  const std::string host_ = "unix:///run/docker.sock";
};

}  // namespace docker
