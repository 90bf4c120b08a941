// The operations of Amazon EC2 that the control plane answers: launch templates, and what clients
// ask beside them. Each one's contract is its page of the EC2 API reference.
#pragma once

#include <string_view>

#include "api/generated/ec2.h"
#include "control/step/action.h"

namespace control::ec2 {

// Launch templates
Answer<api::ec2::CreateLaunchTemplateResult> create_launch_template(
    Step&, const api::ec2::CreateLaunchTemplateRequest&);
Answer<api::ec2::CreateLaunchTemplateVersionResult> create_launch_template_version(
    Step&, const api::ec2::CreateLaunchTemplateVersionRequest&);
Answer<api::ec2::DescribeLaunchTemplatesResult> describe_launch_templates(
    Step&, const api::ec2::DescribeLaunchTemplatesRequest&);
Answer<api::ec2::DescribeLaunchTemplateVersionsResult> describe_launch_template_versions(
    Step&, const api::ec2::DescribeLaunchTemplateVersionsRequest&);
Answer<api::ec2::ModifyLaunchTemplateResult> modify_launch_template(
    Step&, const api::ec2::ModifyLaunchTemplateRequest&);
Answer<api::ec2::DeleteLaunchTemplateResult> delete_launch_template(
    Step&, const api::ec2::DeleteLaunchTemplateRequest&);
Answer<api::ec2::DeleteLaunchTemplateVersionsResult> delete_launch_template_versions(
    Step&, const api::ec2::DeleteLaunchTemplateVersionsRequest&);

// Tags
Answer<api::ec2::CreateTagsResponse> create_tags(Step&, const api::ec2::CreateTagsRequest&);
Answer<api::ec2::DeleteTagsResponse> delete_tags(Step&, const api::ec2::DeleteTagsRequest&);

// What there is
Answer<api::ec2::DescribeAvailabilityZonesResult> describe_availability_zones(
    Step&, const api::ec2::DescribeAvailabilityZonesRequest&);
Answer<api::ec2::DescribeInstanceTypesResult> describe_instance_types(
    Step&, const api::ec2::DescribeInstanceTypesRequest&);

// Sorted by name.
std::span<const Action> operations();

}  // namespace control::ec2
