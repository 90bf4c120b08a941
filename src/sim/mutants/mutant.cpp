#include "sim/mutants/mutant.h"

namespace sim {

std::unique_ptr<store::Store> Mutant::around_store(store::Store&) {
  return nullptr;
}
void Mutant::into_driver(std::vector<control::Input>&) {}
void Mutant::out_of_driver(driver::Released&, base::Time) {}
reconcile::Decisions Mutant::decide(const reconcile::Input& input, base::Random& random) {
  return reconcile::reconcile(input, random);
}
reconcile::queue::Outcome Mutant::decide_queue(
    const reconcile::queue::Input& environment,
    const std::vector<reconcile::queue::WaitingTask>& tasks, base::Time now,
    const reconcile::queue::Settings& settings) {
  return reconcile::queue::run(environment, tasks, now, settings);
}
reconcile::machines::GroupDecisions Mutant::decide_group(
    const reconcile::machines::GroupInput& input) {
  return reconcile::machines::decide_group(input);
}
bool Mutant::into_agent(const std::string&, agent::core::Input&) {
  return true;
}
void Mutant::out_of_agent(const std::string&, agent::core::Output&) {}
void Mutant::journal_read(const std::string&, std::vector<agent::core::JournalRecord>&) {}
bool Mutant::delays_journal(const std::string&) {
  return false;
}
std::optional<agent::core::OperationError> Mutant::fails(const std::string&,
                                                         const agent::core::Operation&) {
  return std::nullopt;
}
void Mutant::completed(agent::core::CreateContainer&) {}
void Mutant::on_the_wire(std::vector<control::ToAgent>&) {}
void Mutant::retried(api::ecs::RunTaskRequest&) {}

}  // namespace sim
