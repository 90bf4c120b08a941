#include "sim/world_faults.h"

#include <iterator>
#include <utility>

namespace sim {
namespace {

using std::chrono::seconds;

class Faults {
 public:
  explicit Faults(Victims victims) : victims_(std::move(victims)) {}

  void crash_server() const {
    if (environment().random.chance(50)) {
      return victims_.server.crash_at_commit(environment().random.below(4),
                                             environment().random.chance(50));
    }
    victims_.server.crash("killed");
    start_server_later();
  }
  void lose_server_disk() const {
    victims_.server.lose_disk();
    victims_.server_disk_lost();
    start_server_later();
  }
  void crash_agent() const {
    Agent& agent = some_agent();
    agent.crash("killed");
    start_later(agent);
  }
  void reboot() const {
    Agent& agent = some_agent();
    agent.power_off(false);
    start_later(agent);
  }
  void lose_machine() const {
    Agent& agent = some_agent();
    agent.power_off(true);
    start_later(agent);
  }
  void cut_link() const {
    const base::Milliseconds how_long =
        environment().between(seconds(1), environment().rates.longest_partition);
    const size_t which = environment().random.below(victims_.agents.size() + 1);
    Link& link =
        which == victims_.agents.size() ? victims_.clients.link() : victims_.agents[which]->link();
    environment().tell("network", "the link of {} is cut for {} s", link.name(),
                       how_long.count() / 1000);
    link.cut(how_long);
  }
  void restart_docker() const {
    Agent& agent = some_agent();
    agent.docker_stops(environment().inject(environment().rates.live_restore));
    environment().events.after(
        environment().between(seconds(1), environment().rates.longest_downtime),
        [&agent] { agent.docker_starts(); });
  }
  void drop_gpu() const {
    Agent& agent = some_agent();
    Gpus& gpus = agent.machine().gpus();
    if (gpus.all().empty()) return;
    auto it = gpus.all().begin();
    std::advance(it, static_cast<ptrdiff_t>(environment().random.below(gpus.all().size())));
    gpus.fall_off_the_bus(it->first);
    agent.gpu_changed();
  }
  void deregister() const {
    const model::ClusterState* const state = victims_.server.state();
    if (state == nullptr || state->instances.empty()) return;
    auto it = state->instances.begin();
    std::advance(it, static_cast<ptrdiff_t>(environment().random.below(state->instances.size())));
    if (it->second.status == model::InstanceStatus::Inactive) return;
    victims_.clients.deregister(it->first.str());
  }

  using Strike = void (Faults::*)() const;
  // Again and again, `every` on average. `self` keeps the breaker alive for as long as it strikes.
  static void repeat(const std::shared_ptr<Faults>& self, base::Milliseconds every, Strike strike) {
    if (every.count() == 0) return;
    Environment& environment = self->environment();
    environment.events.after(environment.between(base::Milliseconds{0}, every * 2),
                             [self, every, strike] {
                               if (!self->environment().faults_on) return;
                               (*self.*strike)();
                               repeat(self, every, strike);
                             });
  }

 private:
  Environment& environment() const { return victims_.environment; }
  Agent& some_agent() const {
    return *victims_.agents[environment().random.below(victims_.agents.size())];
  }
  void start_later(Agent& agent) const {
    environment().events.after(
        environment().between(base::Milliseconds{100}, environment().rates.longest_downtime),
        [&agent] { agent.start(); });
  }
  void start_server_later() const {
    Server& server = victims_.server;
    environment().events.after(
        environment().between(base::Milliseconds{100}, environment().rates.longest_downtime),
        [&server] { server.start(); });
  }

  Victims victims_;
};

}  // namespace

void strike_faults(Victims victims) {
  const Rates rates = victims.environment.rates;
  // Shared by all that it has asked for.
  const auto faults = std::make_shared<Faults>(std::move(victims));
  Faults::repeat(faults, rates.server_crash_every, &Faults::crash_server);
  Faults::repeat(faults, rates.server_disk_loss_every, &Faults::lose_server_disk);
  Faults::repeat(faults, rates.agent_crash_every, &Faults::crash_agent);
  Faults::repeat(faults, rates.reboot_every, &Faults::reboot);
  Faults::repeat(faults, rates.machine_loss_every, &Faults::lose_machine);
  Faults::repeat(faults, rates.partition_every, &Faults::cut_link);
  Faults::repeat(faults, rates.docker_restart_every, &Faults::restart_docker);
  Faults::repeat(faults, rates.gpu_fall_every, &Faults::drop_gpu);
  Faults::repeat(faults, rates.deregister_every, &Faults::deregister);
}

}  // namespace sim
