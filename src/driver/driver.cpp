#include "driver/driver.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format.h"

namespace driver {
namespace {

// Below this many keys a batch goes on; one step adds at most a few thousand.
constexpr size_t keys_per_commit = 4000;
constexpr base::Milliseconds recovery_patience{5'000};

}  // namespace

Driver::Driver(store::Store& store, control::Settings settings, uint64_t seed,
               std::string candidate)
    : store_(store),
      settings_(std::move(settings)),
      random_(seed),
      candidate_(std::move(candidate)) {}

base::Result<std::unique_ptr<Driver>> Driver::start(store::Store& store, control::Settings settings,
                                                    uint64_t seed, std::string candidate,
                                                    base::Milliseconds patience, base::Time now) {
  std::unique_ptr<Driver> made(new Driver(store, std::move(settings), seed, std::move(candidate)));
  TRY_VOID(made->lead_and_load(patience, now));
  return made;
}

base::Result<void> Driver::lead_and_load(base::Milliseconds patience, base::Time now) {
  epoch_ = TRY(store_.campaign(candidate_, patience));
  model::ClusterState state;
  for (const store::Record& record : TRY(store_.load())) {
    TRY_VOID(model::load_record(state, record.key, record.value));
  }
  TRY_VOID(model::finish_load(state));
  core_ = std::make_unique<control::Core>(std::move(state), settings_, random_.next(), now);
  needs_load_ = false;
  return {};
}

void Driver::step(control::Input input, base::Time now) {
  control::Output output = core_->step(std::move(input), now);
  for (const model::Change& change : output.changes) {
    model::add_record_keys(core_->state(), change, keys_);
    agent_keys_changed_ = agent_keys_changed_ ||
                          std::holds_alternative<model::AgentKeyPut>(change) ||
                          std::holds_alternative<model::AgentKeyRemoved>(change);
    const auto* const connection = std::get_if<model::AgentConnectionChanged>(&change);
    if (connection != nullptr) connections_.push_back(*connection);
  }
  std::ranges::move(output.replies, std::back_inserter(replies_));
  std::ranges::move(output.messages, std::back_inserter(messages_));
  std::ranges::move(output.closes, std::back_inserter(closes_));
  std::ranges::move(output.machine_orders, std::back_inserter(machine_orders_));
}

bool Driver::commit() {
  // Without a lease nobody else can have taken over: a batch that only read need not ask.
  if (keys_.empty() && !store_.limits().lease) return true;
  store::Batch batch;
  for (const model::RecordKey& key : keys_) {
    if (const auto* const task = std::get_if<model::TaskArn>(&key)) tasks_.push_back(*task);
    if (auto value = model::encode_record(core_->state(), key)) {
      batch.puts.push_back({model::print(key), std::move(*value)});
    } else {
      batch.deletes.push_back(model::print(key));
    }
  }
  keys_.clear();
  return store_.commit(epoch_, batch) == store::CommitOutcome::Committed;
}

void Driver::release(Released& released) {
  released.agent_keys_changed =
      std::exchange(agent_keys_changed_, false) || released.agent_keys_changed;
  std::ranges::move(tasks_, std::back_inserter(released.tasks));
  tasks_.clear();
  std::ranges::move(connections_, std::back_inserter(released.connections));
  connections_.clear();
  std::ranges::move(replies_, std::back_inserter(released.replies));
  std::ranges::move(messages_, std::back_inserter(released.messages));
  std::ranges::move(closes_, std::back_inserter(released.closes));
  std::ranges::move(machine_orders_, std::back_inserter(released.machine_orders));
  replies_.clear();
  messages_.clear();
  closes_.clear();
  machine_orders_.clear();
}

// Drops what was not written. Its callers, and those of the inputs from `first` on, learn that the
// outcome is open.
void Driver::refuse(const std::vector<control::Input>& inputs, size_t first, Released& released) {
  std::string_view cause = store_.last_error().message;
  if (cause.ends_with('.')) cause.remove_suffix(1);
  const base::Error error{
      "ServerException",
      base::format("The state could not be written or read: {}. Whether this call took effect is "
                   "not known; look, then try again.",
                   cause)};
  for (const control::Reply& reply : replies_) {
    released.replies.push_back({reply.id, std::unexpected(error)});
  }
  for (size_t i = first; i < inputs.size(); ++i) {
    if (const auto* const call = std::get_if<control::ApiCall>(&inputs[i])) {
      released.replies.push_back({call->id, std::unexpected(error)});
    }
  }
  connections_.clear();
  tasks_.clear();
  replies_.clear();
  messages_.clear();
  closes_.clear();
  machine_orders_.clear();
  keys_.clear();
  released.messages.clear();
  released.closes.clear();
}

void Driver::load_again(Released& released, base::Time now) {
  needs_load_ = true;
  released.reloaded = true;
  released.reload_cause = store_.last_error().message;
  released.agent_keys_changed = true;
  const auto loaded = lead_and_load(recovery_patience, now);
  if (!loaded) released.out_of_service = loaded.error();
}

Released Driver::turn(std::vector<control::Input> inputs, base::Time now) {
  Released released;
  if (needs_load_) {
    load_again(released, now);
    if (released.out_of_service) {
      refuse(inputs, 0, released);
      return released;
    }
  }
  size_t next = 0;
  bool timer_due = core_->next_timer() <= now;
  while (next < inputs.size() || timer_due) {
    while (next < inputs.size() && keys_.size() < keys_per_commit) {
      step(std::move(inputs[next++]), now);
    }
    if (next == inputs.size() && timer_due) {
      step(control::TimerDue{}, now);
      timer_due = false;
    }
    if (!commit()) {
      refuse(inputs, next, released);
      load_again(released, now);
      return released;
    }
    release(released);
  }
  return released;
}

}  // namespace driver
