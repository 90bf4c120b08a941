// A cluster's container instances, as people name and see them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/installation.h"

namespace cli {

using Instances = std::vector<api::ecs::ContainerInstance>;

// All that are registered, with their health, in the API's order. Errors: the API's.
base::Result<Instances> read_instances(const Credentials& credentials, const std::string& cluster);

// The machine's host name; where it told none, its EC2 instance id, else the instance's own.
std::string host_name_of(const api::ecs::ContainerInstance& instance);
// "p3.8xlarge"; "-" where it is not known.
std::string type_of(const api::ecs::ContainerInstance& instance);

// What speaks against the instance: "DRAINING", "no agent for 3 min: the connection has ended",
// empty where nothing does.
std::string trouble_of(const api::ecs::ContainerInstance& instance, base::Time now);

// "refused: GPU GPU-1 claimed by 10.0.0.8 with the key BERTHX at 2026-01-31T12:00:00.000Z": the
// last claim of another machine to what this one has; empty: none since the server's start.
std::string refused_claim_of(const api::ecs::ContainerInstance& instance);

// nullptr: there is none with this ARN.
const api::ecs::ContainerInstance* find_by_arn(const Instances& instances, std::string_view arn);

// The one that is meant by an ARN, an id, the beginning of one id, a host name or an EC2 instance
// id. Errors: "NotFound"; "Ambiguous", which lists those that it could be.
base::Result<const api::ecs::ContainerInstance*> named_instance(const Instances& instances,
                                                                std::string_view name);

struct NamedGpu {
  const api::ecs::ContainerInstance* instance = nullptr;
  size_t index = 0;  // Of the GPU on it.
};
// The GPU that is meant by its id, the beginning of one id, or, as "node3:2", by its instance, in
// any of the ways above, and its index there. Errors: "NotFound"; "Ambiguous".
base::Result<NamedGpu> named_gpu(const Instances& instances, std::string_view name);

}  // namespace cli
