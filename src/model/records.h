// The store's records: one key a thing, its value a JSON text that people can read. Each kind is an
// alternative of RecordKey here and a row in records.cpp, which says what its keys look like.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/change.h"
#include "model/record_types.h"

namespace model {

// Of a record that the state keeps under a plain name.
template <class Record>
struct Named {
  std::string name;
  friend auto operator<=>(const Named&, const Named&) = default;
};
struct ServiceEventsKey {
  ServiceArn service;
  friend auto operator<=>(const ServiceEventsKey&, const ServiceEventsKey&) = default;
};
struct ClientTokenKey {
  ClusterName cluster;
  std::string token;
  friend auto operator<=>(const ClientTokenKey&, const ClientTokenKey&) = default;
};
struct SequenceNumbersKey {
  friend auto operator<=>(const SequenceNumbersKey&, const SequenceNumbersKey&) = default;
};

using RecordKey = std::variant<ClusterName, TaskDefinitionArn, Named<DeletedRevisionsRecord>,
                               InstanceArn, TaskArn, ClientTokenKey, ServiceArn, ServiceEventsKey,
                               ServiceRevisionArn, ServiceDeploymentArn, CapacityProviderName,
                               Named<AutoScalingGroup>, Named<ScalingActivities>,
                               Named<LaunchConfiguration>, Named<LaunchTemplate>, Named<AgentKey>,
                               Named<JoinToken>, Named<AccountSettingRecord>, SequenceNumbersKey>;

// The key as the store has it: "task/<cluster>/<id>".
std::string print(const RecordKey& key);

// Adds the keys of the records that the change writes; none for changes that live in memory only.
// To be called after apply().
void add_record_keys(const ClusterState& state, const Change& change, std::set<RecordKey>& keys);

// The record as the state stands; nullopt: it is to be deleted.
std::optional<std::string> encode_record(const ClusterState& state, const RecordKey& key);

// Of all records that the state consists of. For tests and the simulator.
std::vector<RecordKey> record_keys(const ClusterState& state);

// Takes one stored record into `state`. Errors: "StoreCorrupt", naming the key and what is wrong.
base::Result<void> load_record(ClusterState& state, std::string_view key, std::string_view value);

// After the last load_record(): makes everything that is derived. Errors: "StoreCorrupt".
base::Result<void> finish_load(ClusterState& state);

}  // namespace model
