"""Auto Scaling groups and launch templates with boto3 and the AWS CLI, on both query protocols."""

import collections
import datetime
import json
import os
import re
import unittest
import uuid

import botocore.exceptions
import botocore.session

import test_cli_aws
from harness import Server, wait_for

server = None
HERE = os.path.dirname(os.path.abspath(__file__))


def setUpModule():
    global server
    server = Server(command="server")
    test_cli_aws.server = server


def tearDownModule():
    server.close()


def name_of(kind):
    return f"{kind}-{uuid.uuid4().hex[:8]}"


def refusal(call, *arguments, **parameters):
    try:
        call(*arguments, **parameters)
    except botocore.exceptions.ClientError as error:
        return error.response["Error"]
    raise AssertionError(f"not refused: {parameters}")


class WireNames(unittest.TestCase):
    """The generated tables of EC2 against botocore's own model of it."""

    def described(self):
        """{structure: {member: (form, xml, items)}} as src/api/generated/ec2.cpp has them."""
        with open(os.path.join(HERE, "..", "src", "api", "generated", "ec2.cpp")) as file:
            text = file.read()
        found = {}
        for structure, body in re.findall(r"API_DESCRIBE(?:_UNION)?\((\w+)(.*?)\);\nbool", text, re.S):
            members = {}
            for line in body.split("\n"):
                plain = re.search(r'API_\w+\(\w+, "(\w+)"', line)
                if not plain:
                    continue
                names = re.search(r'\), "(\w*)", "(\w*)"(?:, "(\w+)")?\)', line)
                form, xml, items = names.groups() if names else ("", "", None)
                members[plain[1]] = (form or plain[1], xml or plain[1], items or "item")
            found[structure] = members
        return found

    def test_every_member_has_the_names_of_botocore(self):
        model = botocore.session.get_session().get_service_model("ec2")
        described = self.described()
        checked = collections.Counter()

        def check(shape, is_input, seen):
            if shape.type_name == "list":
                return check(shape.member, is_input, seen)
            if shape.type_name != "structure" or (shape.name, is_input) in seen:
                return None
            seen.add((shape.name, is_input))
            ours = described.get(shape.name)
            if ours is None:  # The SDK and botocore name the request of one operation differently.
                checked["other name: " + shape.name] += 1
                return None
            for name, member in shape.members.items():
                if name not in ours:
                    checked["newer: " + name] += 1
                    continue
                form, xml, items = ours[name]
                serialization = member.serialization
                if is_input:
                    capital = serialization.get("name", name)
                    expected = serialization.get("queryName", capital[0].upper() + capital[1:])
                    self.assertEqual(expected, form, f"{shape.name}.{name}")
                else:
                    self.assertEqual(serialization.get("name", name), xml, f"{shape.name}.{name}")
                    if member.type_name == "list":
                        self.assertEqual(member.member.serialization.get("name", "member"), items,
                                         f"{shape.name}.{name}")
                checked["members"] += 1
                check(member, is_input, seen)
            return None

        with open(os.path.join(HERE, "..", "tools", "apigen", "overlay.json")) as file:
            operations = json.load(file)["ec2"]["operations"]
        for operation in operations:
            operation_model = model.operation_model(operation)
            check(operation_model.input_shape, True, set())
            if operation_model.output_shape is not None:
                check(operation_model.output_shape, False, set())
        self.assertGreater(checked["members"], 500)
        self.assertEqual([], [one for one in checked if one.startswith("other name")])


