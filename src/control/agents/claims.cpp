#include "control/agents/claims.h"

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/format.h"
#include "control/agents/agent_keys.h"
#include "control/request/errors.h"

namespace control {
namespace {

using GpusByUuid = std::map<std::string_view, model::GpuSlot*>;

bool is_live(const model::ContainerInstance& instance) {
  return instance.status != model::InstanceStatus::Inactive;
}

// Who looks at the holder sees it.
void note_refusal(const Step& step, const std::string& what,
                  const model::ContainerInstance& holder) {
  std::erase_if(step.refused_claims, [&](const auto& entry) {
    return model::find_instance(step.state(), entry.first) == nullptr;
  });
  step.refused_claims.insert_or_assign(
      holder.arn, RefusedClaim{what, step.remote_host, step.caller.access_key_id, step.now});
}

std::unexpected<base::Error> taken(const Step& step, const std::string& what,
                                   const model::ContainerInstance& holder) {
  note_refusal(step, what, holder);
  return client_error(base::format(
      "{} belongs to the container instance {}{}, and this agent's key is not that instance's. If "
      "it is the same machine, installed anew, an operator allows it with `berth token rebind {} "
      "{} "
      "--cluster {}`; otherwise one of the two machines is not what it says.",
      what, holder.arn.str(), is_live(holder) ? "" : ", where it was quarantined",
      model::short_id(holder.arn.str()), step.caller.access_key_id, holder.cluster.str()));
}

base::Result<void> check_empty(const model::ContainerInstance& holder) {
  if (holder.tasks.empty()) return {};
  return client_error(base::format(
      "A GPU of this machine is already registered by container instance {}, which still has "
      "{} task(s). If this machine has lost its data directory, deregister that instance with "
      "--force first.",
      holder.arn.str(), holder.tasks.size()));
}

// The first GPU of `holder` that is claimed as well; nullptr: none that it still holds.
const model::GpuSlot* claimed_gpu(const model::ContainerInstance& holder, const GpusByUuid& mine) {
  for (const model::GpuSlot& gpu : holder.gpus) {
    if (!is_live(holder) && gpu.state != model::GpuState::Quarantined) continue;
    if (mine.contains(gpu.device.uuid)) return &gpu;
  }
  return nullptr;
}

void take_quarantines(const model::ContainerInstance& holder, const GpusByUuid& mine,
                      std::vector<model::GpuCleared>& moved) {
  for (const model::GpuSlot& old : holder.gpus) {
    const auto found = mine.find(old.device.uuid);
    if (found == mine.end() || old.state != model::GpuState::Quarantined) continue;
    model::GpuSlot& gpu = *found->second;
    gpu.state = old.state;
    gpu.reason = old.reason;
    gpu.unproven_tasks = old.unproven_tasks;
    moved.push_back({holder.arn, old.device.uuid});
  }
}

}  // namespace

base::Result<TakenOver> claim_machine(const Step& step, model::ContainerInstance& made) {
  GpusByUuid mine;
  for (model::GpuSlot& gpu : made.gpus) mine.emplace(gpu.device.uuid, &gpu);
  TakenOver over;
  for (const auto& [arn, holder] : step.state().instances) {
    if (arn == made.arn) continue;
    const bool same_machine = is_live(holder) && !made.ec2_instance_id.empty() &&
                              holder.ec2_instance_id == made.ec2_instance_id;
    const model::GpuSlot* const gpu = claimed_gpu(holder, mine);
    if (gpu == nullptr && !same_machine) continue;
    if (!acts_for(step, arn)) {
      return taken(
          step,
          gpu != nullptr ? "GPU " + gpu->device.uuid : "The instance id " + made.ec2_instance_id,
          holder);
    }
    if (gpu == nullptr) continue;
    if (is_live(holder)) {
      TRY_VOID(check_empty(holder));
      over.left_behind.push_back(arn);
    } else {
      take_quarantines(holder, mine, over.quarantines);
    }
  }
  return over;
}

}  // namespace control
