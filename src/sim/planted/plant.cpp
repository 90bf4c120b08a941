#include "sim/planted/plant.h"

namespace sim {

std::unique_ptr<store::Store> Plant::around_store(store::Store&) {
  return nullptr;
}
void Plant::into_driver(std::vector<control::Input>&) {}
void Plant::out_of_driver(driver::Released&, base::Time) {}
reconcile::Decisions Plant::decide(const reconcile::Situation& situation, base::Random& random) {
  return reconcile::reconcile(situation, random);
}
reconcile::queue::Outcome Plant::decide_queue(
    const reconcile::queue::Ground& ground, const std::vector<reconcile::queue::WaitingTask>& tasks,
    base::Time now, const reconcile::queue::Settings& settings) {
  return reconcile::queue::run(ground, tasks, now, settings);
}
reconcile::machines::GroupDecisions Plant::keep_group(
    const reconcile::machines::GroupSituation& situation) {
  return reconcile::machines::keep_group(situation);
}
bool Plant::into_agent(const std::string&, agent::core::Input&) {
  return true;
}
void Plant::out_of_agent(const std::string&, agent::core::Output&) {}
void Plant::journal_read(const std::string&, std::vector<agent::core::JournalRecord>&) {}
bool Plant::delays_journal(const std::string&) {
  return false;
}
std::optional<agent::core::OperationError> Plant::fails(const std::string&,
                                                        const agent::core::Operation&) {
  return std::nullopt;
}
void Plant::completed(agent::core::CreateContainer&) {}
void Plant::on_the_wire(std::vector<control::ToAgent>&) {}
void Plant::retried(api::ecs::RunTaskRequest&) {}

}  // namespace sim