class LaunchTemplates(unittest.TestCase):
    def setUp(self):
        self.ec2 = server.client("ec2")

    DATA = {
        "ImageId": "ami-0abc", "InstanceType": "p4d.24xlarge", "KeyName": "key",
        "EbsOptimized": True, "UserData": "ZWNobw==", "SecurityGroupIds": ["sg-1", "sg-2"],
        "IamInstanceProfile": {"Name": "ecsInstanceRole"},
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {
            "VolumeSize": 200, "VolumeType": "gp3", "Encrypted": True, "DeleteOnTermination": True}}],
        "NetworkInterfaces": [{"DeviceIndex": 0, "AssociatePublicIpAddress": True,
                               "Groups": ["sg-3"], "InterfaceType": "efa"}],
        "Monitoring": {"Enabled": True}, "Placement": {"AvailabilityZone": "us-east-1a"},
        "TagSpecifications": [{"ResourceType": "instance",
                               "Tags": [{"Key": "a&b", "Value": "<\"'é>"}]}],
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        "CreditSpecification": {"CpuCredits": "standard"},
        "CapacityReservationSpecification": {"CapacityReservationPreference": "none"},
        "InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": {
            "MaxPrice": "1.5", "ValidUntil": datetime.datetime(
                2030, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)}},
    }

    def test_what_is_sent_comes_back(self):
        name = name_of("lt")
        made = self.ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData=self.DATA, VersionDescription="<first>",
            TagSpecifications=[{"ResourceType": "launch-template",
                                "Tags": [{"Key": "team", "Value": "x"}]}])["LaunchTemplate"]
        self.assertEqual((name, 1, 1, [{"Key": "team", "Value": "x"}]),
                         (made["LaunchTemplateName"], made["DefaultVersionNumber"],
                          made["LatestVersionNumber"], made["Tags"]))
        self.assertIsInstance(made["CreateTime"], datetime.datetime)
        told = self.ec2.describe_launch_template_versions(
            LaunchTemplateId=made["LaunchTemplateId"])["LaunchTemplateVersions"]
        self.assertEqual(1, len(told))
        self.assertEqual(self.DATA, told[0]["LaunchTemplateData"])
        self.assertEqual("<first>", told[0]["VersionDescription"])
        self.assertTrue(told[0]["DefaultVersion"])
        listed = self.ec2.describe_launch_templates(LaunchTemplateNames=[name])["LaunchTemplates"]
        self.assertEqual([made], listed)

    def test_versions_are_made_chosen_and_deleted(self):
        name = name_of("lt")
        template = self.ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData={"InstanceType": "p3.2xlarge"})
        identifier = template["LaunchTemplate"]["LaunchTemplateId"]
        for size in ("p3.8xlarge", "p3.16xlarge"):
            self.ec2.create_launch_template_version(
                LaunchTemplateName=name, SourceVersion="1", LaunchTemplateData={"InstanceType": size})
        altered = self.ec2.modify_launch_template(LaunchTemplateId=identifier, DefaultVersion="2")
        self.assertEqual(2, altered["LaunchTemplate"]["DefaultVersionNumber"])
        chosen = self.ec2.describe_launch_template_versions(
            LaunchTemplateName=name, Versions=["$Latest", "$Default"])["LaunchTemplateVersions"]
        self.assertEqual([(3, "p3.16xlarge"), (2, "p3.8xlarge")],
                         [(one["VersionNumber"], one["LaunchTemplateData"]["InstanceType"])
                          for one in chosen])
        deleted = self.ec2.delete_launch_template_versions(
            LaunchTemplateId=identifier, Versions=["1", "2"])
        self.assertEqual([1], [one["VersionNumber"] for one in
                               deleted["SuccessfullyDeletedLaunchTemplateVersions"]])
        self.assertEqual([2], [one["VersionNumber"] for one in
                               deleted["UnsuccessfullyDeletedLaunchTemplateVersions"]])
        pages = self.ec2.get_paginator("describe_launch_template_versions").paginate(
            LaunchTemplateId=identifier, PaginationConfig={"PageSize": 1})
        self.assertEqual([3, 2], [one["VersionNumber"] for page in pages
                                  for one in page["LaunchTemplateVersions"]])
        self.ec2.delete_launch_template(LaunchTemplateId=identifier)
        self.assertEqual("InvalidLaunchTemplateId.NotFound", refusal(
            self.ec2.describe_launch_templates, LaunchTemplateIds=[identifier])["Code"])

    def test_errors_have_the_shape_of_ec2(self):
        error = refusal(self.ec2.delete_launch_template, LaunchTemplateName="none<&>")
        self.assertEqual("InvalidLaunchTemplateName.NotFoundException", error["Code"])
        self.assertIn("none<&>", error["Message"])
        form = "Action=RunInstances&Version=2016-11-15"
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        reply = server.send(server.signed(form, service="ec2", headers=headers))
        self.assertEqual(400, reply.status)
        self.assertIn(b"<Response><Errors><Error><Code>InvalidAction</Code>", reply.body)
        unsigned = server.send(server.signed(form, service="ec2", headers=headers, secret="wrong"))
        self.assertEqual(403, unsigned.status)
        self.assertIn(b"<Response><Errors><Error><Code>SignatureDoesNotMatch</Code>", unsigned.body)
        self.assertEqual("DryRunOperation", refusal(
            self.ec2.create_launch_template, LaunchTemplateName=name_of("lt"), DryRun=True,
            LaunchTemplateData={"InstanceType": "p3.2xlarge"})["Code"])

    def test_tags(self):
        name = name_of("lt")
        identifier = self.ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData={"InstanceType": "p3.2xlarge"},
        )["LaunchTemplate"]["LaunchTemplateId"]
        self.ec2.create_tags(Resources=[identifier], Tags=[{"Key": "a", "Value": "1"},
                                                          {"Key": "b", "Value": "2"}])
        self.ec2.delete_tags(Resources=[identifier], Tags=[{"Key": "a"}])
        found = self.ec2.describe_launch_templates(
            Filters=[{"Name": "tag:b", "Values": ["2"]}])["LaunchTemplates"]
        self.assertEqual([[{"Key": "b", "Value": "2"}]], [one["Tags"] for one in found])

    def test_zones_and_types(self):
        zones = self.ec2.describe_availability_zones(
            Filters=[{"Name": "state", "Values": ["available"]},
                     {"Name": "opt-in-status", "Values": ["opt-in-not-required"]}])
        self.assertEqual("us-east-1a", zones["AvailabilityZones"][0]["ZoneName"])
        told = self.ec2.describe_instance_types(InstanceTypes=["p4d.24xlarge"])["InstanceTypes"][0]
        self.assertEqual(8, told["GpuInfo"]["Gpus"][0]["Count"])
        self.assertEqual(96, told["VCpuInfo"]["DefaultVCpus"])
        pages = self.ec2.get_paginator("describe_instance_types").paginate(
            PaginationConfig={"PageSize": 5})
        names = [one["InstanceType"] for page in pages for one in page["InstanceTypes"]]
        self.assertEqual(sorted(set(names)), names)
        self.assertIn("p3.2xlarge", names)


