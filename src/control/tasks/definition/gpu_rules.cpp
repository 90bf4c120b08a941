#include "control/tasks/definition/rules.h"
#include "control/tasks/gpu_mistakes.h"
#include "control/tasks/gpu_requirements.h"

namespace control {

base::Result<std::vector<model::GpuRequest>> gpu_requests_of(const Registration& request) {
  std::vector<model::GpuRequest> requests;
  for (const Container& container : request.container_definitions) {
    TRY_VOID(refuse_gpu_mistakes(container));
    TRY_VOID(refuse_gpu_variables(container.name.value_or(""), container.environment,
                                  container.resource_requirements));
    auto found = TRY(gpu_request(container.name.value_or(""), container.resource_requirements));
    if (!found) continue;
    requests.push_back(std::move(*found));
  }
  TRY_VOID(check_gpu_requests(requests));
  return requests;
}

bool shares_gpu(const model::GpuRequest& request) {
  return request.kind == model::GpuRequestKind::Memory ||
         request.kind == model::GpuRequestKind::Fraction;
}

}  // namespace control
