// Mutants in what agents do with secrets, and in the keys that they fetch them with.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "json/value.h"
#include "sim/mutants/mutants.h"

namespace sim {
namespace {

using agent::core::CreateContainer;
using agent::core::Input;
using agent::core::OperationError;
using agent::core::Output;

OperationError* error_in(Input& input) {
  auto* const done = std::get_if<agent::core::OperationDone>(&input);
  return done == nullptr || done->result ? nullptr : &done->result.error();
}

// Each variable of a secret in the request, as "NAME=value".
template <class Change>
void change_secrets(CreateContainer& request, Change change) {
  json::Value variables = json::Value::array();
  for (const json::Value& variable : request.body["Env"].items()) {
    std::string text = variable.text_or("");
    const bool is_secret = std::ranges::any_of(request.secrets, [&](const acs::Secret& secret) {
      return text.starts_with(secret.name + "=");
    });
    if (is_secret) change(text);
    variables.push(text);
  }
  request.body.set("Env", std::move(variables));
}

class SecretLeftOut final : public Mutant {
 public:
  void out_of_agent(const std::string&, Output& output) override {
    for (agent::core::Operation& operation : output.operations) {
      auto* const create = std::get_if<CreateContainer>(&operation.request);
      if (create != nullptr && !create->secrets.empty()) create->secrets.pop_back();
    }
  }
};

class StaleSecret final : public Mutant {
 public:
  void completed(CreateContainer& request) override {
    change_secrets(request, [this](std::string& text) {
      text = first_.emplace(text.substr(0, text.find('=')), text).first->second;
    });
  }

 private:
  std::map<std::string, std::string> first_;  // By variable.
};

class SecretInReason final : public Mutant {
 public:
  void completed(CreateContainer& request) override {
    change_secrets(request, [this](const std::string& text) { last_ = text; });
  }
  bool into_agent(const std::string&, Input& input) override {
    if (OperationError* const error = error_in(input)) error->message += " " + last_;
    return true;
  }

 private:
  std::string last_;
};

class FalseSecretReason final : public Mutant {
 public:
  bool into_agent(const std::string&, Input& input) override {
    OperationError* const error = error_in(input);
    if (error == nullptr) return true;
    const size_t at = error->message.find("/sim/never-there");
    if (at != std::string::npos) error->message = error->message.substr(0, at) + "/sim/password";
    return true;
  }
};

class RoleKeysSentOnce final : public Mutant {
 public:
  void on_the_wire(std::vector<control::ToAgent>& messages) override {
    std::erase_if(messages, [](const control::ToAgent& message) {
      return std::holds_alternative<acs::IAMRoleCredentialsMessage>(message.message);
    });
  }
};

}  // namespace

std::unique_ptr<Mutant> make_secret_left_out() {
  return std::make_unique<SecretLeftOut>();
}
std::unique_ptr<Mutant> make_stale_secret() {
  return std::make_unique<StaleSecret>();
}
std::unique_ptr<Mutant> make_secret_in_reason() {
  return std::make_unique<SecretInReason>();
}
std::unique_ptr<Mutant> make_false_secret_reason() {
  return std::make_unique<FalseSecretReason>();
}
std::unique_ptr<Mutant> make_role_keys_sent_once() {
  return std::make_unique<RoleKeysSentOnce>();
}

}  // namespace sim
