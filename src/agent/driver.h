// The agent's own thread: the core's inputs come in through its queue, what the core wants is
// written to the journal first and done then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/agent.h"
#include "agent/control_link.h"
#include "agent/core/core.h"
#include "agent/image_cleanup.h"
#include "agent/input.h"
#include "agent/journal.h"
#include "agent/metadata_server.h"
#include "agent/operations.h"
#include "agent/task_credentials.h"
#include "agent/telemetry.h"
#include "base/onward_clock.h"

namespace agent {

class Driver {
 public:
  struct Parts {
    const AgentOptions& options;
    const Machine& machine;
    DockerAccess docker;
    ApiClient& api;
    net::Loop& loop;
    Inbox& inbox;
    base::Clock& clock;
    std::unique_ptr<Journal> journal;
    std::unique_ptr<GpuAccess> gpus;
    MetadataServer& metadata;
  };
  // Reads the journal. Errors: those of Core::create and of the journal.
  static base::Result<std::unique_ptr<Driver>> create(Parts parts, core::Config config);

  // Begins to take from the inbox, on a thread of its own.
  void start();
  // After the inbox was closed: waits until all of it is dealt with and all threads have ended.
  void stop();

 private:
  // What an earlier process has left in the journal, beside the core's records.
  struct Kept {
    std::map<LogKey, LogPosition> log_positions;
    std::optional<GpuBaselines> baselines;
    ImageUses image_uses;
  };
  Driver(Parts parts, core::Core core, Kept kept);
  void run();
  bool run_once();
  base::Milliseconds until_next(base::Time now) const;

  void take(Input input, base::Time now);
  void step(core::Input input, base::Time now);
  void take_status(const StatusAsked& asked);
  void note_docker(const core::Input& input);
  void look_at_gpus(base::Time now);
  void take_gpu_look(GpusLookedAt seen, base::Time now);
  void look_at_containers(base::Time now);
  void take_metadata(MetadataAsked asked);
  void find_endpoints(const core::OperationDone& done);
  void find_endpoint(const core::ContainerInfo& info);
  void drop_endpoints();

  base::Result<void> commit(base::Time now);
  void release(base::Time now);
  void begin(core::Operation operation);
  void answer_stopped();
  void fail(const base::Error& error);

  base::OnwardClock clock_;  // What is due does not wait for a clock that was set back.
  Inbox& inbox_;
  const AgentOptions& options_;
  const Machine& machine_;
  std::unique_ptr<Journal> journal_;
  core::Core core_;
  ControlLink link_;
  Operations operations_;
  TaskCredentials credentials_;
  MetadataServer& metadata_;
  ImageCleanup cleanup_;
  gpu::Inventory gpus_;
  std::vector<GpuFigures> gpu_figures_;  // Of the last look.
  ContainerMeter container_meter_;
  Telemetry telemetry_;

  std::vector<core::Output> outputs_;  // Of the batch; held back until it is in the journal.
  base::Time core_wake_at_ = base::Time::min();
  std::map<LogKey, LogPosition> log_positions_;
  std::map<LogKey, std::optional<LogPosition>> unwritten_positions_;
  base::Time positions_due_ = base::Time::max();
  base::Time gpu_look_due_ = base::Time::min();
  base::Time container_look_due_ = base::Time::min();
  std::optional<std::string> baselines_to_write_;
  std::vector<StopAllAsked> stop_all_;
  bool registered_ = false;
  std::jthread thread_;  // Last: it uses the rest.
};

}  // namespace agent
