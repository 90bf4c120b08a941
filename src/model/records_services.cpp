#include "model/records_services.h"

#include "api/json.h"
#include "base/format.h"
#include "model/print_record.h"

namespace model {
namespace {

constexpr std::string_view service_prefix = "service/";
constexpr std::string_view events_prefix = "service-events/";
constexpr std::string_view revision_prefix = "service-revision/";
constexpr std::string_view rollout_prefix = "service-deployment/";

// The ARN of a thing with such a key, where the key is the ARN's last part.
template <class Arn>
Arn arn_of(const Account& account, std::string_view key) {
  return Arn(base::format("arn:aws:ecs:{}:{}:{}", account.region, account.id, key));
}

template <class Arn, class Record>
base::Result<bool> load_by_arn(std::map<Arn, Record>& records, const Arn Record::* arn,
                               std::string_view value) {
  Record record = TRY(api::parse<Record>(value));
  const Arn id = record.*arn;
  records.emplace(id, std::move(record));
  return true;
}

}  // namespace

std::string_view behind_account(std::string_view arn) {
  for (int colons = 0; colons < 5; ++colons) arn.remove_prefix(arn.find(':') + 1);
  return arn;
}

std::string key_of(const ServiceArn& arn) {
  return std::string(behind_account(arn.str()));
}
std::string key_of(const ServiceRevisionArn& arn) {
  return std::string(behind_account(arn.str()));
}
std::string key_of(const ServiceDeploymentArn& arn) {
  return std::string(behind_account(arn.str()));
}
std::string events_key_of(const ServiceArn& arn) {
  return std::string(events_prefix) + key_of(arn).substr(service_prefix.size());
}

std::optional<std::optional<std::string>> encode_of_service(const ClusterState& state,
                                                            const Account& account,
                                                            std::string_view key) {
  if (key.starts_with(service_prefix)) {
    return print_record(state.services, arn_of<ServiceArn>(account, key));
  }
  if (key.starts_with(events_prefix)) {
    const std::string_view name = key.substr(events_prefix.size());
    return print_record(state.service_events,
                        arn_of<ServiceArn>(account, base::format("{}{}", service_prefix, name)));
  }
  if (key.starts_with(revision_prefix)) {
    return print_record(state.service_revisions, arn_of<ServiceRevisionArn>(account, key));
  }
  if (key.starts_with(rollout_prefix)) {
    return print_record(state.service_deployments, arn_of<ServiceDeploymentArn>(account, key));
  }
  return std::nullopt;
}

base::Result<bool> load_of_service(ClusterState& state, std::string_view key,
                                   std::string_view value) {
  if (key.starts_with(service_prefix)) {
    return load_by_arn<ServiceArn, Service>(state.services, &Service::arn, value);
  }
  if (key.starts_with(events_prefix)) {
    return load_by_arn<ServiceArn, ServiceEvents>(state.service_events, &ServiceEvents::service,
                                                  value);
  }
  if (key.starts_with(revision_prefix)) {
    return load_by_arn<ServiceRevisionArn, ServiceRevision>(state.service_revisions,
                                                            &ServiceRevision::arn, value);
  }
  if (key.starts_with(rollout_prefix)) {
    return load_by_arn<ServiceDeploymentArn, ServiceDeployment>(state.service_deployments,
                                                                &ServiceDeployment::arn, value);
  }
  return false;
}

}  // namespace model
