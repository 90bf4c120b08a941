// One row of a service's table of operations.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "api/any.h"
#include "base/result.h"
#include "control/step/step.h"

namespace control {

template <class T>
using Answer = base::Result<T>;

struct Action {
  std::string_view operation;
  base::Result<api::Any> (*call)(Step&, const api::Any& input);
};

// Adapts an operation's typed function to the queue's untyped values.
template <class Response, class Request>
struct Adapter {
  template <Answer<Response> (*function)(Step&, const Request&)>
  static base::Result<api::Any> call(Step& step, const api::Any& input) {
    auto response = function(step, input.as<Request>());
    if (!response) return base::fail(std::move(response).error());
    return api::Any::make(std::move(*response));
  }
};

template <class Response, class Request>
Adapter<Response, Request> adapter_of(Answer<Response> (*)(Step&, const Request&));

template <auto function>
constexpr auto adapted = &decltype(adapter_of(function))::template call<function>;

// In a table that is sorted by name; nullptr when it is not there.
inline const Action* find_in(std::span<const Action> actions, std::string_view operation) {
  const auto found = std::ranges::lower_bound(actions, operation, {}, &Action::operation);
  return found != actions.end() && found->operation == operation ? &*found : nullptr;
}

}  // namespace control
