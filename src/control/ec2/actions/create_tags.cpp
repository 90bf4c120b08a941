#include <vector>

#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"
#include "control/ec2/template_tags.h"

namespace control::ec2 {

Answer<api::ec2::CreateTagsResponse> create_tags(Step& step,
                                                 const api::ec2::CreateTagsRequest& request) {
  std::vector<model::LaunchTemplate> tagged;
  for (const std::string& id : request.resources) {
    tagged.push_back(*TRY(require_taggable(step, id)));
    TRY_VOID(put_tags(request.tags, tagged.back().tags));
  }
  TRY_VOID(check_dry_run(request.dry_run));
  for (model::LaunchTemplate& one : tagged) step.change(model::LaunchTemplatePut{std::move(one)});
  return api::ec2::CreateTagsResponse{};
}

}  // namespace control::ec2
