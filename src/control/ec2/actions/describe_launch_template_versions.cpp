#include <algorithm>
#include <array>
#include <map>

#include "base/format.h"
#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"
#include "control/ec2/lists.h"

namespace control::ec2 {
namespace {

constexpr std::array<std::string_view, 3> version_filters{"create-time", "instance-type",
                                                          "is-default-version"};

struct Found {
  const model::LaunchTemplate* launch_template = nullptr;
  const model::LaunchTemplateVersion* version = nullptr;
};
// By template, the newest version first.
using Versions = std::map<std::string, Found>;

void add(Versions& versions, const model::LaunchTemplate& of,
         const model::LaunchTemplateVersion& version) {
  versions.insert_or_assign(base::format("{}/{:020}", of.id, INT64_MAX - version.number),
                            Found{&of, &version});
}

base::Result<int64_t> bound(const model::LaunchTemplate& of,
                            const std::optional<std::string>& version, int64_t otherwise) {
  if (!version) return otherwise;
  return TRY(require_version(of, *version))->number;
}

base::Result<Versions> versions_of_one(
    const Step& step, const api::ec2::DescribeLaunchTemplateVersionsRequest& request) {
  const model::LaunchTemplate& of =
      *TRY(require_template(step, request.launch_template_id, request.launch_template_name));
  Versions versions;
  for (const std::string& version : request.versions) {
    add(versions, of, *TRY(require_version(of, version)));
  }
  if (!request.versions.empty()) return versions;
  const int64_t least = TRY(bound(of, request.min_version, 0));
  const int64_t most = TRY(bound(of, request.max_version, INT64_MAX));
  for (const model::LaunchTemplateVersion& version : of.versions) {
    if (version.number >= least && version.number <= most) add(versions, of, version);
  }
  return versions;
}

// Without a template: its latest or default version, or both, of every template.
base::Result<Versions> versions_of_all(
    const Step& step, const api::ec2::DescribeLaunchTemplateVersionsRequest& request) {
  Versions versions;
  for (const std::string& version : request.versions) {
    if (version != "$Latest" && version != "$Default") {
      return missing(
          "A launch template ID or name is missing: without one, Versions has $Latest and $Default "
          "alone.");
    }
    for (const auto& [id, of] : step.state().launch_templates) {
      add(versions, of, *TRY(require_version(of, version)));
    }
  }
  if (!request.versions.empty()) return versions;
  return missing(
      "Either a launch template ID or a launch template name must be specified in the request.");
}

}  // namespace

Answer<api::ec2::DescribeLaunchTemplateVersionsResult> describe_launch_template_versions(
    Step& step, const api::ec2::DescribeLaunchTemplateVersionsRequest& request) {
  Page page(TRY(results_request(request.next_token, request.max_results, 200)));
  const auto filters = TRY(known_filters(request.filters, version_filters));
  const bool one = request.launch_template_id || request.launch_template_name;
  const Versions versions =
      one ? TRY(versions_of_one(step, request)) : TRY(versions_of_all(step, request));
  api::ec2::DescribeLaunchTemplateVersionsResult response;
  response.launch_template_versions.set_present();
  for (const auto& [key, found] : versions) {
    const bool is_default = found.version->number == found.launch_template->default_version;
    const FilterFacts facts{{"create-time", base::format_rfc3339(found.version->created_at)},
                            {"instance-type", found.version->instance_type},
                            {"is-default-version", is_default ? "true" : "false"}};
    if (!passes(filters, facts) || !page.wants(key)) continue;
    if (!page.add(key)) break;
    response.launch_template_versions.push_back(
        describe_version(step, *found.launch_template, *found.version));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ec2
