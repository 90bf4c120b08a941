#include "control/tasks/gpu_requirements.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "control/request/errors.h"

namespace control {
namespace {

constexpr std::string_view right_shape =
    R"(Write it as "resourceRequirements": [{"type": "GPU", "value": "2"}])";

// "20GiB", "512MiB", "1.5TiB" without the fraction: MiB.
std::optional<int64_t> memory_mib(std::string_view text) {
  int64_t unit = 0;
  if (text.ends_with("GiB")) unit = 1024;
  if (text.ends_with("MiB")) unit = 1;
  if (unit == 0) return std::nullopt;
  const auto number = base::parse_number<int64_t>(text.substr(0, text.size() - 3));
  if (!number || *number < 1 || *number > (int64_t{1} << 30)) return std::nullopt;
  return *number * unit;
}

// "0.5": thousandths of a GPU, more than none and less than all.
std::optional<int32_t> fraction_milli(std::string_view text) {
  if (!text.starts_with("0.") || text.size() < 3 || text.size() > 5) return std::nullopt;
  std::string digits(text.substr(2));
  digits.resize(3, '0');
  const auto milli = base::parse_number<int32_t>(digits);
  if (!milli || *milli < 1) return std::nullopt;
  return milli;
}

// "1g.10gb", "1c.3g.20gb", "1g.10gb+me".
bool is_mig_profile(std::string_view text) {
  const size_t g = text.find("g.");
  if (g == 0 || g == std::string_view::npos || text.find("gb") == std::string_view::npos) {
    return false;
  }
  return std::ranges::all_of(text,
                             [](char c) { return base::is_plain(c, ".+") && c == base::lower(c); });
}

base::Result<model::GpuRequest> from_value(const std::string& container, const std::string& value) {
  model::GpuRequest request;
  request.container = container;
  if (value == "ALL") {
    request.kind = model::GpuRequestKind::All;
    return request;
  }
  if (const auto count = base::parse_number<uint32_t>(value);
      count && *count >= 1 && *count <= 1024) {
    request.kind = model::GpuRequestKind::Count;
    request.count = *count;
    return request;
  }
  if (const auto mib = memory_mib(value)) {
    request.kind = model::GpuRequestKind::Memory;
    request.memory_mib = *mib;
    return request;
  }
  if (const auto milli = fraction_milli(value)) {
    request.kind = model::GpuRequestKind::Fraction;
    request.milli = *milli;
    return request;
  }
  if (is_mig_profile(value)) {
    request.kind = model::GpuRequestKind::Profile;
    request.mig_profile = value;
    return request;
  }
  return client_error(base::format(
      "Container \"{}\" asks for GPUs with the value \"{}\", which is not a GPU requirement. {}; "
      "the value is a count of GPUs (\"2\"), \"ALL\", a share of one GPU (\"0.5\"), GPU memory "
      "(\"20GiB\") or a MIG profile (\"1g.10gb\").",
      container, value, right_shape));
}

base::Result<model::GpuRequest> from_sharing(const std::string& container,
                                             const api::ecs::SharingStrategy& strategy) {
  if (!strategy.nvidia_mps || strategy.nvidia_mps->memory.value_or(0) < 1) {
    return client_error(base::format(
        "Container \"{}\": sharingStrategy needs nvidiaMps with memory in MiB, 1 or more.",
        container));
  }
  const int32_t percent = strategy.nvidia_mps->max_compute_percent.value_or(0);
  if (strategy.nvidia_mps->max_compute_percent && (percent < 1 || percent > 100)) {
    return client_error(base::format(
        "Container \"{}\": nvidiaMps.maxComputePercent is {}; it must be between 1 and 100.",
        container, percent));
  }
  model::GpuRequest request;
  request.container = container;
  request.kind = model::GpuRequestKind::Memory;
  request.memory_mib = *strategy.nvidia_mps->memory;
  request.max_compute_percent = percent;
  return request;
}

bool is_shared(const model::GpuRequest& request) {
  return request.kind == model::GpuRequestKind::Memory ||
         request.kind == model::GpuRequestKind::Fraction;
}

}  // namespace

base::Result<std::optional<model::GpuRequest>> gpu_request(
    const std::string& container, const api::List<api::ecs::ResourceRequirement>& requirements) {
  std::optional<model::GpuRequest> found;
  for (const api::ecs::ResourceRequirement& requirement : requirements) {
    if (requirement.type != api::ecs::ResourceType::Gpu) {
      return client_error(base::format(
          "Container \"{}\": resourceRequirements of type {} are not offered by Berth; only GPU "
          "is.",
          container, requirement.type ? api::to_string(*requirement.type) : "(none)"));
    }
    if (found) {
      return client_error(base::format(
          "Container \"{}\" has two resourceRequirements of type GPU: put them together into one.",
          container));
    }
    const bool has_value = requirement.value && !requirement.value->empty();
    if (has_value == requirement.sharing_strategy.has_value()) {
      return client_error(base::format(
          "Container \"{}\": a GPU requirement has either a value or a sharingStrategy. {}.",
          container, right_shape));
    }
    found = has_value ? TRY(from_value(container, *requirement.value))
                      : TRY(from_sharing(container, *requirement.sharing_strategy));
  }
  return found;
}

base::Result<void> check_gpu_requests(const std::vector<model::GpuRequest>& requests) {
  const auto shared = std::ranges::find_if(requests, is_shared);
  const auto whole = std::ranges::find_if_not(requests, is_shared);
  if (shared != requests.end() && whole != requests.end()) {
    return client_error(
        base::format("Container \"{}\" shares a GPU and container \"{}\" asks for whole ones: all "
                     "GPU containers "
                     "of a task must use the same option.",
                     shared->container, whole->container));
  }
  const auto all =
      std::ranges::find(requests, model::GpuRequestKind::All, &model::GpuRequest::kind);
  if (all != requests.end() && requests.size() > 1) {
    return client_error(base::format(
        "Container \"{}\" asks for ALL GPUs of the instance: no other container of the task can "
        "ask for one.",
        all->container));
  }
  return {};
}

}  // namespace control
