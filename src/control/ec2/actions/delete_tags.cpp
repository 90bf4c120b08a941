#include <algorithm>
#include <vector>

#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"

namespace control::ec2 {
namespace {

// Without tags in the call all of them go; one that names a value goes only with that value.
void remove(const api::List<api::ec2::Tag>& given, model::LaunchTemplate& from) {
  std::erase_if(from.tags, [&](const api::ecs::Tag& tag) {
    return given.empty() || std::ranges::any_of(given, [&](const api::ec2::Tag& one) {
             return one.key == tag.key && (!one.value || one.value == tag.value);
           });
  });
}

}  // namespace

Answer<api::ec2::DeleteTagsResponse> delete_tags(Step& step,
                                                 const api::ec2::DeleteTagsRequest& request) {
  std::vector<model::LaunchTemplate> altered;
  for (const std::string& id : request.resources) {
    altered.push_back(*TRY(require_taggable(step, id)));
    remove(request.tags, altered.back());
  }
  TRY_VOID(check_dry_run(request.dry_run));
  for (model::LaunchTemplate& one : altered) step.change(model::LaunchTemplatePut{std::move(one)});
  return api::ec2::DeleteTagsResponse{};
}

}  // namespace control::ec2
