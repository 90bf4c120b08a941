// The agent of one container instance: registers the machine, runs the tasks that the control plane
// sends, reports what becomes of them and ships their output.
//
// What it decides is in agent/core; this folder does it: Docker, GPUs, the control plane's API, its
// websockets, the journal. Threads talk through queues; the driver's thread owns the Core.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/container_processes.h"
#include "agent/core/config.h"
#include "base/result.h"
#include "base/time.h"
#include "docker/runtime.h"
#include "gpu/devices.h"
#include "net/tls.h"

namespace agent {

// What leaves the machine by itself. Source: ECS Developer Guide, "Automated task and image
// cleanup"; its defaults.
struct CleanupPolicy {
  bool images = true;
  base::Milliseconds interval = std::chrono::minutes(30);
  base::Milliseconds minimum_image_age = std::chrono::hours(1);  // Since it was last used.
  size_t most_images = 5;                                        // A turn.
  // A disk with Docker's data that is fuller lets all go that nobody uses; 0: never.
  int disk_percent = 85;
};

// Keys of AWS itself, for images of Amazon ECR; empty: such images cannot be pulled.
struct EcrAccess {
  std::string access_key_id = {};
  std::string secret_access_key = {};
  std::string session_token = {};  // Empty for a long-lived key.
  std::string endpoint = {};       // Empty: Amazon ECR in the registry's region.
};

struct AgentOptions {
  // "http://127.0.0.1:7117". Several are the replicas of one control plane: the next one is tried
  // when one does not answer.
  std::vector<std::string> server_urls = {};
  std::string access_key_id = {};
  std::string secret_access_key = {};
  std::string session_token = {};  // Empty for a long-lived key.
  // Of the server, where other machines reach it. Empty: there too.
  std::string advertised_url = {};
  net::TlsClientOptions tls = {};
  std::string region = "us-east-1";
  std::string cluster = "default";

  // The agent's own directory, made with mode 0700 if absent: agent.db (journal, identity, log
  // positions). One agent per directory.
  std::filesystem::path data_dir = {};
  // data_dir was used on another machine, and this one takes its place. See machine_identity.h.
  bool adopt_data = false;
  // Tells this agent's containers from those of other agents on the same Docker. Empty: the
  // instance id, which is kept in data_dir.
  std::string agent_name = {};

  // Of the machine, as its Auto Scaling group knows it (ec2InstanceId). Empty: made the first time.
  // It is kept in data_dir and does not change.
  std::string instance_id = {};
  // Attribute ecs.instance-type. Empty: the emulated type, or one made from the GPUs' model.
  std::string instance_type = {};
  std::string emulated_instance_type = {};             // "p3.8xlarge"; empty: the machine itself.
  std::string availability_zone = {};                  // Empty: the region and "a".
  std::map<std::string, std::string> attributes = {};  // Custom ones, registered with the rest.
  // 0: those of the emulated type, or the machine's own.
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  // The machine's own TCP ports, that no task gets.
  std::vector<uint16_t> reserved_ports = {22, 2375, 2376, 51678, 51679};

  std::string version = "0.1.0";
  std::string hash = "unknown";  // Of the commit that the agent was built from.

  // Where environmentFiles of S3 lie, with the bucket in the path. Empty: Amazon S3 in `region`.
  std::string s3_endpoint = {};
  EcrAccess ecr = {};
  // Of the DockerAccess, for sessions of ExecuteCommand. Empty: there are none.
  std::string docker_host = {};

  // Tasks with a network of their own may reach the cloud's metadata of this machine.
  bool allow_instance_metadata = false;

  std::string container_log_size = "100m";  // As core::Config::log_max_size.
  model::TaskBounds bounds = {};            // What tasks may ask of the machine.
  core::PullBehavior pull_behavior = core::PullBehavior::PreferCached;
  base::Milliseconds cleanup_wait = std::chrono::hours(3);  // From STOPPED to `docker rm`.
  base::Milliseconds stop_timeout = std::chrono::seconds(30);
  // A GPU that is still in use so long after its task's containers have ended is quarantined.
  base::Milliseconds gpu_release_timeout = std::chrono::seconds(60);
  int64_t pids_limit = 32'768;  // Processes and threads of one container; 0: no limit.
  // How often containers are measured, and all that is measured is told to the control plane.
  base::Milliseconds metrics_interval = std::chrono::seconds(20);
  CleanupPolicy cleanup = {};

  // The agent cannot go on (its journal cannot be written). Called once, on the agent's own thread;
  // the process is to end with exit code 1. It must not call stop() or wait for the Agent itself.
  // Null: the error is logged and the process ends at once.
  std::function<void(const base::Error&)> on_fatal = {};
};

// One Docker, and its containers as the kernel sees them, shared by all agents of the process; all
// four outlive them.
struct DockerAccess {
  docker::ContainerRuntime& runtime;
  docker::ContainerStreams& streams;
  docker::ContainerResources& resources;
  ContainerProcesses& processes;
};

struct AgentStatus {
  std::string container_instance_arn = {};  // Empty until the first registration.
  bool registered = false;                  // By this process.
  bool connected = false;                   // The control stream is open.
  bool docker_ready = false;                // Docker answers and its containers are known.
  // Why it is not connected, or Docker not ready; empty when all is well.
  std::string reason = {};
  size_t tasks = 0;  // That have not stopped.
  bool idle = true;  // No task has a container that runs or may start.
};

class Impl;

// Every member may be called from any thread.
class Agent {
 public:
  // Opens the journal and takes up work in the background: neither the control plane nor Docker has
  // to answer yet. `devices` is the machine's, or emulated; it is used by one thread of the agent.
  // Errors: "InvalidParameterException" for an option, naming it; those of sqlite/database.h for
  // data_dir; "Busy" when another agent has it; "JournalCorrupt", "JournalOfAnotherCluster";
  // "AnotherMachine" when data_dir was used on one.
  static base::Result<std::unique_ptr<Agent>> start(AgentOptions options,
                                                    std::unique_ptr<gpu::Devices> devices,
                                                    DockerAccess docker, base::Clock& clock);
  ~Agent();  // Does stop().
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Ends the agent's work; containers keep running, and the next start() in the same data_dir takes
  // them over. Waits for calls of Docker that are under way. The second call does nothing.
  void stop();

  // Stops every task and waits until all have stopped and the control plane was told, at most
  // `timeout`. True: no container of a task runs any more.
  bool stop_all_tasks(const std::string& reason, base::Milliseconds timeout);

  AgentStatus status();
  // As in `docker ps --filter label=berth.agent=<name>`.
  const std::string& name() const;
  const std::string& instance_id() const;  // "i-0123456789abcdef0"

 private:
  explicit Agent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace agent
