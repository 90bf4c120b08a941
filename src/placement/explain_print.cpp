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

std::string placement_json(const Placement& placement) {
  return base::format(
      "{{\"containerInstanceArn\":{},\"gpus\":{},\"cpuset\":{}}}", quoted(placement.instance.str()),
      array_of(placement.held.gpus,
               [](const model::GpuAssignment& gpu) {
                 return base::format("{{\"container\":{},\"gpuId\":{},\"shared\":{}}}",
                                     quoted(gpu.container), quoted(gpu.gpu), gpu.shared);
               }),
      quoted(placement.held.cpuset));
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
    for (const model::GpuAssignment& gpu : explanation.placement->held.gpus) {
      text += base::format("  container {} gets {}GPU {}\n", gpu.container,
                           gpu.shared ? base::format("{} MiB of ", gpu.memory_mib) : "", gpu.gpu);
    }
    if (!explanation.placement->held.cpuset.empty()) {
      text += base::format("  on cores {}\n", explanation.placement->held.cpuset);
    }
  }
  if (!explanation.nearest.empty() && !explanation.nearest[0].instance.empty()) {
    text += "Nearest fits:\n";
    for (const Refusal& refusal : explanation.nearest) {
      text += base::format("  {} {}: {}\n", model::short_id(refusal.instance.str()), refusal.reason,
                           refusal.detail);
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

std::string print_json(const Explanation& explanation) {
  return base::format(
      "{{\"placeable\":{},\"summary\":{},\"wanted\":{},\"instances\":{},\"steps\":{},"
      "\"placement\":{},\"nearest\":{},\"changes\":{},\"warnings\":{}}}",
      explanation.placement.has_value(), quoted(explanation.summary), quoted(explanation.wanted),
      explanation.instances, array_of(explanation.steps, step_json),
      explanation.placement ? placement_json(*explanation.placement) : "null",
      array_of(explanation.nearest, refusal_json), array_of(explanation.changes, change_json),
      array_of(explanation.warnings, [](const std::string& warning) { return quoted(warning); }));
}

}  // namespace placement
