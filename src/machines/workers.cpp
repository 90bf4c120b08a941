#include "machines/workers.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/log.h"

namespace machines {
namespace {

constexpr size_t most_at_once = 1'000;
constexpr std::string_view cancelled = "Cancelled";

}  // namespace

MachineWorkers::MachineWorkers(base::Clock& clock, Report report, WorkersOptions options)
    : clock_(clock), report_(std::move(report)), options_(options) {}

MachineWorkers::~MachineWorkers() {
  stop();
}

void MachineWorkers::start(std::unique_ptr<MachineProvider> provider) {
  CHECK(provider_ == nullptr && provider != nullptr);
  provider_ = std::move(provider);
  threads_.emplace_back([this] { dispatch(); });
  for (size_t i = 0; i < options_.workers; ++i) threads_.emplace_back([this] { work(); });
}

void MachineWorkers::stop() {
  inbox_.close();
  works_.close();
  if (provider_ != nullptr) provider_->cancel();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  provider_.reset();
}

std::string MachineWorkers::key_of(const Work& work) {
  if (std::holds_alternative<ListMachines>(work)) return "list";
  const auto& order = std::get<control::MachineOrder>(work);
  if (const auto* const launch = std::get_if<control::LaunchMachine>(&order)) {
    return "launch " + launch->token;
  }
  return "terminate " + std::get<control::TerminateMachine>(order).id;
}

void MachineWorkers::hand_out(Work work) {
  if (under_way_.insert(key_of(work)).second) works_.push(std::move(work));
}

void MachineWorkers::dispatch() {
  base::Milliseconds next_list = clock_.monotonic();
  while (!inbox_.closed()) {
    if (next_list <= clock_.monotonic()) {
      hand_out(ListMachines{});
      next_list = clock_.monotonic() + provider_->list_times().interval;
    }
    const auto wait = std::max(base::Milliseconds{0}, next_list - clock_.monotonic());
    for (auto& item : inbox_.pop_batch(most_at_once, wait)) {
      if (auto* const order = std::get_if<control::MachineOrder>(&item)) {
        hand_out(std::move(*order));
        continue;
      }
      auto& done = std::get<Done>(item);
      under_way_.erase(done.key);
      if (done.report) report_(std::move(*done.report));
    }
  }
}

void MachineWorkers::work() {
  while (auto work = works_.pop()) {
    if (works_.closed()) return;
    Done done{.key = key_of(*work), .report = perform(*work)};
    inbox_.push(std::move(done));
  }
}

std::optional<control::MachineReport> MachineWorkers::perform(const Work& work) {
  if (std::holds_alternative<ListMachines>(work)) return perform_list();
  return std::visit([this](const auto& order) { return perform_one(order); },
                    std::get<control::MachineOrder>(work));
}

std::optional<control::MachineReport> MachineWorkers::perform_one(
    const control::LaunchMachine& order) {
  if (order.again) {
    const auto listed = provider_->list();
    if (!listed && listed.error().code == cancelled) return std::nullopt;
    if (!listed) {
      return control::MachineNotLaunched{
          order.token, base::format("Whether the machine was launched before is not known: {}",
                                    listed.error().message)};
    }
    const auto found = std::ranges::find(*listed, order.token, &control::ListedMachine::token);
    if (found != listed->end()) return control::MachineLaunched{order.token, found->id};
  }
  auto launched = provider_->launch(order);
  if (launched) {
    base::log_info("group {}: launched {} {}", order.group, order.instance_type, *launched);
    return control::MachineLaunched{order.token, std::move(*launched)};
  }
  if (launched.error().code == cancelled) return std::nullopt;
  base::log_warning("group {}: {} could not be launched: {}", order.group, order.instance_type,
                    launched.error().message);
  return control::MachineNotLaunched{order.token, launched.error().message};
}

std::optional<control::MachineReport> MachineWorkers::perform_one(
    const control::TerminateMachine& order) {
  const auto terminated = provider_->terminate(order);
  if (terminated) {
    base::log_info("group {}: ended {}", order.group, order.id);
    return control::MachineTerminated{order.id};
  }
  if (terminated.error().code == cancelled) return std::nullopt;
  base::log_warning("group {}: {} could not be ended: {}", order.group, order.id,
                    terminated.error().message);
  return control::MachineNotTerminated{order.id, terminated.error().message};
}

std::optional<control::MachineReport> MachineWorkers::perform_list() {
  const base::Time asked_at = clock_.now();
  auto listed = provider_->list();
  if (listed) {
    return control::MachinesListed{asked_at, std::move(*listed),
                                   provider_->list_times().listed_after};
  }
  if (listed.error().code != cancelled && listed.error().code != "NoMachineProvider") {
    base::log_warning("the machines of groups could not be listed: {}", listed.error().message);
  }
  return std::nullopt;
}

}  // namespace machines
