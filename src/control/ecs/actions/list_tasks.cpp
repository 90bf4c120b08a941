#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/ecs/service_lookup.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {
namespace {

struct Filter {
  model::TaskStatus desired_status = model::TaskStatus::Running;
  std::optional<model::InstanceArn> instance;
  std::optional<std::string> family;
  std::optional<std::string> started_by;
  std::optional<std::string> service_name;
  std::optional<std::string> launch_type;
};

std::string_view family_of(const model::TaskDefinitionArn& arn) {
  const std::string_view name = model::short_id(arn.str());
  return name.substr(0, name.rfind(':'));
}

bool task_matches(const Filter& filter, const model::Task& task) {
  return task.desired_status == filter.desired_status &&
         (!filter.instance || task.instance == *filter.instance) &&
         (!filter.family || family_of(task.definition) == *filter.family) &&
         (!filter.started_by || task.started_by == *filter.started_by) &&
         (!filter.service_name || task.group == "service:" + *filter.service_name) &&
         (!filter.launch_type || task.launch_type == *filter.launch_type);
}

base::Result<Filter> filter_of(const Step& step, const model::ClusterName& cluster,
                               const api::ecs::ListTasksRequest& request) {
  Filter filter;
  if (request.desired_status) {
    filter.desired_status = *model::parse_task_status(api::to_string(*request.desired_status));
  }
  if (request.container_instance) {
    filter.instance = TRY(require_instance(step, cluster, *request.container_instance))->arn;
  }
  filter.family = request.family;
  filter.started_by = request.started_by;
  if (request.service_name) {
    const model::Service* const service = find_service(step, cluster, *request.service_name);
    if (service == nullptr) return base::fail("ServiceNotFoundException", "Service not found.");
    filter.service_name = service->name;
  }
  if (request.launch_type) filter.launch_type = api::to_string(*request.launch_type);
  return filter;
}

}  // namespace

// The tasks of a cluster stand together, but for those of one whose name has the same hash: the
// walk starts at the cluster or behind the page before and ends with that hash.
Answer<api::ecs::ListTasksResponse> list_tasks(Step& step,
                                               const api::ecs::ListTasksRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "ListTasks", cluster->name));
  const PageRequest page_asked = TRY(page_request(request.next_token, request.max_results));
  const Filter filter = TRY(filter_of(step, cluster->name, request));
  const model::TaskArn first = model::task_arn(step.settings.account, cluster->name, "");
  const auto& tasks = step.state().tasks;
  Page page(page_asked);
  for (auto it = tasks.lower_bound(std::max(first, model::TaskArn(page_asked.after)));
       it != tasks.end() && it->first.order().stem() == first.order().stem(); ++it) {
    if (it->second.cluster != cluster->name || !task_matches(filter, it->second) ||
        !page.wants(it->first.str())) {
      continue;
    }
    if (!page.add(it->first.str())) break;
  }
  api::ecs::ListTasksResponse response;
  response.task_arns = std::move(page.keys);
  response.task_arns.set_present();
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ecs
