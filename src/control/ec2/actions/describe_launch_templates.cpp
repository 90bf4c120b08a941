#include <algorithm>
#include <array>

#include "base/format.h"
#include "control/ec2/actions/actions.h"
#include "control/ec2/launch_templates.h"
#include "control/ec2/lists.h"

namespace control::ec2 {
namespace {

constexpr std::array<std::string_view, 5> template_filters{"create-time", "launch-template-name",
                                                           "tag-key", "tag-value", "tag:"};

FilterFacts facts_of(const model::LaunchTemplate& one) {
  FilterFacts facts{{"launch-template-name", one.name},
                    {"create-time", base::format_rfc3339(one.created_at)}};
  for (const api::ecs::Tag& tag : one.tags) {
    add_tag_facts(facts, tag.key.value_or(""), tag.value.value_or(""));
  }
  return facts;
}

bool names_template(const api::ec2::DescribeLaunchTemplatesRequest& request,
                    const model::LaunchTemplate& one) {
  const auto& ids = request.launch_template_ids;
  const auto& names = request.launch_template_names;
  return (ids.empty() && names.empty()) || std::ranges::find(ids, one.id) != ids.end() ||
         std::ranges::find(names, one.name) != names.end();
}

}  // namespace

Answer<api::ec2::DescribeLaunchTemplatesResult> describe_launch_templates(
    Step& step, const api::ec2::DescribeLaunchTemplatesRequest& request) {
  Page page(TRY(results_request(request.next_token, request.max_results, 200)));
  const auto filters = TRY(known_filters(request.filters, template_filters));
  // What is named has to be there.
  for (const std::string& id : request.launch_template_ids) {
    TRY_VOID(require_template(step, id, std::nullopt));
  }
  for (const std::string& name : request.launch_template_names) {
    TRY_VOID(require_template(step, std::nullopt, name));
  }
  api::ec2::DescribeLaunchTemplatesResult response;
  response.launch_templates.set_present();
  for (const auto& [id, one] : step.state().launch_templates) {
    if (!names_template(request, one) || !passes(filters, facts_of(one)) || !page.wants(id)) {
      continue;
    }
    if (!page.add(id)) break;
    response.launch_templates.push_back(describe_template(step, one));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ec2
