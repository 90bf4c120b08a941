// Carries out the core's operations on threads of their own, since they block, and tells the driver
// what became of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/agent.h"
#include "agent/api_client.h"
#include "agent/container_setup.h"
#include "agent/core/core.h"
#include "agent/gpu_access.h"
#include "agent/input.h"
#include "agent/task_protection.h"
#include "agent/workers.h"
#include "base/time.h"

namespace agent {

// Belongs to the driver's thread. `docker`, `api`, `inbox` and `clock` outlive it.
class Operations {
 public:
  struct Parts {
    DockerAccess docker;
    ApiClient& api;
    Inbox& inbox;
    base::Clock& clock;
    std::unique_ptr<GpuAccess> gpus;
    const AgentOptions& options;
  };
  explicit Operations(Parts parts);

  // What an operation needs beside its request.
  struct Context {
    // Of StartContainer: where the container's output goes; the stream is made before the start.
    std::optional<core::ShipLogs> logs = {};
    LogPosition log_position = {};  // Of ShipLogs.
    // Of StartContainer: the task, when the container gets a metadata endpoint in its network.
    std::string endpoint_of = {};
    // Of CreateContainer and PullImage: the keys of the task's execution role.
    Keys keys = {};
  };
  // Answered by OperationDone.
  void begin(core::Operation operation, Context context);
  // The second half of a CreateContainer.
  void on_gpu_setup(GpuSetupDone done);
  // Breaks a pull off.
  void cancel(core::OperationId id);
  // Ends the shipping of its output and removes what was made for it beside its containers.
  void forget_task(const std::string& arn);
  void on_done(core::OperationId id) { stops_.erase(id); }

  // Answered by GpusFound. `baselines`: those of an earlier process, whose tasks may still be on
  // the GPUs; nullopt: what is there now is the baseline.
  void find_gpus(std::optional<GpuBaselines> baselines);
  // Answered by CleanupDone.
  void clean_up(CleanupRequest request);

  // Answered by MetadataSocket: one in the network of a container that runs already.
  void open_endpoint(const std::string& task_arn, const std::string& runtime_id, int64_t pid);
  // Answers the request; first by GpuFiguresDone where there are GPUs.
  void answer_stats(StatsWanted wanted, net::Responder responder);
  void on_gpu_figures(GpuFiguresDone done);
  // Answer the request with what the control plane says.
  void answer_tags(TagsWanted wanted, net::Responder responder);
  void answer_protection(ProtectionWanted wanted, net::Responder responder);

  // Answered by GpusLookedAt: what happened to the GPUs, and the figures of these.
  void look_at_gpus(std::vector<std::string> uuids);
  // Answered by ContainersLookedAt: what these containers, by runtime_id, have used.
  void look_at_containers(std::vector<std::string> running);

  // After stop(): no container shares a GPU.
  void stop_gpu_sharing() { parts_.gpus->stop_sharing(); }

  // Waits for what is under way; nothing is answered any more once `inbox` is closed.
  void stop();

 private:
  struct Stop {
    std::stop_source source;
    std::string task_arn;
  };
  std::stop_token token_for(core::OperationId id, std::string task_arn);
  void call(Workers& workers, core::Operation operation);
  void pull(core::Operation operation, Keys keys, std::stop_token stop);
  SetupResult<docker::RegistryAuth> log_in(const acs::RegistryAuthentication& registry,
                                           const Keys& keys);
  docker::OnPullProgress tell_progress(core::OperationId id);
  void create(core::Operation operation, Keys keys);
  SetupParts setup_parts() const;
  void start_container(core::Operation operation, Context context);
  void ship(core::Operation operation, LogPosition position);

  Parts parts_;
  std::map<core::OperationId, Stop> stops_;
  Workers gpu_{1};  // The one thread that touches parts_.gpus.
  Workers quick_{8};
  Workers asked_{4};  // What tasks ask of their endpoints: it keeps nothing else waiting.
  Workers slow_stops_{64};
  Workers pulls_{4};
  Workers logs_{4096};
};

}  // namespace agent
