#include "sim/planted/planted.h"

#include <algorithm>
#include <array>

namespace sim {
namespace {

constexpr std::array all{
    PlantedFault{"reply_before_commit", "a call is answered before its changes are written",
                 "server_restarts", make_reply_before_commit},
    PlantedFault{"dropped_change", "one record of a transaction is left out", "server_restarts",
                 make_dropped_change},
    PlantedFault{"memory_not_stored", "a change is made in memory and not written at all",
                 "server_restarts", make_memory_not_stored},
    PlantedFault{"unknown_taken_for_committed",
                 "a commit whose outcome is unknown counts as written", "server_restarts",
                 make_unknown_taken_for_committed},
    PlantedFault{"fencing_ignored", "a leader that was deposed goes on as if it had written",
                 "server_restarts", make_fencing_ignored},
    PlantedFault{"stale_load", "a reload shows an older value of a record", "server_restarts",
                 make_stale_load},
    PlantedFault{"forgotten_release", "what an agent says of the GPUs of a stopped task is lost",
                 "mixed", make_forgotten_release},
    PlantedFault{"last_status_backwards", "a client is shown PENDING after RUNNING", "mixed",
                 make_last_status_backwards},
    PlantedFault{"forged_reason", "a refusal names another resource than the one that is short",
                 "run_task_storm", make_forged_reason},
    PlantedFault{"double_resend", "a payload is sent to a second agent, too", "mixed",
                 make_double_resend},
    PlantedFault{"swapped_gpu", "a payload names a GPU that was given to another task", "mixed",
                 make_swapped_gpu},
    PlantedFault{"non_idempotent_retry", "a call is repeated with a new clientToken",
                 "server_restarts", make_non_idempotent_retry},
    PlantedFault{"lost_wake_up", "the agent's timer never fires", "mixed", make_lost_wake_up},
    PlantedFault{"ack_without_keeping", "the agent acknowledges a payload and forgets it", "mixed",
                 make_ack_without_keeping},
    PlantedFault{"journal_after_ack", "the agent acknowledges before its journal is written",
                 "agent_churn", make_journal_after_ack},
    PlantedFault{"gpu_proof_forged", "the agent calls a GPU empty without looking", "gpu_failures",
                 make_gpu_proof_forged},
    PlantedFault{"started_again_after_restart",
                 "an agent that restarts takes running containers for new ones", "agent_churn",
                 make_started_again_after_restart},
    PlantedFault{"stale_payload_accepted",
                 "an agent forgets stopped tasks, and an old payload arrives again", "agent_churn",
                 make_stale_payload_accepted},
    PlantedFault{"dropped_report", "the report of a stopped task is never sent", "mixed",
                 make_dropped_report},
    PlantedFault{"stopped_too_early", "the agent reports STOPPED while the containers run", "mixed",
                 make_stopped_too_early},
    PlantedFault{"wrong_exit_code", "a report shows exit code 0 for every container", "mixed",
                 make_wrong_exit_code},
    PlantedFault{"forgets_stopped_task", "a task of a service that has ended is not replaced",
                 "rolling_deployment", make_forgets_stopped_task},
    PlantedFault{"settled_at_once", "a new task counts as healthy as soon as it runs",
                 "rolling_deployment", make_settled_at_once},
    PlantedFault{"stops_before_replacement",
                 "the old tasks of a service stop when the new ones are started",
                 "rolling_deployment", make_stops_before_replacement},
    PlantedFault{"beyond_the_maximum", "more tasks are started than were decided on",
                 "rolling_deployment", make_beyond_the_maximum},
    PlantedFault{"never_looks_again",
                 "after a restart a service is looked at only when something happens",
                 "rolling_deployment", make_never_looks_again},
    PlantedFault{"away_is_lost",
                 "the tasks of an instance whose agent is away for a moment are given up", "drain",
                 make_away_is_lost},
    PlantedFault{"rollback_not_kept", "the circuit breaker trips, and nothing of it is kept",
                 "rolling_deployment", make_rollback_not_kept},
    PlantedFault{"drain_ignored", "the tasks of an instance that is drained stay", "drain",
                 make_drain_ignored},
    PlantedFault{"protection_ignored", "a task that its owner has protected is stopped", "scale_in",
                 make_protection_ignored},
    PlantedFault{"forgotten_scaling", "UpdateService is answered, and the desired count stays",
                 "scale_in", make_forgotten_scaling},
    PlantedFault{"pending_counted_as_running", "DescribeServices counts tasks that do not run yet",
                 "scale_in", make_pending_counted_as_running},
    PlantedFault{"gang_split", "the members of a gang start as there is room for each", "gangs",
                 make_gang_split},
    PlantedFault{"priority_ignored", "the queue starts the oldest, whatever its priority", "queue",
                 make_priority_ignored},
    PlantedFault{"last_come_first_served", "of equal tasks the youngest starts first", "queue",
                 make_last_come_first_served},
    PlantedFault{"share_ignored", "a share that holds much goes before one that holds little",
                 "queue", make_share_ignored},
    PlantedFault{"deadline_forgotten", "nobody looks at the queue when a deadline comes", "queue",
                 make_deadline_forgotten},
    PlantedFault{"waiting_forgotten", "after a restart those who waited before are not looked at",
                 "gangs", make_waiting_forgotten},
    PlantedFault{"one_machine_too_many", "a group launches one machine more than it wants",
                 "machines", make_one_machine_too_many},
    PlantedFault{"ended_with_its_tasks", "a machine ends without waiting for its tasks", "machines",
                 make_ended_with_its_tasks},
    PlantedFault{"launched_anew",
                 "after a restart a launch is asked for as if it had not been before", "machines",
                 make_launched_anew},
    PlantedFault{"list_ignored", "machines that nobody knows of are never looked for", "machines",
                 make_list_ignored},
};

}  // namespace

std::span<const PlantedFault> planted_faults() {
  return all;
}

const PlantedFault* find_planted_fault(std::string_view name) {
  const auto* const found = std::ranges::find(all, name, &PlantedFault::name);
  return found == all.end() ? nullptr : found;
}

}  // namespace sim
