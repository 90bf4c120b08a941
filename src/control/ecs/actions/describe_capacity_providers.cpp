#include <algorithm>
#include <map>

#include "control/capacity/providers.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {
namespace {

constexpr size_t most_named = 100;
constexpr int32_t most_a_page = 10;
constexpr std::string_view built_in[] = {model::berth_queue, "FARGATE", "FARGATE_SPOT"};

std::optional<api::ecs::CapacityProvider> described(const Step& step, const std::string& name,
                                                    bool tags) {
  const auto found = step.state().capacity_providers.find(name);
  return found == step.state().capacity_providers.end()
             ? describe_built_in(step, name)
             : std::optional(describe_provider(step, found->second, tags));
}

// All of them by name, or those of the cluster.
std::vector<std::string> names_of(const Step& step, const model::Cluster* cluster) {
  std::vector<std::string> names;
  if (cluster != nullptr) {
    names = cluster->capacity_providers;
    names.emplace_back(model::berth_queue);
  } else {
    names.assign(std::begin(built_in), std::end(built_in));
    for (const auto& [name, provider] : step.state().capacity_providers) names.push_back(name);
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

base::Result<api::ecs::DescribeCapacityProvidersResponse> describe_all(
    const Step& step, const api::ecs::DescribeCapacityProvidersRequest& request, bool tags) {
  const model::Cluster* const cluster = request.cluster && !request.cluster->empty()
                                            ? TRY(require_cluster(step, request.cluster))
                                            : nullptr;
  Page page(TRY(page_request(request.next_token, request.max_results, most_a_page)));
  for (const std::string& name : names_of(step, cluster)) {
    if (page.wants(name) && !page.add(name)) break;
  }
  api::ecs::DescribeCapacityProvidersResponse response;
  for (const std::string& name : page.keys) {
    if (auto one = described(step, name, tags)) {
      response.capacity_providers.push_back(std::move(*one));
    }
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace

Answer<api::ecs::DescribeCapacityProvidersResponse> describe_capacity_providers(
    Step& step, const api::ecs::DescribeCapacityProvidersRequest& request) {
  const bool tags = std::ranges::find(request.include, api::ecs::CapacityProviderField::Tags) !=
                    request.include.end();
  if (request.capacity_providers.size() > most_named) {
    return invalid_parameter("At most 100 capacity providers can be described in one call.");
  }
  api::ecs::DescribeCapacityProvidersResponse response;
  if (request.capacity_providers.empty()) {
    response = TRY(describe_all(step, request, tags));
  } else {
    for (const std::string& text : request.capacity_providers) {
      const std::string name = provider_name(step, text);
      if (auto one = described(step, name, tags)) {
        response.capacity_providers.push_back(std::move(*one));
        continue;
      }
      const std::string arn = text.starts_with("arn:")
                                  ? text
                                  : model::capacity_provider_arn(step.settings.account, name);
      response.failures.push_back(failure(arn, placement::reason_missing));
    }
  }
  response.capacity_providers.set_present();
  response.failures.set_present();
  return response;
}

}  // namespace control::ecs
