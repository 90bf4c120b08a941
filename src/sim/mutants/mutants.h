// The mutants: mutations of the real system that the checkers have to catch. They prove that
// the checkers can fail.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "sim/mutants/mutant.h"
#include "sim/workloads/workload.h"

namespace sim {

struct MutantKind {
  std::string_view name;      // "reply_before_commit"
  std::string_view what;      // The mistake that it stands for.
  std::string_view workload;  // In which it shows soonest.
  std::unique_ptr<Mutant> (*make)();
};

std::span<const MutantKind> all_mutants();
// nullptr when there is none of that name.
const MutantKind* find_mutant(std::string_view name);

// In the store.
std::unique_ptr<Mutant> make_reply_before_commit();
std::unique_ptr<Mutant> make_dropped_change();
std::unique_ptr<Mutant> make_memory_not_stored();
std::unique_ptr<Mutant> make_unknown_taken_for_committed();
std::unique_ptr<Mutant> make_fencing_ignored();
std::unique_ptr<Mutant> make_stale_load();
// Around the driver.
std::unique_ptr<Mutant> make_forgotten_release();
std::unique_ptr<Mutant> make_last_status_backwards();
std::unique_ptr<Mutant> make_forged_reason();
// In the transport and the clients.
std::unique_ptr<Mutant> make_double_resend();
std::unique_ptr<Mutant> make_swapped_gpu();
std::unique_ptr<Mutant> make_non_idempotent_retry();
// Around what decides about services.
std::unique_ptr<Mutant> make_forgets_stopped_task();
std::unique_ptr<Mutant> make_settled_at_once();
std::unique_ptr<Mutant> make_stops_before_replacement();
std::unique_ptr<Mutant> make_beyond_the_maximum();
std::unique_ptr<Mutant> make_never_looks_again();
std::unique_ptr<Mutant> make_away_is_lost();
std::unique_ptr<Mutant> make_rollback_not_kept();
std::unique_ptr<Mutant> make_drain_ignored();
std::unique_ptr<Mutant> make_protection_ignored();
std::unique_ptr<Mutant> make_forgotten_scaling();
std::unique_ptr<Mutant> make_pending_counted_as_running();
// Around what decides about the queue and about groups of machines.
std::unique_ptr<Mutant> make_gang_split();
std::unique_ptr<Mutant> make_priority_ignored();
std::unique_ptr<Mutant> make_last_come_first_served();
std::unique_ptr<Mutant> make_share_ignored();
std::unique_ptr<Mutant> make_deadline_forgotten();
std::unique_ptr<Mutant> make_waiting_forgotten();
std::unique_ptr<Mutant> make_one_machine_too_many();
std::unique_ptr<Mutant> make_ended_with_its_tasks();
std::unique_ptr<Mutant> make_launched_anew();
std::unique_ptr<Mutant> make_list_ignored();
// Around what decides about task sets.
std::unique_ptr<Mutant> make_deleted_set_leaves_tasks();
std::unique_ptr<Mutant> make_scale_rounded_down();
std::unique_ptr<Mutant> make_one_more_than_the_scale();
std::unique_ptr<Mutant> make_second_primary();
std::unique_ptr<Mutant> make_forgotten_task_set_scale();
// In what agents do with secrets, and in the keys for that.
std::unique_ptr<Mutant> make_secret_left_out();
std::unique_ptr<Mutant> make_stale_secret();
std::unique_ptr<Mutant> make_secret_in_reason();
std::unique_ptr<Mutant> make_false_secret_reason();
std::unique_ptr<Mutant> make_role_keys_sent_once();
// In the agent.
std::unique_ptr<Mutant> make_lost_wake_up();
std::unique_ptr<Mutant> make_ack_without_keeping();
std::unique_ptr<Mutant> make_journal_after_ack();
std::unique_ptr<Mutant> make_gpu_proof_forged();
std::unique_ptr<Mutant> make_docker_believed();
std::unique_ptr<Mutant> make_started_again_after_restart();
std::unique_ptr<Mutant> make_stale_payload_accepted();
std::unique_ptr<Mutant> make_dropped_report();
std::unique_ptr<Mutant> make_stopped_too_early();
std::unique_ptr<Mutant> make_wrong_exit_code();

}  // namespace sim
