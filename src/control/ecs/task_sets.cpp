#include "control/ecs/task_sets.h"

#include "base/format.h"
#include "control/request/errors.h"

namespace control::ecs {

base::Result<double> scale_percent_of(const api::ecs::Scale& scale) {
  const double percent = scale.value.value_or(0);
  if (!(percent >= 0 && percent <= 100)) {
    return invalid_parameter(
        base::format("scale.value is {}; it must be between 0 and 100 percent.", percent));
  }
  return percent;
}

}  // namespace control::ecs
