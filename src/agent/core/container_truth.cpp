#include "agent/core/container_truth.h"

#include <utility>

namespace agent::core {
namespace {

struct Row {
  Truth unknown;  // The kernel cannot be asked.
  Truth none;     // No process of it is there.
  Truth some;
};

// Source: Engine API reference, ContainerState.Status.
Row row_of(RuntimeStatus said, bool ran) {
  using enum Truth;
  switch (said) {
    case RuntimeStatus::Created:  // Of one that ran: a dockerd that restarted has forgotten it.
      return ran ? Row{Ended, Ended, Lingers} : Row{NotStarted, NotStarted, Lingers};
    case RuntimeStatus::Running:
    case RuntimeStatus::Paused:
      return {Runs, Doubtful, Runs};
    case RuntimeStatus::Restarting:  // Between two runs it has no process.
      return {Runs, Runs, Runs};
    case RuntimeStatus::Removing:
    case RuntimeStatus::Exited:
    case RuntimeStatus::Dead:
      return {Ended, Ended, Lingers};
  }
  std::unreachable();
}

}  // namespace

Truth truth_of(RuntimeStatus said, Processes left, bool ran) {
  const Row row = row_of(said, ran);
  switch (left) {
    case Processes::Unknown:
      return row.unknown;
    case Processes::None:
      return row.none;
    case Processes::Some:
      return row.some;
  }
  std::unreachable();
}

}  // namespace agent::core
