// Where tasks get instances from, as the control plane keeps it: plain values, altered by apply()
// (model/change.h) alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/generated/ecs.h"
#include "api/shape.h"
#include "base/time.h"
#include "model/ids.h"

namespace model {

// The built-in capacity provider of every cluster: its own machines, with a queue.
inline constexpr std::string_view berth_queue = "BERTH_QUEUE";

// A capacity provider over an Auto Scaling group. Source: ECS API reference, CapacityProvider.
struct CapacityProvider {
  std::string name;
  api::ecs::CapacityProviderStatus status = api::ecs::CapacityProviderStatus::Active;
  base::Time created_at;
  api::ecs::AutoScalingGroupProvider group;  // With the defaults filled in.
  std::optional<api::ecs::CapacityProviderUpdateStatus> update_status;
  std::string update_status_reason;
  api::List<api::ecs::Tag> tags;
};
API_DESCRIBED(CapacityProvider);

// What a task in PROVISIONING keeps of the call that wants it placed. What its definition and its
// overrides say is not repeated here.
struct WaitingTask {
  api::List<api::ecs::PlacementConstraint> constraints;
  api::List<api::ecs::PlacementStrategy> strategies;
  friend bool operator==(const WaitingTask&, const WaitingTask&) = default;
};
API_DESCRIBED(WaitingTask);

// A machine of an Auto Scaling group, from the moment that its launch was decided.
// Source: Auto Scaling API reference, Instance, LifecycleState.
enum class MachineState : uint8_t {
  Wanted,       // The machine provider has been asked, or is to be asked, for it.
  Pending,      // Launched; its agent has not registered yet.
  InService,    // Its agent has registered it.
  Terminating,  // To be ended, or being ended, by the machine provider.
};
API_DESCRIBED(MachineState);

struct Machine {
  std::string token;  // Ours: names it to the machine provider before it has an id.
  std::string id;     // The machine provider's, "i-..."; empty until launched.
  std::string instance_type;
  std::string availability_zone;
  std::string launch_name;     // Of the launch configuration or template that it was made from.
  std::string launch_version;  // Of a launch template.
  MachineState state = MachineState::Wanted;
  bool scale_in_protected = false;
  bool healthy = true;
  base::Time changed_at;  // When it came into this state.
  base::Time created_at;
  std::string reason;  // Why it is being ended, or why it could not be launched.
  friend bool operator==(const Machine&, const Machine&) = default;
};
API_DESCRIBED(Machine);

struct GroupTag {
  std::string key;
  std::string value;
  bool propagate_at_launch = false;
  friend bool operator==(const GroupTag&, const GroupTag&) = default;
};
API_DESCRIBED(GroupTag);

// Source: Auto Scaling API reference, AutoScalingGroup.
struct AutoScalingGroup {
  std::string name;
  std::string id;  // Of its ARN.
  base::Time created_at;
  int32_t min_size = 0;
  int32_t max_size = 0;
  int32_t desired_capacity = 0;
  int32_t default_cooldown_s = 300;
  int32_t health_check_grace_s = 0;
  std::string health_check_type = "EC2";
  std::string launch_configuration;     // Either this
  std::string launch_template;          // or this: the template's id,
  std::string launch_template_version;  // with a number, "$Latest" or "$Default".
  std::string instance_type;            // What the next machine is, from the one of the two.
  std::vector<std::string> availability_zones;
  std::string subnets;  // VPCZoneIdentifier, as given.
  std::vector<std::string> termination_policies;
  bool new_machines_protected = false;
  bool deleting = false;  // Its machines are being ended.
  std::vector<GroupTag> tags;
  std::vector<Machine> machines;                // The oldest first.
  std::optional<base::Time> launch_not_before;  // After launches that failed.
  int32_t launch_failures = 0;                  // In a row.
  // How many points of CapacityProviderReservation in a row have asked for less; counted up to the
  // number at which capacity goes down.
  int32_t points_below = 0;
  // What of the call is only told back: JSON of its members, as given.
  std::string echoed;
  friend bool operator==(const AutoScalingGroup&, const AutoScalingGroup&) = default;
};
API_DESCRIBED(AutoScalingGroup);

// Source: Auto Scaling API reference, Activity.
struct ScalingActivity {
  std::string id;
  std::string group;
  base::Time started_at;
  std::optional<base::Time> ended_at;
  std::string status;  // "InProgress", "Successful", "Failed", "Cancelled".
  std::string status_message;
  std::string description;
  std::string cause;
};
API_DESCRIBED(ScalingActivity);
// Of one group; beyond this number the oldest are forgotten.
inline constexpr size_t most_scaling_activities = 100;

// The last ones of a group, the oldest first.
struct ScalingActivities {
  std::string group;
  std::vector<ScalingActivity> activities;
};
API_DESCRIBED(ScalingActivities);

// Source: Auto Scaling API reference, LaunchConfiguration.
struct LaunchConfiguration {
  std::string name;
  std::string id;  // Of its ARN.
  base::Time created_at;
  std::string instance_type;
  std::string user_data;
  std::string echoed;  // JSON of the call's members, as given.
};
API_DESCRIBED(LaunchConfiguration);

// Source: EC2 API reference, LaunchTemplateVersion.
struct LaunchTemplateVersion {
  int64_t number = 1;
  std::string description;
  base::Time created_at;
  std::string instance_type;
  std::string user_data;
  std::string data;  // JSON of RequestLaunchTemplateData, as given.
  std::string client_token{};
  std::string request_hash{};  // Of the call with that token.
};
API_DESCRIBED(LaunchTemplateVersion);

struct LaunchTemplate {
  std::string id;  // "lt-<17 hex digits>".
  std::string name;
  base::Time created_at;
  std::string client_token{};
  std::string request_hash{};  // Of the call with that token.
  int64_t default_version = 1;
  int64_t latest_version = 1;
  std::vector<LaunchTemplateVersion> versions;  // By number.
  api::List<api::ecs::Tag> tags;
};
API_DESCRIBED(LaunchTemplate);

}  // namespace model
