#include <algorithm>
#include <array>

#include "control/ec2/actions/actions.h"

namespace control::ec2 {
namespace {

// Sorted by name.
constexpr std::array actions{
    Action{"CreateLaunchTemplate", adapted<create_launch_template>},
    Action{"CreateLaunchTemplateVersion", adapted<create_launch_template_version>},
    Action{"CreateTags", adapted<create_tags>},
    Action{"DeleteLaunchTemplate", adapted<delete_launch_template>},
    Action{"DeleteLaunchTemplateVersions", adapted<delete_launch_template_versions>},
    Action{"DeleteTags", adapted<delete_tags>},
    Action{"DescribeAvailabilityZones", adapted<describe_availability_zones>},
    Action{"DescribeInstanceTypes", adapted<describe_instance_types>},
    Action{"DescribeLaunchTemplateVersions", adapted<describe_launch_template_versions>},
    Action{"DescribeLaunchTemplates", adapted<describe_launch_templates>},
    Action{"ModifyLaunchTemplate", adapted<modify_launch_template>},
};
static_assert(std::ranges::is_sorted(actions, {}, &Action::operation));

}  // namespace

std::span<const Action> operations() {
  return actions;
}

}  // namespace control::ec2
