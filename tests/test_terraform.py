"""The calls of Terraform's AWS provider for a cluster with a capacity provider and a service, in its
order, and what its next plan reads back: each member that a plan compares must be as it was given.
Recorded with provider 5.100; members that an old boto3 does not know are sent as they are.
"""

import base64
import unittest

from harness import Server, wait_for

server = None


def setUpModule():
    global server
    server = Server(command="server")


def tearDownModule():
    server.close()


def ecs(operation, **body):
    reply = server.call(operation, body)
    if reply.status != 200:
        raise AssertionError(f"{operation}: {reply.status} {reply.body[:400]}")
    return reply.json()


def tags(**values):
    return [{"key": key, "value": value} for key, value in values.items()]


class Plan(unittest.TestCase):
    """One configuration, applied, read again, altered, read again and destroyed."""

    def setUp(self):
        self.ec2 = server.client("ec2")
        self.scaling = server.client("autoscaling")

    # What the provider reads for a plan.

    def read_cluster(self, arn):
        told = ecs("DescribeClusters", clusters=[arn],
                   include=["TAGS", "CONFIGURATIONS", "SETTINGS"])
        self.assertEqual([], told["failures"])
        return told["clusters"][0]

    def read_provider(self, arn):
        told = ecs("DescribeCapacityProviders", capacityProviders=[arn], include=["TAGS"])
        return told["capacityProviders"][0]

    def read_service(self, cluster, arn):
        told = ecs("DescribeServices", cluster=cluster, services=[arn], include=["TAGS"])
        self.assertEqual([], told["failures"])
        return told["services"][0]

    def assert_told(self, given, told):
        for member, value in given.items():
            with self.subTest(member):
                if isinstance(value, dict):
                    self.assertEqual(value, {key: told[member].get(key) for key in value})
                else:
                    self.assertEqual(value, told.get(member))

    # The resources.

    def cluster(self):
        given = {
            "settings": [{"name": "containerInsights", "value": "enabled"}],
            "configuration": {"executeCommandConfiguration": {
                "logging": "OVERRIDE", "logConfiguration": {
                    "cloudWatchLogGroupName": "/aws/ecs/tf", "cloudWatchEncryptionEnabled": False,
                    "s3EncryptionEnabled": False}}},
            "serviceConnectDefaults": {
                "namespace": "arn:aws:servicediscovery:us-east-1:123456789012:namespace/ns-1"},
            "tags": tags(team="vision"),
        }
        arn = ecs("CreateCluster", clusterName="tf", **given)["cluster"]["clusterArn"]
        self.assertEqual("ACTIVE", self.read_cluster(arn)["status"])
        self.assert_told(given, self.read_cluster(arn))
        altered = {
            "settings": [{"name": "containerInsights", "value": "disabled"}],
            "configuration": {"executeCommandConfiguration": {"logging": "NONE"}},
        }
        ecs("UpdateCluster", cluster=arn, **altered)
        self.assert_told({**given, **altered}, self.read_cluster(arn))
        return arn

    def launch_template(self):
        data = {"InstanceType": "p3.2xlarge", "ImageId": "ami-1",
                "UserData": base64.b64encode(b"#!/bin/sh").decode()}
        made = self.ec2.create_launch_template(
            ClientToken="terraform-1", LaunchTemplateName="terra", LaunchTemplateData=data,
            TagSpecifications=[{"ResourceType": "launch-template",
                                "Tags": [{"Key": "team", "Value": "vision"}]}])["LaunchTemplate"]
        self.assertEqual(made, self.ec2.create_launch_template(
            ClientToken="terraform-1", LaunchTemplateName="terra", LaunchTemplateData=data,
            TagSpecifications=[{"ResourceType": "launch-template",
                                "Tags": [{"Key": "team", "Value": "vision"}]}])["LaunchTemplate"])
        identity = made["LaunchTemplateId"]
        altered = {**data, "InstanceType": "p3.8xlarge"}
        for _ in range(2):  # An answer that was lost.
            version = self.ec2.create_launch_template_version(
                ClientToken="terraform-2", LaunchTemplateId=identity,
                LaunchTemplateData=altered)["LaunchTemplateVersion"]["VersionNumber"]
            self.assertEqual(2, version)
        self.ec2.modify_launch_template(LaunchTemplateId=identity, DefaultVersion="2")
        read = self.ec2.describe_launch_templates(LaunchTemplateIds=[identity])
        read = read["LaunchTemplates"][0]
        self.assertEqual((2, 2), (read["DefaultVersionNumber"], read["LatestVersionNumber"]))
        self.assertEqual([{"Key": "team", "Value": "vision"}], read["Tags"])
        read = self.ec2.describe_launch_template_versions(
            LaunchTemplateId=identity, Versions=["2"])["LaunchTemplateVersions"]
        self.assertEqual([altered], [one["LaunchTemplateData"] for one in read])
        return identity

    def group(self, template):
        given = {"MinSize": 0, "MaxSize": 2, "DesiredCapacity": 0, "HealthCheckGracePeriod": 300,
                 "HealthCheckType": "EC2", "AvailabilityZones": ["us-east-1a"],
                 "NewInstancesProtectedFromScaleIn": False, "TerminationPolicies": ["OldestInstance"]}
        self.scaling.create_auto_scaling_group(
            AutoScalingGroupName="tf",
            LaunchTemplate={"LaunchTemplateId": template, "Version": "$Latest"},
            Tags=[{"Key": "AmazonECSManaged", "Value": "true", "PropagateAtLaunch": True,
                   "ResourceId": "tf", "ResourceType": "auto-scaling-group"}], **given)
        self.assertEqual([], self.scaling.describe_scaling_activities(
            AutoScalingGroupName="tf")["Activities"])
        read = self.scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["tf"])
        read = read["AutoScalingGroups"][0]
        self.assert_told(given, read)
        self.assertEqual((template, "$Latest"), (
            read["LaunchTemplate"]["LaunchTemplateId"], read["LaunchTemplate"]["Version"]))
        self.assertEqual(["AmazonECSManaged"], [one["Key"] for one in read["Tags"]])
        self.assertEqual([], read["Instances"])
        return read["AutoScalingGroupARN"]

    def capacity_provider(self, group):
        scaling = {"status": "ENABLED", "targetCapacity": 100, "minimumScalingStepSize": 1,
                   "maximumScalingStepSize": 2, "instanceWarmupPeriod": 0}
        made = ecs("CreateCapacityProvider", name="tf", tags=tags(team="vision"),
                   autoScalingGroupProvider={
                       "autoScalingGroupArn": group, "managedScaling": scaling,
                       "managedTerminationProtection": "DISABLED", "managedDraining": "ENABLED"})
        arn = made["capacityProvider"]["capacityProviderArn"]
        read = self.read_provider(arn)
        self.assertEqual("ACTIVE", read["status"])
        self.assertEqual(tags(team="vision"), read["tags"])
        self.assert_told({"autoScalingGroupArn": group, "managedScaling": scaling,
                          "managedTerminationProtection": "DISABLED",
                          "managedDraining": "ENABLED"}, read["autoScalingGroupProvider"])
        return arn

    def provider_of_cluster(self, cluster):
        strategy = [{"capacityProvider": "tf", "weight": 1, "base": 0}]
        ecs("PutClusterCapacityProviders", cluster=cluster, capacityProviders=["tf"],
            defaultCapacityProviderStrategy=strategy)
        read = self.read_cluster(cluster)
        self.assert_told({"capacityProviders": ["tf"], "defaultCapacityProviderStrategy": strategy,
                          "status": "ACTIVE"}, read)
        return strategy

    def task_definition(self):
        containers = [{
            "name": "main", "image": "busybox", "cpu": 128, "memory": 64, "essential": True,
            "command": ["sleep", "60"], "environment": [{"name": "A", "value": "1"}],
            "portMappings": [{"containerPort": 80, "hostPort": 0, "protocol": "tcp"}],
            "mountPoints": [], "volumesFrom": [], "systemControls": [],
            "resourceRequirements": [{"type": "GPU", "value": "1"}]}]
        made = ecs("RegisterTaskDefinition", family="tf", networkMode="bridge",
                   containerDefinitions=containers, tags=tags(team="vision"))
        arn = made["taskDefinition"]["taskDefinitionArn"]
        read = ecs("DescribeTaskDefinition", taskDefinition=arn, include=["TAGS"])
        self.assertEqual(tags(team="vision"), read["tags"])
        self.assert_told({"family": "tf", "networkMode": "bridge", "revision": 1,
                          "status": "ACTIVE"}, read["taskDefinition"])
        self.assert_told(containers[0], read["taskDefinition"]["containerDefinitions"][0])
        return arn

    def service(self, cluster, definition, strategy):
        given = {
            "desiredCount": 0, "schedulingStrategy": "REPLICA", "taskDefinition": definition,
            "availabilityZoneRebalancing": "DISABLED", "capacityProviderStrategy": strategy,
            "deploymentConfiguration": {
                "maximumPercent": 200, "minimumHealthyPercent": 0,
                "deploymentCircuitBreaker": {"enable": True, "rollback": True}},
            "deploymentController": {"type": "ECS"}, "enableECSManagedTags": True,
            "enableExecuteCommand": False, "propagateTags": "SERVICE",
            "placementConstraints": [{"type": "memberOf",
                                      "expression": "attribute:ecs.os-type == linux"}],
            "placementStrategy": [{"type": "spread", "field": "instanceId"}],
        }
        sent = {"serviceName": "tf", "clientToken": "terraform-3", "vpcLatticeConfigurations": [],
                "tags": tags(team="vision"), **given}
        arn = ecs("CreateService", cluster=cluster, **sent)["service"]["serviceArn"]
        self.assertEqual(arn, ecs("CreateService", cluster=cluster, **sent)["service"]["serviceArn"])
        read = self.read_service(cluster, arn)
        self.assert_told({**given, "status": "ACTIVE", "tags": tags(team="vision"),
                          "loadBalancers": [], "serviceRegistries": []}, read)
        # With a strategy there is no launch type, and an empty network configuration crashes the
        # provider.
        self.assertNotIn("launchType", read)
        self.assertNotIn("networkConfiguration", read)
        altered = {"placementStrategy": [{"type": "binpack", "field": "memory"}],
                   "deploymentConfiguration": {"maximumPercent": 150, "minimumHealthyPercent": 50,
                                               "deploymentCircuitBreaker": {
                                                   "enable": True, "rollback": False}}}
        ecs("UpdateService", cluster=cluster, service=arn, **altered)
        self.assert_told({**given, **altered}, self.read_service(cluster, arn))
        return arn

    def test_apply_plan_and_destroy(self):
        self.assertEqual(["available"], [one["State"] for one in self.ec2.describe_availability_zones(
            Filters=[{"Name": "state", "Values": ["available"]}])["AvailabilityZones"]][:1])
        cluster = self.cluster()
        template = self.launch_template()
        provider = self.capacity_provider(self.group(template))
        strategy = self.provider_of_cluster(cluster)
        definition = self.task_definition()
        service = self.service(cluster, definition, strategy)

        before = [self.read_cluster(cluster), self.read_provider(provider),
                  self.read_service(cluster, service)["placementStrategy"]]
        server.kill()
        server.start()
        self.assertEqual(before, [self.read_cluster(cluster), self.read_provider(provider),
                                  self.read_service(cluster, service)["placementStrategy"]])

        ecs("DeleteService", cluster=cluster, service=service, force=True)
        wait_for(lambda: self.read_service(cluster, service)["status"] == "INACTIVE",
                 "the service is INACTIVE", 30)
        ecs("DeregisterTaskDefinition", taskDefinition=definition)
        ecs("PutClusterCapacityProviders", cluster=cluster, capacityProviders=[],
            defaultCapacityProviderStrategy=[])
        ecs("DeleteCapacityProvider", capacityProvider=provider)
        self.scaling.delete_auto_scaling_group(AutoScalingGroupName="tf", ForceDelete=True)
        wait_for(lambda: not self.scaling.describe_auto_scaling_groups(
            AutoScalingGroupNames=["tf"])["AutoScalingGroups"], "the group is gone", 30)
        self.ec2.delete_launch_template(LaunchTemplateId=template)
        ecs("DeleteCluster", cluster=cluster)
        self.assertEqual("INACTIVE", self.read_cluster(cluster)["status"])


if __name__ == "__main__":
    unittest.main()
