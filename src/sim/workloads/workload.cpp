#include "sim/workloads/workload.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format.h"

namespace sim {

std::vector<Family> usual_families() {
  return {
      {.name = "cpu"},
      {.name = "one-gpu", .image = "train", .cpu = 1024, .gpus = 1},
      {.name = "two-gpus", .image = "train", .cpu = 512, .gpus = 2, .logs = true},
      {.name = "all-gpus", .image = "train", .all_gpus = true},
      {.name = "share", .image = "serve", .cpu = 128, .shared_mib = 5000},
      {.name = "big-share", .image = "serve", .cpu = 128, .shared_mib = 9000, .logs = true},
      {.name = "port", .image = "web", .host_port = 8080},
      {.name = "pair", .image = "train", .gpus = 1, .sidecar = true},
      {.name = "missing", .image = "missing-image"},
  };
}

std::vector<std::string> some_machines(base::Random& random, size_t count) {
  static constexpr const char* types[] = {"p3.2xlarge", "p3.8xlarge", "g4dn.12xlarge", "m5.xlarge",
                                          "p2.xlarge"};
  std::vector<std::string> machines{types[random.below(3)]};
  while (machines.size() < count) machines.emplace_back(types[random.below(std::size(types))]);
  return machines;
}

std::vector<PlannedCall> some_calls(base::Random& random, const std::vector<Family>& families,
                                    size_t count, base::Milliseconds within) {
  std::vector<PlannedCall> calls;
  for (size_t i = 0; i < count; ++i) {
    PlannedCall call;
    call.at = base::Milliseconds{random.below(static_cast<uint64_t>(within.count()))};
    const uint64_t what = random.below(100);
    call.kind = what < 65   ? PlannedCall::Kind::Run
                : what < 85 ? PlannedCall::Kind::Stop
                            : PlannedCall::Kind::Describe;
    call.family = families[random.below(families.size())].name;
    call.count = random.chance(70) ? 1 : static_cast<int32_t>(1 + random.below(3));
    calls.push_back(std::move(call));
  }
  std::ranges::sort(calls, {}, &PlannedCall::at);
  return calls;
}

namespace {

base::Milliseconds some_time(base::Random& random, base::Milliseconds within) {
  return base::Milliseconds{random.below(static_cast<uint64_t>(within.count()))};
}

// Families of which several tasks may wait for the same room.
std::string queued_family(base::Random& random) {
  static constexpr const char* names[] = {"one-gpu",  "one-gpu", "one-gpu", "two-gpus",
                                          "all-gpus", "share",   "port",    "pair"};
  return names[random.below(std::size(names))];
}

Queueing some_queueing(base::Random& random) {
  static constexpr const char* shares[] = {"", "team-a", "team-b"};
  Queueing queueing;
  if (random.chance(40)) queueing.priority = static_cast<int32_t>(random.below(3)) - 1;
  if (random.chance(60)) queueing.share = shares[random.below(std::size(shares))];
  // Told right or wrong.
  if (random.chance(40)) queueing.max_seconds = static_cast<int32_t>(10 + random.below(180));
  if (random.chance(20)) queueing.queue_seconds = static_cast<int32_t>(5 + random.below(200));
  return queueing;
}

}  // namespace

void add_queue_calls(base::Random& random, size_t count, base::Milliseconds within,
                     WorkPlan& plan) {
  for (size_t i = 0; i < count; ++i) {
    PlannedCall call;
    call.at = some_time(random, within);
    call.family = queued_family(random);
    call.count = random.chance(70) ? 1 : static_cast<int32_t>(2 + random.below(3));
    call.queueing = some_queueing(random);
    plan.calls.push_back(std::move(call));
  }
  std::ranges::sort(plan.calls, {}, &PlannedCall::at);
}

void add_gangs(base::Random& random, size_t count, base::Milliseconds within, WorkPlan& plan) {
  static constexpr const char* families[] = {"one-gpu", "one-gpu", "two-gpus", "share", "port"};
  for (size_t i = 0; i < count; ++i) {
    PlannedCall call;
    call.at = some_time(random, within);
    call.family = families[random.below(std::size(families))];
    call.queueing = some_queueing(random);
    const auto size = static_cast<int32_t>(2 + random.below(3));
    if (random.chance(50)) {
      call.count = size;
      call.queueing->gang = "all";
      if (random.chance(20)) call.queueing->provider.clear();
      plan.calls.push_back(std::move(call));
      continue;
    }
    // A name that is used again gathers again.
    call.queueing->gang = base::format("gang-{}", random.below(std::max<uint64_t>(count / 2, 1)));
    call.queueing->gang_size = size;
    int32_t missing = random.chance(85) ? size : size - 1;
    while (missing > 0) {
      call.count = static_cast<int32_t>(1 + random.below(static_cast<uint64_t>(missing)));
      missing -= call.count;
      plan.calls.push_back(call);
      call.at = std::min(call.at + some_time(random, std::chrono::seconds(40)), within);
    }
  }
  std::ranges::sort(plan.calls, {}, &PlannedCall::at);
}

namespace {

constexpr const char* group_types[] = {"p3.2xlarge", "g4dn.xlarge", "g4dn.12xlarge"};

PlannedGroup some_group(base::Random& random, size_t number) {
  PlannedGroup group;
  group.name = base::format("pool-{}", number);
  group.type = group_types[random.below(std::size(group_types))];
  group.max_size = static_cast<int32_t>(1 + random.below(4));
  group.managed_scaling = random.chance(75);
  group.desired = static_cast<int32_t>(random.below(static_cast<uint64_t>(group.max_size) + 1));
  if (random.chance(30)) group.min_size = group.desired;
  if (random.chance(30)) group.target_capacity = static_cast<int32_t>(50 + random.below(51));
  group.managed_draining = random.chance(80);
  group.protects_busy = group.managed_scaling && random.chance(30);
  return group;
}

PlannedGroupCall some_group_call(base::Random& random, const PlannedGroup& group) {
  using enum PlannedGroupCall::Kind;
  static constexpr PlannedGroupCall::Kind kinds[] = {SetDesired, SetDesired, Limits, EndOne,
                                                     Retype};
  PlannedGroupCall call;
  call.group = group.name;
  call.kind = kinds[random.below(std::size(kinds))];
  call.desired = static_cast<int32_t>(random.below(static_cast<uint64_t>(group.max_size) + 1));
  call.max_size = static_cast<int32_t>(1 + random.below(4));
  call.type = group_types[random.below(std::size(group_types))];
  return call;
}

}  // namespace

void add_groups(base::Random& random, size_t count, WorkPlan& plan) {
  static constexpr const char* families[] = {"cpu", "one-gpu", "one-gpu", "two-gpus", "share"};
  for (size_t i = 0; i < count; ++i) plan.groups.push_back(some_group(random, i + 1));
  for (const PlannedGroup& group : plan.groups) {
    for (uint64_t i = 5 + random.below(15); i > 0; --i) {
      PlannedCall call;
      call.at = some_time(random, plan.faults_for);
      call.family = families[random.below(std::size(families))];
      call.count = static_cast<int32_t>(1 + random.below(2));
      call.queueing.emplace().provider = group.name;
      plan.calls.push_back(std::move(call));
    }
    for (uint64_t i = random.below(5); i > 0; --i) {
      PlannedGroupCall call = some_group_call(random, group);
      call.at = some_time(random, plan.faults_for);
      plan.group_calls.push_back(std::move(call));
    }
    if (random.chance(20)) {
      PlannedGroupCall call;
      call.at = some_time(random, plan.faults_for);
      call.kind = PlannedGroupCall::Kind::Delete;
      call.group = group.name;
      plan.group_calls.push_back(std::move(call));
    }
  }
  std::ranges::sort(plan.calls, {}, &PlannedCall::at);
  std::ranges::sort(plan.group_calls, {}, &PlannedGroupCall::at);
}

std::vector<Family> service_families() {
  return {
      {.name = "web-1", .image = "server-1", .cpu = 128},
      {.name = "web-2", .image = "server-2", .cpu = 128},
      {.name = "model-1", .image = "server-1", .cpu = 128, .gpus = 1},
      {.name = "model-2", .image = "server-2", .cpu = 128, .gpus = 1},
      {.name = "shared-model", .image = "server-1", .cpu = 128, .shared_mib = 4000},
      {.name = "gateway", .image = "server-1", .cpu = 128, .host_port = 9090},
      {.name = "broken", .image = "crash", .cpu = 128},
      {.name = "unbuilt", .image = "missing-server", .cpu = 128},
  };
}

bool is_fit_to_run(const Family& family) {
  return !family.image.starts_with("missing") && !family.image.starts_with("crash");
}

namespace {

// Minimum and maximum. Those of one task that leave no room at all are among what is drawn.
constexpr std::pair<int32_t, int32_t> limits[] = {{100, 200}, {50, 100}, {100, 150},
                                                  {0, 100},   {50, 200}, {75, 125}};

// Where an earlier part of the workload has not added them.
void add_families(const std::vector<Family>& families, WorkPlan& plan) {
  for (const Family& family : families) {
    const bool known =
        std::ranges::find(plan.families, family.name, &Family::name) != plan.families.end();
    if (!known) plan.families.push_back(family);
  }
}

}  // namespace

void add_services(base::Random& random, size_t count, WorkPlan& plan) {
  std::vector<Family> families = service_families();
  for (size_t i = 0; i < count; ++i) {
    PlannedService made;
    made.name = base::format("service-{}", i + 1);
    do {
      made.family = families[random.below(families.size())].name;
    } while (!is_fit_to_run(*std::ranges::find(families, made.family, &Family::name)));
    made.desired = static_cast<int32_t>(1 + random.below(6));
    made.daemon = random.chance(15);
    const auto& [minimum, maximum] = limits[random.below(std::size(limits))];
    made.minimum_healthy_percent = made.daemon ? std::min(minimum, 50) : minimum;
    made.maximum_percent = made.daemon ? 100 : maximum;
    made.circuit_breaker = random.chance(60);
    made.rollback = made.circuit_breaker && random.chance(60);
    made.replaces_gpu_tasks = random.chance(30);
    if (random.chance(50)) made.placement = "binpack";
    plan.services.push_back(std::move(made));
  }
  add_families(families, plan);
}

namespace {

std::vector<Family> secret_families() {
  const FamilySecret password{.variable = "PASSWORD", .secret = "/sim/password"};
  const FamilySecret token{.variable = "TOKEN", .secret = "sim/token"};
  const FamilySecret member{.variable = "MEMBER", .secret = "sim/members", .is_member = true};
  const FamilySecret missing{.variable = "MISSING", .secret = "/sim/never-there"};
  return {
      {.name = "with-parameter", .secrets = {password}},
      {.name = "with-secret", .image = "train", .gpus = 1, .secrets = {token}},
      {.name = "with-all", .image = "train", .secrets = {password, token, member}},
      {.name = "without-one", .secrets = {token, missing}},
  };
}

}  // namespace

void add_secrets(base::Random& random, size_t count, Rates& rates, WorkPlan& plan) {
  using enum PlannedSecretCall::Kind;
  static constexpr const char* names[] = {"/sim/password", "sim/token", "sim/members"};
  const std::vector<Family> families = secret_families();
  add_families(families, plan);
  for (size_t i = 0; i < count; ++i) {
    PlannedCall call;
    call.at = some_time(random, plan.faults_for);
    call.family = families[random.below(families.size())].name;
    call.count = static_cast<int32_t>(1 + random.below(2));
    plan.calls.push_back(std::move(call));
  }
  for (const char* const name : names) {
    // Most are there before the first task wants them.
    if (random.chance(80)) plan.secret_calls.push_back({.at = {}, .kind = Put, .secret = name});
    for (uint64_t i = random.below(5); i > 0; --i) {
      plan.secret_calls.push_back({.at = some_time(random, plan.faults_for),
                                   .kind = random.chance(60) ? Put : Delete,
                                   .secret = name});
    }
  }
  std::ranges::sort(plan.calls, {}, &PlannedCall::at);
  std::ranges::sort(plan.secret_calls, {}, &PlannedSecretCall::at);
  if (random.chance(60)) rates.secret_calls_fail = 1 + static_cast<uint32_t>(random.below(250));
}

namespace {

PlannedTaskSetCall some_task_set_call(base::Random& random, const std::vector<Family>& families) {
  using enum PlannedTaskSetCall::Kind;
  static constexpr PlannedTaskSetCall::Kind kinds[] = {
      Create, Create, Scale, Scale, Scale, Promote, Promote, Delete, ForceDelete, Describe};
  static constexpr int32_t percents[] = {0, 0, 10, 33, 50, 67, 100, 100};
  PlannedTaskSetCall call;
  call.kind = kinds[random.below(std::size(kinds))];
  call.family = families[random.below(families.size())].name;
  call.percent = percents[random.below(std::size(percents))];
  return call;
}

}  // namespace

void add_external_services(base::Random& random, size_t count, size_t calls, WorkPlan& plan) {
  const std::vector<Family> families = service_families();
  for (size_t i = 0; i < count; ++i) {
    PlannedService made;
    made.name = base::format("external-{}", i + 1);
    made.external = true;
    made.desired = static_cast<int32_t>(1 + random.below(6));
    const auto& [minimum, maximum] = limits[random.below(std::size(limits))];
    made.minimum_healthy_percent = minimum;
    made.maximum_percent = maximum;
    made.queues = random.chance(20);
    for (size_t k = 0; k < calls; ++k) {
      PlannedTaskSetCall call = some_task_set_call(random, families);
      if (k < 2) call.kind = PlannedTaskSetCall::Kind::Create;
      call.at = k < 2 ? std::chrono::seconds(20 + 20 * k) : some_time(random, plan.faults_for);
      call.service = made.name;
      plan.task_set_calls.push_back(std::move(call));
    }
    plan.services.push_back(std::move(made));
  }
  std::ranges::sort(plan.task_set_calls, {}, &PlannedTaskSetCall::at);
  add_families(families, plan);
}

void add_service_calls(base::Random& random, std::span<const PlannedServiceCall::Kind> kinds,
                       size_t count, WorkPlan& plan) {
  const std::vector<Family> families = service_families();
  for (size_t i = 0; i < count; ++i) {
    PlannedServiceCall call;
    call.at = base::Milliseconds{random.below(static_cast<uint64_t>(plan.faults_for.count()))};
    call.kind = kinds[random.below(kinds.size())];
    call.service = plan.services[random.below(plan.services.size())].name;
    call.family = families[random.below(families.size())].name;
    call.desired = static_cast<int32_t>(random.below(8));
    plan.service_calls.push_back(std::move(call));
  }
  std::ranges::sort(plan.service_calls, {}, &PlannedServiceCall::at);
}

}  // namespace sim
