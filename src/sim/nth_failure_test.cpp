// One thing fails, once, at each position in turn, and nothing else: every store call of the
// server, every operation of an agent. The whole must come to its end as if nothing had been.

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "sim/passing_store.h"
#include "sim/sim.h"

namespace sim {
namespace {

using agent::core::Cause;
using agent::core::OperationError;
using std::chrono::minutes;
using std::chrono::seconds;

// A calm world in which tasks of all kinds run: two containers, GPUs, a share, output; one is
// stopped.
void main_flows(base::Random&, Rates& rates, WorkPlan& plan) {
  rates = Rates{};
  rates.longest_life = seconds(4);
  plan.machines = {"p3.8xlarge"};
  for (const Family& family : usual_families()) {
    if (family.name == "pair" || family.name == "two-gpus" || family.name == "share") {
      plan.families.push_back(family);
    }
  }
  // An agent that was there before the cluster has registered by then.
  base::Milliseconds at = minutes(2);
  for (const Family& family : plan.families) {
    plan.calls.push_back({.at = at, .family = family.name});
    at += base::Milliseconds{300};
  }
  plan.calls.push_back({.at = at + seconds(1), .kind = PlannedCall::Kind::Stop, .family = ""});
  plan.faults_for = at + seconds(20);
}

constexpr Workload flows{"main_flows", "one task of each kind", main_flows};

std::string failure_text(const RunResult& result) {
  std::string text = result.failure->checker + ": " + result.failure->sentence;
  for (const TraceLine& line : result.latest) text += "\n" + print(line);
  return text;
}

enum class Effect : uint8_t { None, Done };

// Fails the nth operation of the agent: before it is done, or with its answer lost.
class FailingOperation final : public Mutant {
 public:
  FailingOperation(uint64_t nth, Effect effect, OperationError error)
      : nth_(nth), effect_(effect), error_(std::move(error)) {}

  std::optional<OperationError> fails(const std::string&,
                                      const agent::core::Operation& operation) override {
    if (++operations_ != nth_) return std::nullopt;
    if (effect_ == Effect::None) return error_;
    answer_lost_ = operation.id;
    return std::nullopt;
  }
  bool into_agent(const std::string&, agent::core::Input& input) override {
    auto* const done = std::get_if<agent::core::OperationDone>(&input);
    if (done != nullptr && done->id == answer_lost_) done->result = std::unexpected(error_);
    return true;
  }
  bool struck() const { return operations_ >= nth_; }

 private:
  uint64_t nth_;
  Effect effect_;
  OperationError error_;
  uint64_t operations_ = 0;
  std::optional<agent::core::OperationId> answer_lost_;
};

class NthOperation : public testing::TestWithParam<std::pair<const char*, OperationError>> {};

TEST_P(NthOperation, fails_once_and_every_task_comes_to_its_end) {
  for (const Effect effect : {Effect::None, Effect::Done}) {
    // Of these alone the outcome is unknown; any other error says that nothing was done.
    const Cause cause = GetParam().second.cause;
    if (effect == Effect::Done && cause != Cause::Unreachable && cause != Cause::Timeout) continue;
    bool struck = true;
    uint64_t nth = 1;
    for (; struck; ++nth) {
      FailingOperation mutant(nth, effect, GetParam().second);
      const RunResult result = run_once(1, flows, &mutant);
      ASSERT_FALSE(result.failure.has_value())
          << "operation " << nth << (effect == Effect::None ? " not done" : " done") << ", "
          << failure_text(result);
      struck = mutant.struck();
    }
    EXPECT_GT(nth, 20U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Docker, NthOperation,
    testing::Values(
        std::pair("unreachable", OperationError{Cause::Unreachable, "DockerClientConfigError",
                                                "Cannot connect to the Docker daemon"}),
        std::pair("timeout", OperationError{Cause::Timeout, "DockerTimeoutError",
                                            "Docker did not answer in time"}),
        std::pair("other", OperationError{Cause::Other, "ServerError", "Docker has failed"}),
        std::pair("not_found", OperationError{Cause::NotFound, "NotFoundError", "no such thing"})),
    [](const auto& info) { return std::string(info.param.first); });

enum class StoreFault : uint8_t { NotWritten, AnswerLost, Deposed, LoadFails, CampaignFails };

// Fails the nth call of the store.
class FailingStore final : public PassingStore {
 public:
  FailingStore(store::Store& inner, StoreFault fault, uint64_t nth, uint64_t& calls)
      : PassingStore(inner), fault_(fault), nth_(nth), calls_(calls) {}

  base::Result<uint64_t> campaign(std::string_view candidate,
                                  base::Milliseconds patience) override {
    if (fault_ == StoreFault::CampaignFails && strikes()) return broken();
    return PassingStore::campaign(candidate, patience);
  }
  base::Result<std::vector<store::Record>> load() override {
    if (fault_ == StoreFault::LoadFails && strikes()) return broken();
    return PassingStore::load();
  }
  store::CommitOutcome commit(uint64_t epoch, const store::Batch& batch) override {
    using enum store::CommitOutcome;
    const bool first_reload =
        fault_ == StoreFault::LoadFails || fault_ == StoreFault::CampaignFails;
    // Loads and campaigns come after a commit that failed: every third does then.
    if (first_reload) return ++commits_ % 3 == 0 ? Unknown : PassingStore::commit(epoch, batch);
    if (!strikes()) return PassingStore::commit(epoch, batch);
    if (fault_ == StoreFault::AnswerLost) PassingStore::commit(epoch, batch);
    if (fault_ == StoreFault::Deposed) {
      resign(epoch);
      return PassingStore::commit(epoch, batch);
    }
    return Unknown;
  }

 private:
  bool strikes() { return ++calls_ == nth_; }
  static std::unexpected<base::Error> broken() {
    return base::fail("IoError", "The disk does not answer.");
  }

  StoreFault fault_;
  uint64_t nth_;
  uint64_t& calls_;
  uint64_t commits_ = 0;
};

class FailingStoreMutant final : public Mutant {
 public:
  FailingStoreMutant(StoreFault fault, uint64_t nth) : fault_(fault), nth_(nth) {}
  std::unique_ptr<store::Store> around_store(store::Store& inner) override {
    return std::make_unique<FailingStore>(inner, fault_, nth_, calls_);
  }
  bool struck() const { return calls_ >= nth_; }

 private:
  StoreFault fault_;
  uint64_t nth_;
  uint64_t calls_ = 0;
};

class NthStoreCall : public testing::TestWithParam<std::pair<const char*, StoreFault>> {};

TEST_P(NthStoreCall, fails_once_and_nothing_is_lost) {
  bool struck = true;
  uint64_t nth = 1;
  for (; struck; ++nth) {
    FailingStoreMutant mutant(GetParam().second, nth);
    const RunResult result = run_once(1, flows, &mutant);
    ASSERT_FALSE(result.failure.has_value()) << "call " << nth << ", " << failure_text(result);
    struck = mutant.struck();
  }
  EXPECT_GT(nth, 5U);
}

INSTANTIATE_TEST_SUITE_P(Store, NthStoreCall,
                         testing::Values(std::pair("not_written", StoreFault::NotWritten),
                                         std::pair("answer_lost", StoreFault::AnswerLost),
                                         std::pair("deposed", StoreFault::Deposed),
                                         std::pair("load_fails", StoreFault::LoadFails),
                                         std::pair("campaign_fails", StoreFault::CampaignFails)),
                         [](const auto& info) { return std::string(info.param.first); });

}  // namespace
}  // namespace sim
