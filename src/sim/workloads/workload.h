// What the clients of a run do, on which machines, and which kinds of faults it puts first. One
// file each; all of them in workloads.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "sim/rates.h"

namespace sim {

// A secret that a container gets as a variable.
struct FamilySecret {
  std::string variable;
  std::string secret;      // Its name: of a parameter of SSM it begins with "/".
  bool is_member = false;  // The secret is a JSON object, of which the variable is the member.
};

// A task definition of one container.
struct Family {
  std::string name;
  // "missing...": the registry does not have it. "server...": its containers live on by themselves,
  // most of them. "crash...": they end at once with an exit code.
  std::string image = "fast";
  int32_t cpu = 256;
  int32_t memory_mib = 256;
  int32_t gpus = 0;
  bool all_gpus = false;
  int64_t shared_mib = 0;  // Of one GPU, through NVIDIA MPS.
  uint16_t host_port = 0;
  bool logs = false;     // With awslogs.
  bool sidecar = false;  // A second container, which the first one waits for.
  std::vector<FamilySecret> secrets = {};
};

// What a call for tasks says of waiting, in its tags.
struct Queueing {
  std::string provider = "BERTH_QUEUE";  // Capacity provider; empty: now or never.
  int32_t priority = 0;                  // berth:priority.
  std::string share;                     // berth:share; empty: the family's.
  int32_t max_seconds = 0;               // berth:max-seconds; 0: it does not say.
  int32_t queue_seconds = 0;             // berth:queue-seconds; 0: for ever.
  std::string gang;                      // berth:gang: "all", or a name; empty: alone.
  int32_t gang_size = 0;                 // berth:gang-size, of a named gang.
};

struct PlannedCall {
  enum class Kind : uint8_t { Run, Stop, Describe };
  base::Milliseconds at{};
  Kind kind = Kind::Run;
  std::string family;
  int32_t count = 1;
  std::optional<Queueing> queueing = {};  // Of Run; none: started at once, or refused.
};

// A service that its client keeps: made at the start, and again after it was deleted.
struct PlannedService {
  std::string name;
  std::string family;
  int32_t desired = 1;
  bool daemon = false;
  bool queues = false;  // Its tasks wait with the capacity provider BERTH_QUEUE.
  int32_t minimum_healthy_percent = 100;
  int32_t maximum_percent = 200;
  bool circuit_breaker = false;
  bool rollback = false;
  bool replaces_gpu_tasks = false;  // Tagged berth:gpu-rolling=replace.
  std::string placement;            // "binpack", or empty: spread over the zones.
  // With the deployment controller EXTERNAL: it has no family, its client makes its task sets.
  bool external = false;
};

// What is asked of a service or, Drain and Activate, of some container instance.
struct PlannedServiceCall {
  enum class Kind : uint8_t { Deploy, Force, Scale, Protect, Describe, Remake, Drain, Activate };
  base::Milliseconds at{};
  Kind kind = Kind::Deploy;
  std::string service;
  std::string family;   // Of Deploy.
  int32_t desired = 0;  // Of Scale.
};

// What the client of a service with the deployment controller EXTERNAL asks of its task sets.
struct PlannedTaskSetCall {
  enum class Kind : uint8_t { Create, Scale, Promote, Delete, ForceDelete, Describe };
  base::Milliseconds at{};
  Kind kind = Kind::Create;
  std::string service;
  std::string family;     // Of Create.
  int32_t percent = 100;  // Of Create and Scale.
};

// What the client of a secret asks of the secret store.
struct PlannedSecretCall {
  enum class Kind : uint8_t { Put, Delete };
  base::Milliseconds at{};
  Kind kind = Kind::Put;
  std::string secret;
};

// An Auto Scaling group with the capacity provider of the same name.
struct PlannedGroup {
  std::string name;
  std::string type;  // Of its instances.
  int32_t min_size = 0;
  int32_t max_size = 1;
  int32_t desired = 0;
  bool managed_scaling = true;
  int32_t target_capacity = 100;
  bool managed_draining = true;
  bool protects_busy = false;  // managedTerminationProtection.
};

struct PlannedGroupCall {
  enum class Kind : uint8_t { SetDesired, Limits, EndOne, Retype, Delete };
  base::Milliseconds at{};
  Kind kind = Kind::SetDesired;
  std::string group;
  int32_t desired = 0;   // Of SetDesired.
  int32_t max_size = 0;  // Of Limits; the least is 0 then.
  std::string type;      // Of Retype.
};

struct WorkPlan {
  std::vector<std::string> machines;  // Instance types.
  std::vector<Family> families;
  std::vector<PlannedCall> calls;
  std::vector<PlannedService> services;
  std::vector<PlannedServiceCall> service_calls;
  std::vector<PlannedTaskSetCall> task_set_calls;
  std::vector<PlannedSecretCall> secret_calls;
  std::vector<PlannedGroup> groups;
  std::vector<PlannedGroupCall> group_calls;
  base::Milliseconds faults_for{};  // The safety phase.
};

struct Workload {
  std::string_view name;
  std::string_view what;
  void (*prepare)(base::Random& random, Rates& rates, WorkPlan& plan);
};

// The families that most workloads use: CPU only, one GPU, two, all, shares, a fixed port, two
// containers, output to a log group, an image that is not there.
std::vector<Family> usual_families();
// `count` instance types of which one at least has GPUs.
std::vector<std::string> some_machines(base::Random& random, size_t count);
// Calls at random moments within `within`: mostly RunTask of any of the families.
std::vector<PlannedCall> some_calls(base::Random& random, const std::vector<Family>& families,
                                    size_t count, base::Milliseconds within);

// Calls for tasks that wait in the queue where there is no room, at random moments within `within`:
// of several priorities and shares, some with deadlines, few of them gangs.
void add_queue_calls(base::Random& random, size_t count, base::Milliseconds within, WorkPlan& plan);
// So many gangs, of one call or gathered by several; of some a member never comes.
void add_gangs(base::Random& random, size_t count, base::Milliseconds within, WorkPlan& plan);

// Families whose containers name secrets, `count` calls for their tasks, and their clients, who
// put, replace and delete them.
void add_secrets(base::Random& random, size_t count, Rates& rates, WorkPlan& plan);

// `count` groups, calls for tasks that wait for their machines, and calls that alter the groups.
void add_groups(base::Random& random, size_t count, WorkPlan& plan);

// Families for services: CPU only, one GPU, a share, a fixed port; some that never start.
std::vector<Family> service_families();
bool is_fit_to_run(const Family& family);
// `count` services of families that run, each with limits and a breaker of its own, and adds their
// families to the plan.
void add_services(base::Random& random, size_t count, WorkPlan& plan);
// `count` services with the deployment controller EXTERNAL, and `calls` about the task sets of
// each: the first ones make two of them.
void add_external_services(base::Random& random, size_t count, size_t calls, WorkPlan& plan);
// Calls of these kinds about any of the services, at random moments of the safety phase.
void add_service_calls(base::Random& random, std::span<const PlannedServiceCall::Kind> kinds,
                       size_t count, WorkPlan& plan);

}  // namespace sim