class Groups(unittest.TestCase):
    def setUp(self):
        self.scaling = server.client("autoscaling")
        self.ec2 = server.client("ec2")

    def make(self, **members):
        name = name_of("asg")
        if "LaunchTemplate" not in members:
            configuration = name_of("lc")
            self.scaling.create_launch_configuration(
                LaunchConfigurationName=configuration, ImageId="ami-1", InstanceType="p3.2xlarge")
            members["LaunchConfigurationName"] = configuration
        members = {"MinSize": 0, "MaxSize": 4, "AvailabilityZones": ["us-east-1a"], **members}
        self.scaling.create_auto_scaling_group(AutoScalingGroupName=name, **members)
        return name

    def told(self, name):
        groups = self.scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])
        self.assertEqual(1, len(groups["AutoScalingGroups"]))
        return groups["AutoScalingGroups"][0]

    def test_what_is_sent_comes_back(self):
        self.ec2.create_launch_template(
            LaunchTemplateName=(template := name_of("lt")),
            LaunchTemplateData={"InstanceType": "g4dn.xlarge"})
        sent = {
            "LaunchTemplate": {"LaunchTemplateName": template, "Version": "$Latest"},
            "MinSize": 0, "MaxSize": 3, "DesiredCapacity": 0, "DefaultCooldown": 60,
            "AvailabilityZones": ["us-east-1a", "us-east-1b"],
            "VPCZoneIdentifier": "subnet-1,subnet-2", "HealthCheckType": "EC2",
            "HealthCheckGracePeriod": 300, "PlacementGroup": "pg <1>",
            "TerminationPolicies": ["OldestLaunchTemplate", "Default"],
            "NewInstancesProtectedFromScaleIn": True, "CapacityRebalance": False,
            "ServiceLinkedRoleARN": "arn:aws:iam::123456789012:role/r", "MaxInstanceLifetime": 0,
            "Context": "c", "DesiredCapacityType": "units", "DefaultInstanceWarmup": 30,
            "InstanceMaintenancePolicy": {"MinHealthyPercentage": 90, "MaxHealthyPercentage": 110},
        }
        known = self.scaling.meta.service_model.operation_model(
            "CreateAutoScalingGroup").input_shape.members
        sent = {member: value for member, value in sent.items() if member in known}
        name = self.make(Tags=[{"Key": "AmazonECSManaged", "Value": "", "PropagateAtLaunch": True}],
                         **sent)
        told = self.told(name)
        for member, value in sent.items():
            if member == "LaunchTemplate":
                value = {**value, "LaunchTemplateId": told[member]["LaunchTemplateId"]}
            self.assertEqual(value, told[member], member)
        self.assertEqual([{"ResourceId": name, "ResourceType": "auto-scaling-group",
                           "Key": "AmazonECSManaged", "Value": "", "PropagateAtLaunch": True}],
                         told["Tags"])
        for empty in ("Instances", "LoadBalancerNames", "TargetGroupARNs", "SuspendedProcesses",
                      "EnabledMetrics", "TrafficSources"):
            self.assertEqual([], told[empty], empty)
        self.assertTrue(told["AutoScalingGroupARN"].startswith(
            f"arn:aws:autoscaling:us-east-1:{server.account}:autoScalingGroup:"))

    def test_a_launch_configuration_comes_back(self):
        name = name_of("lc")
        sent = {"ImageId": "ami-1", "InstanceType": "p3.2xlarge", "KeyName": "k",
                "SecurityGroups": ["sg-1"], "UserData": "echo <é>",
                "IamInstanceProfile": "profile", "EbsOptimized": True,
                "InstanceMonitoring": {"Enabled": False}, "AssociatePublicIpAddress": False,
                "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 50}}],
                "MetadataOptions": {"HttpTokens": "required"}}
        self.scaling.create_launch_configuration(LaunchConfigurationName=name, **sent)
        told = self.scaling.describe_launch_configurations(
            LaunchConfigurationNames=[name])["LaunchConfigurations"][0]
        sent["UserData"] = "ZWNobyA8w6k+"  # botocore sends base64.
        for member, value in sent.items():
            self.assertEqual(value, told[member], member)
        group = self.make()
        used = self.told(group)["LaunchConfigurationName"]
        error = refusal(self.scaling.delete_launch_configuration, LaunchConfigurationName=used)
        self.assertEqual("ResourceInUse", error["Code"])
        self.scaling.delete_auto_scaling_group(AutoScalingGroupName=group)
        self.scaling.delete_launch_configuration(LaunchConfigurationName=used)

    def test_an_empty_group_is_updated_and_deleted(self):
        name = self.make()
        self.scaling.update_auto_scaling_group(
            AutoScalingGroupName=name, MaxSize=7, DefaultCooldown=5, VPCZoneIdentifier="subnet-3")
        told = self.told(name)
        self.assertEqual((0, 7, 5, "subnet-3"),
                         (told["MinSize"], told["MaxSize"], told["DefaultCooldown"],
                          told["VPCZoneIdentifier"]))
        self.scaling.create_or_update_tags(Tags=[{
            "ResourceId": name, "ResourceType": "auto-scaling-group", "Key": "k", "Value": "v",
            "PropagateAtLaunch": False}])
        tags = self.scaling.describe_tags(
            Filters=[{"Name": "auto-scaling-group", "Values": [name]}])["Tags"]
        self.assertEqual(["k"], [tag["Key"] for tag in tags])
        self.scaling.delete_tags(Tags=[{"ResourceId": name, "Key": "k"}])
        self.assertEqual([], self.told(name)["Tags"])
        self.scaling.delete_auto_scaling_group(AutoScalingGroupName=name, ForceDelete=True)
        wait_for(lambda: not self.scaling.describe_auto_scaling_groups(
            AutoScalingGroupNames=[name])["AutoScalingGroups"], f"{name} is gone")

    def test_errors_are_modelled_ones_with_sentences(self):
        name = self.make()
        with self.assertRaises(self.scaling.exceptions.AlreadyExistsFault):
            self.scaling.create_launch_configuration(
                LaunchConfigurationName=self.told(name)["LaunchConfigurationName"],
                ImageId="ami-1", InstanceType="p3.2xlarge")
        for parameters, words in [
                ({"MinSize": 9}, "Max bound, 4"), ({"DesiredCapacity": 5}, "Desired capacity:5"),
                ({"HealthCheckType": "x"}, "HealthCheckType x")]:
            error = refusal(self.scaling.update_auto_scaling_group, AutoScalingGroupName=name,
                            **parameters)
            self.assertEqual("ValidationError", error["Code"])
            self.assertIn(words, error["Message"])
        error = refusal(self.scaling.set_desired_capacity, AutoScalingGroupName="<none>",
                        DesiredCapacity=1)
        self.assertEqual("AutoScalingGroup name not found - AutoScalingGroup: <none> not found",
                         error["Message"])
        error = refusal(self.scaling.put_scaling_policy, AutoScalingGroupName=name, PolicyName="p")
        self.assertEqual("InvalidAction", error["Code"])

    def test_lists_are_paged(self):
        names = sorted(self.make() for _ in range(3))
        pages = self.scaling.get_paginator("describe_auto_scaling_groups").paginate(
            PaginationConfig={"PageSize": 1})
        seen = [group["AutoScalingGroupName"] for page in pages
                for group in page["AutoScalingGroups"]]
        self.assertEqual(names, [name for name in seen if name in names])

    def test_all_is_there_after_kill_9(self):
        name = self.make(Tags=[{"Key": "k", "Value": "v", "PropagateAtLaunch": True}])
        before = self.told(name)
        server.kill()
        server.start()
        self.assertEqual(before, self.told(name))


