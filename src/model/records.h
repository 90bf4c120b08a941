// The store's records: one key a thing, its value a JSON text that people can read.
//   cluster/<name>   task-definition/<family>/<revision>   instance/<cluster>/<id>
//   task/<cluster>/<id>   client-token/<cluster>/<token>
//   service/<cluster>/<name>   service-events/<cluster>/<name>
//   service-revision/<cluster>/<service>/<id>   service-deployment/<cluster>/<service>/<id>
//   sequence-numbers
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/change.h"

namespace model {

// Adds the keys that the change writes; none for changes that live in memory only. To be called
// after apply().
void add_record_keys(const ClusterState& state, const Change& change, std::set<std::string>& keys);

// Writes records as a state stands at the call. The references outlive the encoder.
class RecordEncoder {
 public:
  RecordEncoder(const ClusterState& state, const Account& account);
  // The record of a key; nullopt: the record is to be deleted.
  std::optional<std::string> encode(std::string_view key) const;

 private:
  const ClusterState& state_;
  const Account& account_;
};

// Takes one stored record into `state`. Errors: "StoreCorrupt", naming the key and what is wrong.
base::Result<void> load_record(ClusterState& state, std::string_view key, std::string_view value);

// After the last load_record(): makes everything that is derived. Errors: "StoreCorrupt".
base::Result<void> finish_load(ClusterState& state);

}  // namespace model
