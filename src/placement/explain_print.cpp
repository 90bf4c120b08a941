#include <array>

#include "base/format.h"
#include "placement/explain.h"

namespace placement {
namespace {

constexpr std::array<std::string_view, 7> change_names = {
    "ASK_LESS",      "WAIT",          "MOVE",        "DROP_CONSTRAINT",
    "ADD_ATTRIBUTE", "CONNECT_AGENT", "ADD_INSTANCE"};

std::string_view name_of(ExplainedChangeKind kind) {
  return change_names[static_cast<size_t>(kind)];
}

// A JSON string with its quotes.
std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += base::format("\\u{:04x}", static_cast<int>(c));
    } else {
      json += c;
    }
  }
  return json + '"';
}

template <class List, class Print>
std::string array_of(const List& list, Print print) {
  std::string json = "[";
  for (const auto& each : list) {
    if (json.size() > 1) json += ',';
    json += print(each);
  }
  return json + "]";
}

std::string step_json(const ExplainedStep& step) {
  return base::format("{{\"reason\":{},\"subject\":{},\"fallen\":{},\"left\":{}}}",
                      quoted(step.reason), quoted(step.subject), step.fallen, step.left);
}

std::string refusal_json(const Refusal& refusal) {
  return base::format("{{\"containerInstanceArn\":{},\"reason\":{},\"detail\":{}}}",
                      quoted(refusal.instance.str()), quoted(refusal.reason),
                      quoted(refusal.detail));
}

std::string change_json(const ExplainedChange& change) {
  return base::format(
      "{{\"change\":{},\"sentence\":{},\"containerInstanceArn\":{},\"taskArns\":{}}}",
      quoted(name_of(change.kind)), quoted(change.sentence), quoted(change.instance.str()),
      array_of(change.tasks, [](const model::TaskArn& arn) { return quoted(arn.str()); }));
}

std::string placement_json(const Placement& placement, const std::vector<int64_t>& gpu_indexes) {
  size_t next = 0;
  return base::format(
      "{{\"containerInstanceArn\":{},\"gpus\":{},\"cpuset\":{}}}", quoted(placement.instance.str()),
      array_of(placement.held.gpus,
               [&](const model::GpuAssignment& gpu) {
                 return base::format(
                     "{{\"container\":{},\"gpuId\":{},\"gpuIndex\":{},\"shared\":{}}}",
                     quoted(gpu.container), quoted(gpu.gpu), gpu_indexes.at(next++), gpu.shared);
               }),
      quoted(placement.held.cpuset));
}

std::string gpu_json(const model::ContainerInstance* instance, const model::GpuAssignment& gpu) {
  const model::GpuSlot* const slot =
      instance == nullptr ? nullptr : model::find_gpu(*instance, gpu.gpu);
  return base::format(
      "{{\"container\":{},\"gpuId\":{},\"gpuIndex\":{},\"shared\":{},\"memoryMiB\":{},\"model\":{},"
      "\"state\":{},"
      "\"holders\":{}}}",
      quoted(gpu.container), quoted(gpu.gpu), gpu_index(instance, gpu.gpu), gpu.shared,
      gpu.shared || slot == nullptr ? gpu.memory_mib : slot->device.memory_mib,
      quoted(slot == nullptr ? "" : slot->device.model),
      quoted(slot == nullptr ? "" : model::to_string(slot->state)),
      slot == nullptr ? 0 : slot->holders.size());
}

// At most `most` bytes, cut at a blank.
std::string bounded(std::string text, size_t most) {
  constexpr std::string_view mark = "...";
  if (text.size() <= most) return text;
  const size_t blank = text.rfind(' ', most - mark.size());
  text.resize(blank == std::string::npos ? 0 : blank);
  return text + std::string(mark);
}