class Cli(unittest.TestCase):
    def test_both_clis_make_and_delete_a_group(self):
        for directory in test_cli_aws.clis():
            with self.subTest(directory):
                name = name_of("cli")
                test_cli_aws.aws(f"autoscaling create-launch-configuration "
                                 f"--launch-configuration-name {name} --image-id ami-1 "
                                 f"--instance-type p3.2xlarge", directory)
                test_cli_aws.aws(f"autoscaling create-auto-scaling-group "
                                 f"--auto-scaling-group-name {name} --launch-configuration-name "
                                 f"{name} --min-size 0 --max-size 2 --availability-zones us-east-1a "
                                 f"--tags Key=team,Value=a,PropagateAtLaunch=true", directory)
                told = test_cli_aws.aws(f"autoscaling describe-auto-scaling-groups "
                                        f"--auto-scaling-group-names {name}", directory)
                group = told["AutoScalingGroups"][0]
                self.assertEqual((name, 2, "team"), (group["LaunchConfigurationName"],
                                                     group["MaxSize"], group["Tags"][0]["Key"]))
                test_cli_aws.aws(f"autoscaling delete-auto-scaling-group "
                                 f"--auto-scaling-group-name {name}", directory)
                made = test_cli_aws.aws(
                    f"ec2 create-launch-template --launch-template-name {name} "
                    f"--launch-template-data '{{\"InstanceType\":\"p3.2xlarge\"}}'", directory)
                self.assertEqual(name, made["LaunchTemplate"]["LaunchTemplateName"])
                test_cli_aws.aws(f"ec2 delete-launch-template --launch-template-name {name}",
                                 directory)
                done = test_cli_aws.bash("aws ec2 delete-launch-template "
                                         f"--launch-template-name {name}", directory, check=False)
                self.assertIn("InvalidLaunchTemplateName.NotFoundException", done.stderr)


if __name__ == "__main__":
    unittest.main()
