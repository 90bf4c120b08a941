// How often what goes wrong in one run. Each seed draws its own: some runs are nearly calm, in some
// everything fails at once, in most a few kinds of faults come together.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/time.h"
#include "store/faulty/faulty_store.h"

namespace sim {

// Chances in thousandths of each occasion; times are means between two occurrences over the whole
// system, 0: never.
struct Rates {
  // Network, per message or call and direction.
  uint32_t loss = 0;
  uint32_t duplicate = 0;
  uint32_t reorder = 0;
  base::Milliseconds longest_delay{5};
  base::Milliseconds partition_every{0};
  base::Milliseconds longest_partition{0};

  // Processes and machines.
  base::Milliseconds server_crash_every{0};
  base::Milliseconds server_disk_loss_every{0};
  base::Milliseconds agent_crash_every{0};
  base::Milliseconds reboot_every{0};
  base::Milliseconds machine_loss_every{0};  // It comes back reinstalled: without its disk.
  base::Milliseconds deregister_every{0};    // By an operator, with force, whatever runs there.
  base::Milliseconds longest_downtime{20'000};
  int64_t drift_ppm = 0;
  base::Milliseconds longest_clock_offset{0};
  uint32_t clock_step = 0;  // Per start of a process: its clock is set anew, back as well.

  // The store, in percent as FaultyStore wants it, and the agents' journals.
  store::Faults store = {};
  uint32_t journal_fails = 0;

  // Docker, per operation.
  uint32_t operation_fails = 0;
  uint32_t operation_unsure = 0;  // It times out; half of them were done all the same.
  base::Milliseconds docker_restart_every{0};
  uint32_t live_restore = 0;  // Containers live on through dockerd's restart.
  // Docker's answer and the truth disagree: per start, answered with an error though the program
  // runs; per container and restart of dockerd, which takes one that runs for ended, or the
  // reverse.
  uint32_t start_untrue = 0;
  uint32_t docker_forgets = 0;

  // Images and containers.
  uint32_t slow_pull = 0;
  uint32_t never_pull = 0;
  uint32_t ignores_term = 0;
  uint32_t hangs = 0;  // Even SIGKILL takes a while.
  uint32_t fails_to_start = 0;
  uint32_t opens_gpus_late = 0;  // Some seconds after its start: no device shows it until then.
  base::Milliseconds longest_life{120'000};

  // The provider of machines, per call.
  uint32_t launch_fails = 0;
  uint32_t end_fails = 0;
  uint32_t list_fails = 0;
  uint32_t provider_unsure = 0;  // It was done, and the answer says that it was not.
  uint32_t never_joins = 0;      // Per machine that was launched.
  base::Milliseconds longest_boot{20'000};
  base::Milliseconds longest_unlisted{0};  // From a machine's launch until it is listed.

  uint32_t secret_calls_fail = 0;  // Of the secret store, per call; half of them were done.

  // GPUs.
  base::Milliseconds gpu_fall_every{0};
  uint32_t vram_lingers = 0;       // For some seconds after the process died.
  uint32_t vram_lingers_long = 0;  // For longer than the agent waits.
};

Rates draw_rates(base::Random& random);

}  // namespace sim
