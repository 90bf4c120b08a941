// The task metadata endpoint, versions 2 to 4, and the credentials endpoint: what containers ask of
// their agent. Pure values; metadata_server.h serves them.
// Source: ECS Developer Guide, "Amazon ECS task metadata endpoint version 4"; amazon-ecs-agent,
// ecs-agent/tmds/handlers.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/core/core.h"
#include "agent/task_credentials.h"
#include "agent/task_tags.h"
#include "docker/runtime.h"
#include "gpu/devices.h"
#include "json/value.h"
#include "net/http.h"

namespace agent {

// What the answers are made of.
struct MetadataView {
  const core::Core& core;
  const TaskCredentials& credentials;
  const gpu::Inventory& gpus;
  const std::string& availability_zone;
};

// Docker has to be asked for the figures of these containers.
struct StatsWanted {
  struct Of {
    std::string runtime_id;
    std::vector<std::string> gpus;  // UUIDs.
  };
  std::vector<Of> containers;
  bool as_map = false;  // By DockerId; false: the one container's alone.
};
using MetadataAnswer = std::variant<net::HttpResponse, StatsWanted, TagsWanted>;

// `task_arn`: only this task is told of, since the request came in its network; empty: whoever
// knows a container's id, on the machine itself.
MetadataAnswer answer_metadata(const MetadataView& view, const std::string& task_arn,
                               std::string_view target);

// Docker's own document, with the members that ECS adds and ours: gpu_stats.
struct GpuFigures {
  std::string uuid;
  gpu::DeviceUse use;
};
json::Value stats_document(const docker::ContainerStats& stats,
                           const std::vector<GpuFigures>& gpus);
inline constexpr int bad_request = 400;
net::HttpResponse json_response(int status, const json::Value& body);

}  // namespace agent
