#include "control/tasks/definition/rules.h"
#include "control/tasks/task_plan.h"

namespace control {
namespace {

// Source: ECS API reference, ContainerDefinition, memory: "The Docker 20.10.0 or later daemon
// reserves a minimum of 6 MiB of memory for a container. So, don't specify less than 6 MiB".
constexpr int32_t least_memory_mib = 6;
// Source: ECS API reference, RegisterTaskDefinition, cpu.
constexpr int64_t least_task_cpu_units = 128;
constexpr int64_t most_task_cpu_units = 196608;

base::Result<void> check_memory(const Container& container, std::string_view member,
                                int32_t memory_mib) {
  if (memory_mib == 0 || memory_mib >= least_memory_mib) return {};
  return invalid_setting(container, base::format("{} is {}; Docker gives a container at least {} "
                                                 "MiB.",
                                                 member, memory_mib, least_memory_mib));
}

base::Result<void> check_container_sizes(const Container& container, bool task_has_memory) {
  if (container.cpu.value_or(0) < 0) {
    return invalid_setting(
        container, base::format("cpu is {}; it must be 0 or more CPU units.", *container.cpu));
  }
  const int32_t memory = container.memory.value_or(0);
  const int32_t reservation = container.memory_reservation.value_or(0);
  TRY_VOID(check_memory(container, "memory", memory));
  TRY_VOID(check_memory(container, "memoryReservation", reservation));
  if (memory == 0 && reservation == 0 && !task_has_memory) {
    return invalid_setting(container,
                           "At least one of 'memory' or 'memoryReservation' must be specified.");
  }
  // The reference says "must be greater"; AWS takes equal figures, too.
  if (memory != 0 && memory < reservation) {
    return invalid_setting(
        container, base::format("memory ({} MiB) must be greater than memoryReservation ({} MiB).",
                                memory, reservation));
  }
  return {};
}

base::Result<void> check_task_cpu(const Registration& request) {
  const std::string text = request.cpu.value_or("");
  if (text.empty()) return {};
  const int64_t units = TRY(parse_cpu_units(text));
  if (units < least_task_cpu_units || units > most_task_cpu_units) {
    return client_error(base::format(
        "Invalid 'cpu' setting for task. It is \"{}\"; it must be between {} and {} CPU units.",
        text, least_task_cpu_units, most_task_cpu_units));
  }
  int64_t sum = 0;
  for (const Container& container : request.container_definitions) sum += container.cpu.value_or(0);
  if (sum > units) {
    return client_error(base::format(
        "The sum of all container 'cpu' values cannot be greater than the value of the task "
        "'cpu': {} against {}.",
        sum, units));
  }
  return {};
}

base::Result<void> check_task_memory(const Registration& request) {
  const std::string text = request.memory.value_or("");
  if (text.empty()) return {};
  const int64_t task_mib = TRY(parse_memory_mib(text));
  if (task_mib < least_memory_mib) {
    return client_error(
        base::format("Invalid 'memory' setting for task. It is \"{}\"; it must be at least {} MiB.",
                     text, least_memory_mib));
  }
  int64_t sum = 0;
  for (const Container& container : request.container_definitions) {
    const int32_t memory = container.memory.value_or(0);
    const int32_t reservation = container.memory_reservation.value_or(0);
    if (memory > task_mib) {
      return invalid_setting(container,
                             base::format("memory ({} MiB) cannot be greater than the value of the "
                                          "task 'memory' ({} MiB).",
                                          memory, task_mib));
    }
    sum += reservation != 0 ? reservation : memory;
  }
  if (sum > task_mib) {
    return client_error(base::format(
        "The sum of all container 'memory' values (memoryReservation where it is given) cannot be "
        "greater than the value of the task 'memory': {} MiB against {} MiB.",
        sum, task_mib));
  }
  return {};
}

}  // namespace

base::Result<void> check_resources(const Registration& request) {
  const bool task_has_memory = !request.memory.value_or("").empty();
  for (const Container& container : request.container_definitions) {
    TRY_VOID(check_container_sizes(container, task_has_memory));
  }
  TRY_VOID(check_task_cpu(request));
  return check_task_memory(request);
}

}  // namespace control
