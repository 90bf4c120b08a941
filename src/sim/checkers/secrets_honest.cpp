// A container never runs without a secret that its family names, nor with a value that was not the
// secret's own while its agent fetched it. A task whose secrets could not be had ends with that
// reason, and what the reason says is true.

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/checkers/service_view.h"
#include "sim/secret_clients.h"
#include "sim/world.h"

namespace sim {
namespace {

constexpr std::string_view expected_code = "ResourceInitializationError";

class SecretsHonest final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "secrets_honest"; }

  void turned(const Turn& turn) override { look(turn.state); }
  void loaded(const model::ClusterState& state) override { look(state); }

  void container_started(const Machine&, const SimContainer& container) override {
    const auto label = container.labels.find("com.amazonaws.ecs.task-definition-family");
    if (label == container.labels.end()) return;
    const auto family = world().expectations().families.find(label->second);
    if (family == world().expectations().families.end()) return;
    for (const FamilySecret& secret : family->second.secrets) check(container, secret);
  }

 private:
  void check(const SimContainer& container, const FamilySecret& secret) {
    const std::string task = short_name(container.task_arn);
    const auto variable = container.environment.find(secret.variable);
    if (variable == container.environment.end()) {
      return fail(base::format("task {} runs without its secret {}", task, secret.secret));
    }
    const std::string kept = secret.is_member
                                 ? base::format(R"({{"{}":"{}"}})", secret_member, variable->second)
                                 : variable->second;
    const bool is_own =
        was_fetched_while(container.task_arn, secret.secret,
                          [&](const std::optional<std::string>& value) { return value == kept; });
    if (is_own) return;
    fail(
        base::format("task {} runs with a value of secret {} that was not the secret's when it "
                     "was fetched",
                     task, secret.secret));
  }

  // That held of the secret while one of the task's fetches was under way.
  bool was_fetched_while(const std::string& task, const std::string& secret,
                         const std::function<bool(const std::optional<std::string>&)>& holds) {
    const auto found = world().expectations().fetches.find(task);
    if (found == world().expectations().fetches.end()) return false;
    return std::ranges::any_of(found->second, [&](const SecretsFetched& fetch) {
      return fetch.ended && world().secrets().was_ever(secret, fetch.began, *fetch.ended, holds);
    });
  }

  void look(const model::ClusterState& state) {
    const Environment& environment = world().environment();
    if (!environment.faults_on && !healed_at_) healed_at_ = environment.events.now();
    if (world().expectations().fetches.empty()) return;
    for (const auto& [arn, task] : state.tasks) {
      if (task.last_status != model::TaskStatus::Stopped || !seen_.insert(arn).second) continue;
      check_stop(task);
    }
  }

  void check_stop(const model::Task& task) {
    const auto found = world().expectations().fetches.find(task.arn.str());
    std::string told = task.stopped_reason;
    for (const model::TaskContainer& container : task.containers) told += "\n" + container.reason;
    const bool blames = told.find(expected_code) != std::string::npos;
    if (found == world().expectations().fetches.end()) {
      if (!blames) return;
      return fail(base::format("task {} is STOPPED for its secrets, which were never fetched: {}",
                               short_name(task.arn.str()), task.stopped_reason));
    }
    const SecretsFetched& last = found->second.back();
    // Until faults stop, an agent may die before it has kept what it heard.
    const bool was_heard = healed_at_ && last.began >= *healed_at_;
    if (task.stop_code == "TaskFailedToStart" && !last.error.empty() && was_heard && !blames) {
      return fail(
          base::format("the secrets of task {} could not be fetched, and it is STOPPED "
                       "with: {}",
                       short_name(task.arn.str()), task.stopped_reason));
    }
    if (blames) check_words(task, found->second, told);
  }

  void check_words(const model::Task& task, const std::vector<SecretsFetched>& fetches,
                   const std::string& told) {
    const auto fetch = std::ranges::find_if(fetches, [&](const SecretsFetched& one) {
      return !one.error.empty() && told.find(one.error) != std::string::npos;
    });
    if (fetch == fetches.end()) {
      return fail(base::format("task {} is STOPPED with words that nobody said: {}",
                               short_name(task.arn.str()), task.stopped_reason));
    }
    const bool says_missing = fetch->error.find("invalid parameters") != std::string::npos ||
                              fetch->error.find("can't find") != std::string::npos;
    if (!says_missing) return;
    const Family* const family = family_of(world().expectations(), task.definition);
    const bool is_true = std::ranges::any_of(family->secrets, [&](const FamilySecret& secret) {
      return fetch->error.find(secret.secret) != std::string::npos &&
             world().secrets().was_ever(
                 secret.secret, fetch->began, *fetch->ended,
                 [](const std::optional<std::string>& value) { return !value.has_value(); });
    });
    if (is_true) return;
    fail(base::format("task {} is STOPPED for a secret that was there: {}",
                      short_name(task.arn.str()), task.stopped_reason));
  }

  std::set<model::TaskArn> seen_;
  std::optional<base::Time> healed_at_;
};

}  // namespace

std::unique_ptr<Checker> make_secrets_honest(World& world) {
  return std::make_unique<SecretsHonest>(world);
}

}  // namespace sim
