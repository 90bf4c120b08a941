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
void Plant::on_the_wire(std::vector<control::ToAgent>&) {}
void Plant::retried(api::ecs::RunTaskRequest&) {}

}  // namespace sim
