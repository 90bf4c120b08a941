#include "sim/checkers/checkers.h"

#include <utility>

#include "sim/world.h"

namespace sim {

void Checker::fail(std::string sentence) {
  world_.environment().fail(name(), std::move(sentence));
}

std::vector<std::unique_ptr<Checker>> make_checkers(World& world) {
  std::vector<std::unique_ptr<Checker>> checkers;
  for (const auto make : {make_double_booking,    make_gpu_proof,          make_acknowledged,
                          make_one_run,           make_forward_only,       make_memory_is_store,
                          make_true_reasons,      make_true_status,        make_agreement,
                          make_nothing_held,      make_services_minimum,   make_services_protected,
                          make_services_kept,     make_services_records,   make_services_converge,
                          make_gangs_whole,       make_queue_fair,         make_queue_kept,
                          make_queue_moves,       make_groups_bounded,     make_machines_drained,
                          make_machines_kept,     make_secrets_honest,     make_secrets_kept,
                          make_task_sets_bounded, make_task_sets_converge, make_task_sets_kept,
                          make_task_sets_primary}) {
    checkers.push_back(make(world));
  }
  return checkers;
}

}  // namespace sim
