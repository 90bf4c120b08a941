// How the clients of a world call the control plane: over one link, again and again where the
// answer does not come.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sim/environment.h"
#include "sim/network.h"

namespace sim {

class Caller {
 public:
  // The references outlive it.
  Caller(Environment& environment, ApiServer& server)
      : environment_(environment), server_(server), link_(environment, "client") {}

  Link& link() { return link_; }
  // Calls that wait for their answer or their next try.
  size_t waiting() const { return waiting_; }

  // Once; nobody looks at the answer.
  template <class Response, class Request>
  void call(std::string_view operation, Request request) {
    call_api<Response>(environment_, link_, server_, operation, std::move(request),
                       [](const base::Result<Response>&) {});
  }

  // Until an answer comes that another try would not change. `again` sees the request before each
  // further try.
  template <class Response, class Request>
  void insist(
      std::string operation, Request request,
      std::function<void(const base::Result<Response>&)> done,
      std::function<void(std::type_identity_t<Request>&)> again = [](Request&) {}) {
    ++waiting_;
    const std::string name = operation;
    const auto answered = [this, operation = std::move(operation), request, done = std::move(done),
                           again = std::move(again)](const base::Result<Response>& answer) {
      --waiting_;
      if (answer || !is_worth_another_try(answer.error())) return done(answer);
      ++waiting_;
      environment_.events.after(
          environment_.between(std::chrono::seconds(1), std::chrono::seconds(8)),
          [this, operation, request, done, again]() mutable {
            --waiting_;
            again(request);
            insist<Response>(operation, std::move(request), std::move(done), std::move(again));
          });
    };
    call_api<Response>(environment_, link_, server_, name, std::move(request), answered);
  }

 private:
  // The answer is missing, or says that the same call may succeed later: the cluster or the
  // definition is not there yet (again).
  static bool is_worth_another_try(const base::Error& error) {
    return error.code == unreachable || error.code == "ServerException" ||
           error.code == "ThrottlingException" || error.code.starts_with("Internal") ||
           error.code == "ClusterNotFoundException" || error.message == "TaskDefinition not found.";
  }

  Environment& environment_;
  ApiServer& server_;
  Link link_;
  size_t waiting_ = 0;
};

}  // namespace sim
