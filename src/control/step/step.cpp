#include "control/step/step.h"

namespace control {

void Step::change(model::Change change) {
  std::vector<model::InstanceArn> touched;
  model::touched_instances(state_, change, touched);
  model::apply(state_, change);
  for (const model::InstanceArn& arn : touched) engine.instance_changed(state_, arn);
  output_.changes.push_back(std::move(change));
}

}  // namespace control
