#include "reconcile/machines/draining.h"

#include <algorithm>

namespace reconcile::machines {

bool is_drained(const model::Machine& machine, const Look& look, const Options& options,
                base::Time now, base::Time& wake) {
  if (look.instance == nullptr || !look.busy) return true;
  // What a service had on a machine that does not answer counts as replaced.
  if (!look.has_standalone_tasks && look.lost_at <= now) return true;
  const base::Time at_the_latest = machine.changed_at + options.drain_within;
  if (at_the_latest <= now) return true;
  wake = std::min(wake, at_the_latest);
  if (!look.has_standalone_tasks && look.lost_at > now) wake = std::min(wake, look.lost_at);
  return false;
}

}  // namespace reconcile::machines
