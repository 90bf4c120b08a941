// Mutants around the driver, in the transport and in the clients.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "sim/mutants/mutants.h"

namespace sim {
namespace {

class ForgottenRelease final : public Mutant {
 public:
  void into_driver(std::vector<control::Input>& inputs) override {
    for (control::Input& input : inputs) {
      auto* const call = std::get_if<control::ApiCall>(&input);
      if (call == nullptr) continue;
      auto* const report = call->input.get_if<api::ecs::SubmitTaskStateChangeRequest>();
      if (report != nullptr) report->gpu_release.clear();
    }
  }
};

// Of what the driver answers, all values of one type.
template <class Response, class Change>
void change_answers(driver::Released& released, Change change) {
  for (control::Reply& reply : released.replies) {
    if (!reply.result) continue;
    if (auto* const answer = reply.result->template get_if<Response>()) change(*answer);
  }
}

class LastStatusBackwards final : public Mutant {
 public:
  void out_of_driver(driver::Released& released, base::Time) override {
    change_answers<api::ecs::DescribeTasksResponse>(released, [](auto& answer) {
      for (api::ecs::Task& task : answer.tasks) {
        if (task.last_status == "RUNNING") task.last_status = "PENDING";
      }
    });
  }
};

class ForgedReason final : public Mutant {
 public:
  void out_of_driver(driver::Released& released, base::Time) override {
    change_answers<api::ecs::RunTaskResponse>(released, [](auto& answer) {
      for (api::ecs::Failure& failure : answer.failures) {
        if (failure.reason == "RESOURCE:GPU") failure.reason = "RESOURCE:MEMORY";
      }
    });
  }
};

class DoubleResend final : public Mutant {
 public:
  void on_the_wire(std::vector<control::ToAgent>& messages) override {
    std::vector<control::ToAgent> more;
    for (const control::ToAgent& message : messages) {
      sessions_.insert(message.session);
      if (!std::holds_alternative<acs::PayloadMessage>(message.message)) continue;
      for (const control::SessionId other : sessions_) {
        if (other != message.session) more.push_back({other, message.message});
      }
    }
    for (control::ToAgent& message : more) messages.push_back(std::move(message));
  }

 private:
  std::set<control::SessionId> sessions_;
};

class SwappedGpu final : public Mutant {
 public:
  void on_the_wire(std::vector<control::ToAgent>& messages) override {
    for (control::ToAgent& message : messages) {
      auto* const payload = std::get_if<acs::PayloadMessage>(&message.message);
      if (payload == nullptr) continue;
      for (acs::Task& task : payload->tasks) swap(message.session, task);
    }
  }

 private:
  void swap(control::SessionId session, acs::Task& task) {
    if (task.associations.empty()) return;
    std::string& name = task.associations.front().name;
    const auto [earlier, first] = earlier_.emplace(session, name);
    if (!first) name = earlier->second;
  }
  std::map<control::SessionId, std::string> earlier_;
};

class NonIdempotentRetry final : public Mutant {
 public:
  void retried(api::ecs::RunTaskRequest& request) override { *request.client_token += "'"; }
};

}  // namespace

std::unique_ptr<Mutant> make_forgotten_release() {
  return std::make_unique<ForgottenRelease>();
}
std::unique_ptr<Mutant> make_last_status_backwards() {
  return std::make_unique<LastStatusBackwards>();
}
std::unique_ptr<Mutant> make_forged_reason() {
  return std::make_unique<ForgedReason>();
}
std::unique_ptr<Mutant> make_double_resend() {
  return std::make_unique<DoubleResend>();
}
std::unique_ptr<Mutant> make_swapped_gpu() {
  return std::make_unique<SwappedGpu>();
}
std::unique_ptr<Mutant> make_non_idempotent_retry() {
  return std::make_unique<NonIdempotentRetry>();
}

}  // namespace sim
