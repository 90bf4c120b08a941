#include "sim/rates.h"

namespace sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class Draw {
 public:
  explicit Draw(base::Random& random) : random_(random) {
    // A calm run has few kinds of faults, a wild one most of them.
    static constexpr uint32_t kinds_percent[] = {15, 40, 60, 85};
    percent_ = kinds_percent[random_.below(4)];
  }

  // 0, or something up to `most`.
  uint32_t up_to(uint32_t most) {
    return random_.chance(percent_) ? 1 + static_cast<uint32_t>(random_.below(most)) : 0;
  }
  // 0 (never), or between `least` and four times that.
  base::Milliseconds every(base::Milliseconds least) {
    if (!random_.chance(percent_)) return base::Milliseconds{0};
    return least + base::Milliseconds{random_.below(3 * static_cast<uint64_t>(least.count()))};
  }
  base::Milliseconds longest(base::Milliseconds least, base::Milliseconds most) {
    return least + base::Milliseconds{random_.below(static_cast<uint64_t>((most - least).count()))};
  }

 private:
  base::Random& random_;
  uint32_t percent_;
};

}  // namespace

Rates draw_rates(base::Random& random) {
  Draw draw(random);
  Rates rates;
  rates.loss = draw.up_to(60);
  rates.duplicate = draw.up_to(60);
  rates.reorder = draw.up_to(60);
  rates.longest_delay = draw.longest(base::Milliseconds{2}, seconds(2));
  rates.partition_every = draw.every(seconds(40));
  rates.longest_partition = draw.longest(seconds(5), minutes(3));

  rates.server_crash_every = draw.every(seconds(30));
  rates.server_disk_loss_every = random.chance(4) ? draw.every(minutes(3)) : base::Milliseconds{0};
  rates.agent_crash_every = draw.every(seconds(20));
  rates.reboot_every = draw.every(minutes(2));
  rates.machine_loss_every = draw.every(minutes(3));
  rates.deregister_every = draw.every(minutes(3));
  rates.longest_downtime = draw.longest(seconds(1), minutes(2));
  rates.drift_ppm = draw.up_to(500);
  rates.longest_clock_offset = base::Milliseconds{draw.up_to(30'000)};
  rates.clock_step = draw.up_to(500);

  rates.store.commit_not_written = draw.up_to(5);
  rates.store.commit_written = draw.up_to(5);
  rates.store.commit_late = draw.up_to(5);
  rates.store.lost_leadership = draw.up_to(4);
  rates.store.campaign_fails = draw.up_to(20);
  rates.store.load_fails = draw.up_to(20);
  rates.journal_fails = draw.up_to(8);

  rates.operation_fails = draw.up_to(40);
  rates.operation_unsure = draw.up_to(40);
  rates.docker_restart_every = draw.every(minutes(1));
  rates.live_restore = random.chance(50) ? 1000 : 0;
  rates.start_untrue = draw.up_to(30);
  rates.docker_forgets = draw.up_to(300);

  rates.slow_pull = draw.up_to(400);
  rates.never_pull = draw.up_to(60);
  rates.ignores_term = draw.up_to(300);
  rates.hangs = draw.up_to(80);
  rates.fails_to_start = draw.up_to(60);
  rates.opens_gpus_late = draw.up_to(600);
  rates.longest_life = draw.longest(seconds(5), minutes(4));

  rates.launch_fails = draw.up_to(200);
  rates.end_fails = draw.up_to(200);
  rates.list_fails = draw.up_to(200);
  rates.provider_unsure = draw.up_to(200);
  rates.never_joins = draw.up_to(150);
  rates.longest_boot = draw.longest(seconds(5), minutes(1));
  rates.longest_unlisted = base::Milliseconds{draw.up_to(40'000)};

  rates.gpu_fall_every = draw.every(minutes(1));
  rates.vram_lingers = draw.up_to(400);
  rates.vram_lingers_long = draw.up_to(60);
  return rates;
}

}  // namespace sim
