// The records of services. A part of records.h; nobody else includes it.
//   service/<cluster>/<name>   service-events/<cluster>/<name>
//   service-revision/<cluster>/<service>/<id>   service-deployment/<cluster>/<service>/<id>
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/state.h"

namespace model {

// "arn:...:task/<cluster>/<id>" to "task/<cluster>/<id>": what is behind the account.
std::string_view behind_account(std::string_view arn);

std::string key_of(const ServiceArn& arn);
std::string key_of(const ServiceRevisionArn& arn);
std::string key_of(const ServiceDeploymentArn& arn);
std::string events_key_of(const ServiceArn& arn);

// The record of a key, nullopt inside: it is to be deleted; nullopt when the key is of another
// kind.
std::optional<std::optional<std::string>> encode_of_service(const ClusterState& state,
                                                            const Account& account,
                                                            std::string_view key);
// False when the key is of another kind. Errors: what is wrong with the text.
base::Result<bool> load_of_service(ClusterState& state, std::string_view key,
                                   std::string_view value);

}  // namespace model
