#include "control/agents/official_agent.h"

#include <algorithm>

#include "base/format.h"
#include "json/value.h"

namespace control {
namespace {

constexpr std::string_view prefix_option = "awslogs-stream-prefix";

json::Value docker_options(const Step& step, const acs::Task& payload,
                           const acs::Container& container, const json::Value& options) {
  json::Value made = json::Value::object();
  for (const json::Field& option : options.fields()) {
    if (option.name != prefix_option) made.set(option.name, option.value);
  }
  const json::Value* const prefix = options.find(prefix_option);
  if (prefix != nullptr && made.find("awslogs-stream") == nullptr) {
    made.set("awslogs-stream", base::format("{}/{}/{}", prefix->text_or(""), container.name,
                                            model::short_id(payload.arn)));
  }
  if (made.find("awslogs-region") == nullptr) {
    made.set("awslogs-region", step.settings.account.region);
  }
  if (made.find("awslogs-endpoint") == nullptr) {
    made.set("awslogs-endpoint", step.settings.poll_endpoint);
  }
  return made;
}

// The container's share of the devices is decided here: what its definition or its image says of
// them counts for nothing. One with a GPU gets its list from the agent.
void keep_gpus_away(const acs::Task& payload, acs::Container& container) {
  const bool has_gpu = std::ranges::any_of(payload.associations, [&](const auto& association) {
    return std::ranges::find(association.containers, container.name) !=
           association.containers.end();
  });
  if (!has_gpu) container.environment["NVIDIA_VISIBLE_DEVICES"] = "void";
}

}  // namespace

bool is_berth_agent(const model::ContainerInstance& instance) {
  return instance.attributes.contains("berth.agent");
}

void adapt_to_official_agent(const Step& step, acs::Task& payload) {
  for (acs::Container& container : payload.containers) {
    keep_gpus_away(payload, container);
    // It would ask Amazon ECR with the keys of this server, and pull nothing then; without, it logs
    // in as its own configuration says.
    const auto& login = container.registry_authentication;
    if (login && login->type == "ecr") container.registry_authentication.reset();
    if (!container.docker_config) continue;
    auto host = json::parse(container.docker_config->host_config);
    CHECK(host.has_value());  // Our own text.
    json::Value log = (*host)["LogConfig"];
    if (log["Type"].text_or("") != "awslogs") continue;
    log.set("Config", docker_options(step, payload, container, log["Config"]));
    host->set("LogConfig", std::move(log));
    container.docker_config->host_config = json::print(*host);
    // Docker's daemon has no keys of this server: it asks the agent for the execution role's.
    if (payload.execution_role_credentials) container.logs_auth_strategy = "ExecutionRole";
  }
}

}  // namespace control