std::string count_phrase(int32_t count, std::string_view one, std::string_view several) {
  return base::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace

std::string print_text(const Explanation& explanation) {
  std::string text = base::format(
      "The task asks for {}.\n{} in the cluster.\n", explanation.wanted,
      count_phrase(explanation.instances, "container instance", "container instances"));
  for (const ExplainedStep& step : explanation.steps) {
    text += base::format("  {} at {} ({}), {} left\n", count_phrase(step.fallen, "falls", "fall"),
                         step.reason, step.subject, step.left);
  }
  text += explanation.summary + "\n";
  if (explanation.placement) {
    const auto& gpus = explanation.placement->held.gpus;
    for (size_t i = 0; i < gpus.size(); ++i) {
      text += base::format("  container {} gets {}GPU {}: {}\n", gpus[i].container,
                           gpus[i].shared ? base::format("{} MiB of ", gpus[i].memory_mib) : "",
                           explanation.gpu_indexes.at(i), gpus[i].gpu);
    }
    if (!explanation.placement->held.cpuset.empty()) {
      text += base::format("  on cores {}\n", explanation.placement->held.cpuset);
    }
  }
  if (!explanation.nearest.empty() && !explanation.nearest[0].instance.empty()) {
    text += "Nearest fits:\n";
    for (const Refusal& refusal : explanation.nearest) {
      text += base::format("  {} {}: {}\n", refusal.name, refusal.reason, refusal.detail);
    }
  }
  if (!explanation.changes.empty()) {
    text += "To place it:\n";
    for (const ExplainedChange& change : explanation.changes) {
      text += base::format("  - {}\n", change.sentence);
    }
  }
  for (const std::string& warning : explanation.warnings) {
    text += base::format("Warning: {}\n", warning);
  }
  return text;
}

std::string print_brief(const Refusal& refusal, const Explanation& explanation, size_t most) {
  std::string text = refusal.detail;
  const auto add = [&](const std::string& sentence) {
    if (sentence.empty() || text.find(sentence) != std::string::npos) return;
    if (!text.empty()) text += ' ';
    text += sentence;
  };
  if (!refusal.instance.empty()) {
    add(explanation.summary);
    if (!text.empty() && explanation.active > 1) {
      add(base::format("The nearest fit of {} is instance {}.",
                       count_phrase(explanation.active, "instance", "instances"), refusal.name));
    }
  }
  if (!explanation.changes.empty()) {
    add(base::format("To place it: {}.", explanation.changes[0].sentence));
  }
  return bounded(std::move(text), most);
}

std::string explain_task_json(const model::ClusterState& state, const model::TaskArn& arn) {
  const model::Task* const task = model::find_task(state, arn);
  if (task == nullptr) return "null";
  const bool stopped = task->last_status == model::TaskStatus::Stopped;
  const model::ContainerInstance* const instance = model::find_instance(state, task->instance);
  const std::vector<model::GpuAssignment> none;
  return base::format(
      "{{\"taskArn\":{},\"lastStatus\":{},\"stoppedReason\":{},\"containerInstanceArn\":{},"
      "\"cpuUnits\":{},\"memoryMiB\":{},\"cpuset\":{},\"gpus\":{}}}",
      quoted(arn.str()), quoted(model::to_string(task->last_status)), quoted(task->stopped_reason),
      quoted(task->instance.str()), stopped ? 0 : task->held.cpu_units,
      stopped ? 0 : task->held.memory_mib, quoted(stopped ? "" : task->held.cpuset),
      array_of(stopped ? none : task->held.gpus,
               [&](const model::GpuAssignment& gpu) { return gpu_json(instance, gpu); }));
}

std::string print_json(const Explanation& explanation) {
  return base::format(
      "{{\"placeable\":{},\"summary\":{},\"wanted\":{},\"instances\":{},\"steps\":{},"
      "\"placement\":{},\"nearest\":{},\"changes\":{},\"warnings\":{}}}",
      explanation.placement.has_value(), quoted(explanation.summary), quoted(explanation.wanted),
      explanation.instances, array_of(explanation.steps, step_json),
      explanation.placement ? placement_json(*explanation.placement, explanation.gpu_indexes)
                            : "null",
      array_of(explanation.nearest, refusal_json), array_of(explanation.changes, change_json),
      array_of(explanation.warnings, [](const std::string& warning) { return quoted(warning); }));
}

}  // namespace placement
