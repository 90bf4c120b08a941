// The agent's journal: small named records, all of which Core::create() reads again.
//
//   agent             AgentRecord
//   payload/<ARN>     the task's payload as it came, without keys
//   task/<ARN>        TaskRecord
//   stopped/<ARN>     RememberedRecord: a task that was cleaned up and must not start again
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/core/core.h"
#include "agent/core/state.h"
#include "base/result.h"

namespace agent::core {

struct AgentRecord {
  std::string cluster;
  std::string container_instance_arn;
  int64_t highest = 0;  // acs::AgentProgress.
};
API_DESCRIBED(AgentRecord);

struct RememberedRecord {
  base::Time until{};
};
API_DESCRIBED(RememberedRecord);

JournalWrite agent_write(const State& state);
JournalWrite payload_write(const acs::Task& payload);
JournalWrite remembered_write(const std::string& arn, base::Time until);
JournalWrite forget_write(std::string_view kind, const std::string& arn);  // "payload", ...
std::string task_key(const std::string& arn);
// The record's text without what may be lost: a change of only that is not worth a write of its
// own, and goes along with the next.
std::string essence_of(TaskRecord record);

// Errors: "JournalCorrupt" naming the key, "JournalOfAnotherCluster".
base::Result<void> load_journal(State& state, const std::vector<JournalRecord>& records,
                                base::Time now);

}  // namespace agent::core
