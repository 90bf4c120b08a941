// All checkers.
#pragma once

#include <memory>
#include <vector>

#include "sim/checkers/checker.h"

namespace sim {

std::unique_ptr<Checker> make_double_booking(World& world);
std::unique_ptr<Checker> make_gpu_proof(World& world);
std::unique_ptr<Checker> make_acknowledged(World& world);
std::unique_ptr<Checker> make_one_run(World& world);
std::unique_ptr<Checker> make_forward_only(World& world);
std::unique_ptr<Checker> make_memory_is_store(World& world);
std::unique_ptr<Checker> make_true_reasons(World& world);
std::unique_ptr<Checker> make_true_status(World& world);
std::unique_ptr<Checker> make_agreement(World& world);
std::unique_ptr<Checker> make_nothing_held(World& world);
std::unique_ptr<Checker> make_services_minimum(World& world);
std::unique_ptr<Checker> make_services_protected(World& world);
std::unique_ptr<Checker> make_services_kept(World& world);
std::unique_ptr<Checker> make_services_records(World& world);
std::unique_ptr<Checker> make_services_converge(World& world);
std::unique_ptr<Checker> make_gangs_whole(World& world);
std::unique_ptr<Checker> make_queue_fair(World& world);
std::unique_ptr<Checker> make_queue_kept(World& world);
std::unique_ptr<Checker> make_queue_moves(World& world);
std::unique_ptr<Checker> make_groups_bounded(World& world);
std::unique_ptr<Checker> make_machines_drained(World& world);
std::unique_ptr<Checker> make_machines_kept(World& world);
std::unique_ptr<Checker> make_secrets_honest(World& world);
std::unique_ptr<Checker> make_secrets_kept(World& world);
std::unique_ptr<Checker> make_task_sets_bounded(World& world);
std::unique_ptr<Checker> make_task_sets_converge(World& world);
std::unique_ptr<Checker> make_task_sets_kept(World& world);
std::unique_ptr<Checker> make_task_sets_primary(World& world);

std::vector<std::unique_ptr<Checker>> make_checkers(World& world);

}  // namespace sim
