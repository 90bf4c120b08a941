#include "server/service_table.h"

#include <algorithm>

#include "secrets/service.h"

namespace server {
namespace {

std::optional<Destination> of_core(const api::Operation& operation, const control::Action* action) {
  if (operation.name == "ExecuteCommand") return Destination::ExecuteCommand;
  if (action == nullptr) return std::nullopt;
  return Destination::Core;
}

// Every operation that has shapes is built.
std::optional<Destination> of_logs(const api::Operation&, const control::Action*) {
  return Destination::Logs;
}

std::optional<Destination> of_secrets(const api::Operation& operation, const control::Action*) {
  if (operation.name == "ResumeSession" || operation.name == "TerminateSession") {
    return Destination::SessionManager;
  }
  if (!secrets::Service::is_built(operation)) return std::nullopt;
  return Destination::Secrets;
}

std::optional<Destination> of_identity(const api::Operation& operation, const control::Action*) {
  if (operation.name != "GetCallerIdentity") return std::nullopt;
  return Destination::CallerIdentity;
}

constexpr size_t mib = size_t{1} << 20;
constexpr ServiceRow rows[] = {
    {api::ecs_service, mib, of_core},         {api::berth_service, mib, of_core},
    {api::autoscaling_service, mib, of_core}, {api::ec2_service, mib, of_core},
    {api::logs_service, 6 * mib, of_logs},  // A whole batch of PutLogEvents.
    {api::ssm_service, mib, of_secrets},      {api::secretsmanager_service, mib, of_secrets},
    {api::sts_service, mib, of_identity},
};

template <class Fits>
const ServiceRow* find_row(Fits fits) {
  const auto found =
      std::ranges::find_if(rows, [&](const ServiceRow& row) { return fits(row.service()); });
  return found == std::end(rows) ? nullptr : found;
}

}  // namespace

std::vector<std::string> service_names() {
  std::vector<std::string> names;
  for (const ServiceRow& row : rows) names.emplace_back(row.service().name);
  return names;
}

const ServiceRow* find_service(std::string_view name) {
  return find_row([&](const api::Service& service) { return service.name == name; });
}

const ServiceRow* find_service_of_target(std::string_view target) {
  const std::string_view prefix = target.substr(0, target.rfind('.'));
  return find_row([&](const api::Service& service) {
    return !prefix.empty() && service.target_prefix == prefix;
  });
}

}  // namespace server
