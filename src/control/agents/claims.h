// What of the physical world belongs to which container instance: GPUs, by UUID, and the machine,
// by its instance id. Nobody proves either, so both belong to the key that registered them first.
#pragma once

#include <vector>

#include "base/result.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

// What a registration takes over from instances that its machine has left behind.
struct TakenOver {
  std::vector<model::InstanceArn> left_behind;  // Nothing runs there: they are deregistered.
  std::vector<model::GpuCleared> quarantines;   // They move with their reason.
};

// Whether the instance that is about to be registered may have its GPUs and its machine's id. A
// GPU belongs to the instance that has it, and where it was quarantined there, even after that one
// was deregistered; an instance id belongs to the instance that has it. Only a full key, or the
// instance's own key, takes them over; a machine that was installed anew gets such a key by
// `berth token rotate` or `berth token rebind`. Quarantines that come along are put into `made`.
// A refused claim is noted in step.refused_claims. Cost: O(GPUs of all instances).
// Errors: ClientException, which names the holder and the fix.
base::Result<TakenOver> claim_machine(const Step& step, model::ContainerInstance& made);

}  // namespace control
