"""Every ECS operation through boto3, against a live `berth up` with emulated machines."""

import unittest

import botocore.exceptions

from harness import IMAGE, Server, Tasks, container_of, gpus, shell, wait_for

server = None
ecs = None
tasks = None


def setUpModule():
    global server, ecs, tasks
    server = Server("--emulate", "p3.8xlarge,c5.large")
    server.wait_connected(2)
    ecs = server.client("ecs", parameter_validation=False)
    tasks = Tasks(server)


def tearDownModule():
    server.close()


class Api(unittest.TestCase):
    """Asserts on what a call is refused with."""

    def refused(self, code, *parts):
        return _Refused(self, code, parts)

    def instances(self):
        """{instance type: description}"""
        arns = ecs.list_container_instances()["containerInstanceArns"]
        told = ecs.describe_container_instances(containerInstances=arns)["containerInstances"]
        return {attribute(one, "ecs.instance-type"): one for one in told}


class _Refused:
    def __init__(self, test, code, parts):
        self.test, self.code, self.parts = test, code, parts

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.test.fail(f"nothing was refused; expected {self.code}")
        if not isinstance(error, botocore.exceptions.ClientError):
            return False
        told, metadata = error.response["Error"], error.response["ResponseMetadata"]
        self.test.assertEqual(self.code, told["Code"], told["Message"])
        self.test.assertEqual(400, metadata["HTTPStatusCode"])
        self.test.assertTrue(metadata.get("RequestId"), "no x-amzn-RequestId")
        self.test.assertEqual(self.code, metadata["HTTPHeaders"].get("x-amzn-errortype"))
        for part in self.parts:
            self.test.assertIn(part, told["Message"])
        return True


def attribute(instance, name):
    values = {one["name"]: one.get("value", "") for one in instance["attributes"]}
    return values.get(name)


def resource(instance, name, kind="registeredResources"):
    return next(one for one in instance[kind] if one["name"] == name)


def plain(**members):
    return {"name": "main", "image": IMAGE, "memory": 64, "essential": True, **members}


class Clusters(Api):
    def test_the_cluster_default_is_made_at_the_start(self):
        told = ecs.describe_clusters()
        self.assertEqual([], told["failures"])
        self.assertEqual("default", told["clusters"][0]["clusterName"])
        self.assertEqual("ACTIVE", told["clusters"][0]["status"])
        self.assertEqual(2, told["clusters"][0]["registeredContainerInstancesCount"])

    def test_create_describe_list_and_delete(self):
        made = ecs.create_cluster(clusterName="blue")["cluster"]
        self.assertEqual(f"arn:aws:ecs:us-east-1:{server.account}:cluster/blue", made["clusterArn"])
        self.assertEqual("ACTIVE", ecs.create_cluster(clusterName="blue")["cluster"]["status"])
        self.assertIn(made["clusterArn"], ecs.list_clusters()["clusterArns"])
        both = ecs.describe_clusters(clusters=["blue", made["clusterArn"], "absent"])
        self.assertEqual({"blue"}, {one["clusterName"] for one in both["clusters"]})
        self.assertEqual("MISSING", both["failures"][0]["reason"])
        self.assertIn("absent", both["failures"][0]["arn"])
        self.assertEqual("INACTIVE", ecs.delete_cluster(cluster="blue")["cluster"]["status"])
        self.assertNotIn(made["clusterArn"], ecs.list_clusters()["clusterArns"])

    def test_settings_and_configuration_are_told_back_and_updated(self):
        insights = lambda value: [{"name": "containerInsights", "value": value}]
        sessions = lambda logging: {"executeCommandConfiguration": {"logging": logging}}
        ecs.create_cluster(clusterName="green", settings=insights("disabled"),
                           configuration=sessions("DEFAULT"))

        def told():
            return ecs.describe_clusters(
                clusters=["green"], include=["SETTINGS", "CONFIGURATIONS"])["clusters"][0]
        self.assertEqual((insights("disabled"), sessions("DEFAULT")),
                         (told()["settings"], told()["configuration"]))
        made = ecs.update_cluster(cluster="green", configuration=sessions("NONE"))["cluster"]
        self.assertEqual((insights("disabled"), sessions("NONE")),
                         (made["settings"], made["configuration"]))
        ecs.update_cluster_settings(cluster="green", settings=insights("enabled"))
        self.assertEqual((insights("enabled"), sessions("NONE")),
                         (told()["settings"], told()["configuration"]))
        bare = ecs.describe_clusters(clusters=["green"])["clusters"][0]
        self.assertEqual(([], None), (bare["settings"], bare.get("configuration")))

        connect = {"serviceConnectDefaults": {"namespace": "shop"}}
        reply = server.call("UpdateCluster", {"cluster": "green", **connect}).json()
        self.assertEqual({"namespace": "shop"}, reply["cluster"]["serviceConnectDefaults"])
        with self.refused("InvalidParameterException", "enabled, disabled or enhanced"):
            ecs.update_cluster_settings(cluster="green", settings=insights("on"))
        logged = lambda **log: {"executeCommandConfiguration": {
            "logging": "OVERRIDE", "logConfiguration": log}}
        audited = logged(cloudWatchLogGroupName="/audit", cloudWatchEncryptionEnabled=False,
                         s3BucketName="", s3EncryptionEnabled=False, s3KeyPrefix="")
        made = ecs.update_cluster(cluster="green", configuration=audited)["cluster"]
        self.assertEqual((audited, audited), (made["configuration"], told()["configuration"]))
        for log, code, member in (
                ({}, "InvalidParameterException", "cloudWatchLogGroupName"),
                ({"s3BucketName": "audit"}, "ClientException", "s3BucketName"),
                ({"cloudWatchLogGroupName": "/audit", "cloudWatchEncryptionEnabled": True},
                 "ClientException", "cloudWatchEncryptionEnabled")):
            with self.refused(code, member):
                ecs.update_cluster(cluster="green", configuration=logged(**log))
        with self.refused("InvalidParameterException", "You must set logging to 'OVERRIDE'"):
            ecs.update_cluster(cluster="green", configuration={"executeCommandConfiguration": {
                "logging": "NONE", "logConfiguration": {"cloudWatchLogGroupName": "/audit"}}})
        self.assertEqual(audited, told()["configuration"])
        with self.refused("ClusterNotFoundException"):
            ecs.update_cluster(cluster="absent", settings=insights("enabled"))
        ecs.delete_cluster(cluster="green")

    def test_a_cluster_with_instances_is_not_deleted(self):
        with self.refused("ClusterContainsContainerInstancesException"):
            ecs.delete_cluster(cluster="default")

    def test_an_unknown_cluster(self):
        with self.refused("ClusterNotFoundException"):
            ecs.list_tasks(cluster="absent")
        with self.refused("ClusterNotFoundException"):
            ecs.delete_cluster(cluster="absent")

    def test_a_bad_name(self):
        with self.refused("InvalidParameterException"):
            ecs.create_cluster(clusterName="no blanks")

    def test_list_clusters_comes_in_pages(self):
        names = {f"page-{i}" for i in range(5)}
        for name in names:
            ecs.create_cluster(clusterName=name)
        pages = list(ecs.get_paginator("list_clusters").paginate(
            PaginationConfig={"PageSize": 2}))
        self.assertTrue(all(len(page["clusterArns"]) <= 2 for page in pages))
        arns = [arn for page in pages for arn in page["clusterArns"]]
        self.assertEqual(len(arns), len(set(arns)))
        self.assertLessEqual(names, {arn.rsplit("/", 1)[1] for arn in arns})
        for name in names:
            ecs.delete_cluster(cluster=name)


class TaskDefinitions(Api):
    def test_revisions_count_up_and_are_described(self):
        first = tasks.register("counted", {"cpu": 10, "environment": [{"name": "A", "value": "1"}]})
        second = tasks.register("counted", {"cpu": 20})
        self.assertTrue(first.endswith("task-definition/counted:1"), first)
        self.assertTrue(second.endswith("task-definition/counted:2"), second)
        by_family = ecs.describe_task_definition(taskDefinition="counted")["taskDefinition"]
        self.assertEqual((2, "ACTIVE"), (by_family["revision"], by_family["status"]))
        by_revision = ecs.describe_task_definition(taskDefinition="counted:1")["taskDefinition"]
        container = by_revision["containerDefinitions"][0]
        self.assertEqual(10, container["cpu"])
        self.assertEqual([{"name": "A", "value": "1"}], container["environment"])
        self.assertEqual(first, ecs.describe_task_definition(
            taskDefinition=first)["taskDefinition"]["taskDefinitionArn"])
        with self.refused("ClientException"):
            ecs.describe_task_definition(taskDefinition="counted:3")

    def test_requires_attributes_are_computed(self):
        arn = tasks.register("attributed", {"logConfiguration": {
            "logDriver": "awslogs", "options": {"awslogs-group": "g", "awslogs-region": "us-east-1",
                                                "awslogs-stream-prefix": "p"}}})
        told = ecs.describe_task_definition(taskDefinition=arn)["taskDefinition"]
        self.assertIn("com.amazonaws.ecs.capability.logging-driver.awslogs",
                      [one["name"] for one in told["requiresAttributes"]])

    def test_lists_sort_and_come_in_pages(self):
        for _ in range(5):
            tasks.register("listed", {})
        def revisions(**members):
            pages = ecs.get_paginator("list_task_definitions").paginate(
                familyPrefix="listed", PaginationConfig={"PageSize": 2}, **members)
            return [int(arn.rsplit(":", 1)[1]) for page in pages
                    for arn in page["taskDefinitionArns"]]
        self.assertEqual([1, 2, 3, 4, 5], revisions())
        self.assertEqual([5, 4, 3, 2, 1], revisions(sort="DESC"))
        ecs.deregister_task_definition(taskDefinition="listed:3")
        self.assertEqual([1, 2, 4, 5], revisions())
        self.assertEqual([3], revisions(status="INACTIVE"))

    def test_families_and_deregistering(self):
        arn = tasks.register("fleeting", {})
        self.assertEqual(["fleeting"], ecs.list_task_definition_families(
            familyPrefix="fleet")["families"])
        gone = ecs.deregister_task_definition(taskDefinition=arn)["taskDefinition"]
        self.assertEqual("INACTIVE", gone["status"])
        self.assertEqual([], ecs.list_task_definition_families(
            familyPrefix="fleet", status="ACTIVE")["families"])
        self.assertEqual(["fleeting"], ecs.list_task_definition_families(
            familyPrefix="fleet", status="INACTIVE")["families"])
        with self.refused("InvalidParameterException", "inactive"):
            ecs.run_task(taskDefinition=arn)

    def test_deleting_for_good(self):
        arns = [tasks.register("mortal", {}) for _ in range(2)]
        ecs.deregister_task_definition(taskDefinition=arns[1])
        # Debian's boto3 does not know the call yet.
        told = server.call("DeleteTaskDefinitions", {"taskDefinitions": arns}).json()
        self.assertEqual([arns[0]], [one["arn"] for one in told["failures"]])
        self.assertEqual(["DELETE_IN_PROGRESS"], [one["status"] for one in told["taskDefinitions"]])
        def gone():
            try:
                ecs.describe_task_definition(taskDefinition=arns[1])
            except ecs.exceptions.ClientException:
                return True
        wait_for(gone, "the task definition is gone", 60)
        self.assertTrue(tasks.register("mortal", {}).endswith("mortal:3"))

    def test_account_settings(self):
        put = ecs.put_account_setting_default(name="containerInsights", value="enabled")["setting"]
        self.assertEqual(("containerInsights", "enabled"), (put["name"], put["value"]))
        made = ecs.create_cluster(clusterName="seen-into")["cluster"]
        self.assertEqual([{"name": "containerInsights", "value": "enabled"}], made["settings"])
        ecs.delete_account_setting(name="containerInsights")
        self.assertEqual([], ecs.list_account_settings()["settings"])
        told = ecs.list_account_settings(name="taskLongArnFormat", effectiveSettings=True)
        self.assertEqual(["enabled"], [one["value"] for one in told["settings"]])
        with self.refused("InvalidParameterException", "You can no longer disable Long Arn"):
            ecs.put_account_setting(name="taskLongArnFormat", value="disabled")

    def test_gpu_requirements_in_a_wrong_shape_are_answered_with_the_right_one(self):
        wrong = {
            "lower case and count": {"resourceRequirements": [{"type": "gpu", "count": 2}]},
            "lower case": {"resourceRequirements": [{"type": "gpu", "value": "2"}]},
            "count": {"resourceRequirements": [{"type": "GPU", "count": 2}]},
            "gpuCount": {"gpuCount": 2},
            "not a number": {"resourceRequirements": [{"type": "GPU", "value": "two"}]},
            "none": {"resourceRequirements": [{"type": "GPU", "value": "0"}]},
        }
        for name, members in wrong.items():
            with self.subTest(name):
                reply = server.call("RegisterTaskDefinition", {
                    "family": "wrong", "containerDefinitions": [plain(**members)]})
                self.assertEqual(400, reply.status, reply)
                message = reply.json()["message"]
                self.assertIn('"resourceRequirements": [{"type": "GPU", "value": "', message)

    def test_what_is_not_honoured_is_refused_by_name(self):
        in_task = {
            "taskRoleArn": {"taskRoleArn": "arn:aws:iam::123456789012:user/u"},
            "proxyConfiguration": {"proxyConfiguration": {"containerName": "main"}},
            "efsVolumeConfiguration": {"volumes": [
                {"name": "v", "efsVolumeConfiguration": {"fileSystemId": "fs-1"}}]},
            "FARGATE": {"requiresCompatibilities": ["FARGATE"]},
        }
        for name, members in in_task.items():
            with self.subTest(name), self.refused("ClientException", name):
                ecs.register_task_definition(family="refused", containerDefinitions=[plain()],
                                             **members)
        in_container = {
            "secrets": {"secrets": [{"name": "A", "valueFrom": "arn:aws:ssm:::parameter/a"}]},
            "firelensConfiguration": {"firelensConfiguration": {"type": "fluentbit"}},
        }
        for name, members in in_container.items():
            with self.subTest(name), self.refused("ClientException", name, "main"):
                ecs.register_task_definition(family="refused",
                                             containerDefinitions=[plain(**members)])

    def test_container_definitions_are_validated(self):
        wrong = {
            "no container": [],
            "no memory": [{"name": "main", "image": IMAGE, "essential": True}],
            "no image": [{"name": "main", "memory": 64}],
            "no name": [{"image": IMAGE, "memory": 64}],
            "same name": [plain(), plain()],
            "none essential": [plain(essential=False)],
            "unknown dependency": [plain(dependsOn=[{"containerName": "x", "condition": "START"}])],
            "cycle": [plain(dependsOn=[{"containerName": "main", "condition": "START"}])],
            "port": [plain(portMappings=[{"containerPort": 70000}])],
            "mount without volume": [plain(mountPoints=[
                {"sourceVolume": "absent", "containerPath": "/x"}])],
            "stopTimeout": [plain(stopTimeout=-1)],
        }
        for name, containers in wrong.items():
            with self.subTest(name):
                with self.assertRaises(botocore.exceptions.ClientError) as caught:
                    ecs.register_task_definition(family="wrong", containerDefinitions=containers)
                told = caught.exception.response["Error"]
                self.assertIn(told["Code"], ("ClientException", "InvalidParameterException"))
                self.assertTrue(told["Message"])


class Instances(Api):
    def test_resources_and_attributes_are_those_of_the_emulated_types(self):
        found = self.instances()
        self.assertEqual({"p3.8xlarge", "c5.large"}, set(found))
        big = found["p3.8xlarge"]
        self.assertEqual("ACTIVE", big["status"])
        self.assertTrue(big["agentConnected"])
        self.assertEqual(32 * 1024, resource(big, "CPU")["integerValue"])
        uuids = resource(big, "GPU")
        self.assertEqual("STRINGSET", uuids["type"])
        self.assertEqual(4, len(set(uuids["stringSetValue"])))
        self.assertTrue(all(one.startswith("GPU-") for one in uuids["stringSetValue"]))
        self.assertTrue({"22", "2375", "2376"} <= set(resource(big, "PORTS")["stringSetValue"]))
        self.assertTrue(attribute(big, "ecs.capability.gpu-driver-version"))
        self.assertEqual("linux", attribute(big, "ecs.os-type"))
        self.assertNotIn("GPU", [one["name"] for one in found["c5.large"]["registeredResources"]])
        self.assertTrue(big["versionInfo"]["dockerVersion"].startswith("DockerVersion: "))

    def test_the_filter_of_list_container_instances(self):
        found = self.instances()
        def chosen(expression):
            return ecs.list_container_instances(filter=expression)["containerInstanceArns"]
        big, small = (found[name]["containerInstanceArn"] for name in ("p3.8xlarge", "c5.large"))
        self.assertEqual([big], chosen("attribute:ecs.instance-type == p3.8xlarge"))
        self.assertEqual([small], chosen("attribute:ecs.instance-type != p3.8xlarge"))
        self.assertEqual([big], chosen("attribute:ecs.instance-type =~ p3.*"))
        self.assertEqual([small], chosen("not(attribute:ecs.instance-type =~ p3.*)"))
        self.assertEqual({big, small}, set(chosen(
            "attribute:ecs.instance-type in [p3.8xlarge, c5.large]")))
        with self.refused("InvalidParameterException"):
            chosen("attribute:ecs.instance-type ==")

    def test_describe_tells_what_is_missing(self):
        told = ecs.describe_container_instances(containerInstances=["0" * 32])
        self.assertEqual([], told["containerInstances"])
        self.assertEqual("MISSING", told["failures"][0]["reason"])

    def test_attributes_are_put_listed_and_deleted(self):
        small = self.instances()["c5.large"]["containerInstanceArn"]
        told = ecs.put_attributes(attributes=[
            {"name": "stack", "value": "blue", "targetId": small}])["attributes"]
        self.assertEqual("stack", told[0]["name"])
        listed = ecs.list_attributes(targetType="container-instance", attributeName="stack",
                                     attributeValue="blue")["attributes"]
        self.assertEqual([small], [one["targetId"] for one in listed])
        placed = ecs.list_container_instances(filter="attribute:stack == blue")
        self.assertEqual([small], placed["containerInstanceArns"])
        ecs.delete_attributes(attributes=[{"name": "stack", "targetId": small}])
        self.assertEqual([], ecs.list_attributes(
            targetType="container-instance", attributeName="stack")["attributes"])
        with self.refused("TargetNotFoundException"):
            ecs.put_attributes(attributes=[{"name": "stack", "value": "x", "targetId": "0" * 32,
                                            "targetType": "container-instance"}])


class RunTask(Api):
    @classmethod
    def setUpClass(cls):
        cls.sleeper = tasks.register("sleeper", {"memory": 16, "stopTimeout": 2,
                                                 **shell("exec sleep 600")})

    def tearDown(self):
        for arn in self.listed():
            tasks.stop(arn)
        wait_for(lambda: not self.unfinished(), "all tasks have stopped", 60)

    def listed(self, **members):
        return [arn for page in ecs.get_paginator("list_tasks").paginate(**members)
                for arn in page["taskArns"]]

    def unfinished(self):
        arns = self.listed(desiredStatus="STOPPED")
        told = [one for i in range(0, len(arns), 100)
                for one in ecs.describe_tasks(tasks=arns[i:i + 100])["tasks"]]
        return [one["taskArn"] for one in told if one["lastStatus"] != "STOPPED"]

    def failures(self, **members):
        told = ecs.run_task(**members)
        self.assertEqual([], told["tasks"])
        self.assertEqual(200, told["ResponseMetadata"]["HTTPStatusCode"])
        return [one["reason"] for one in told["failures"]]

    def test_count_is_between_1_and_10(self):
        for count in (0, 11, -1):
            with self.subTest(count), self.refused("InvalidParameterException", "count"):
                ecs.run_task(taskDefinition=self.sleeper, count=count)

    def test_unknown_cluster_definition_and_container(self):
        with self.refused("ClusterNotFoundException"):
            ecs.run_task(cluster="absent", taskDefinition=self.sleeper)
        with self.refused("ClientException"):
            ecs.run_task(taskDefinition="absent")
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            ecs.run_task(taskDefinition=self.sleeper, overrides={
                "containerOverrides": [{"name": "absent", "command": ["x"]}]})
        self.assertIn("absent", caught.exception.response["Error"]["Message"])
        with self.refused("InvalidParameterException", "taskDefinition"):
            ecs.run_task()

    def test_a_client_token_runs_tasks_once(self):
        """By hand: Debian's boto3 is older than the member."""
        def run(**members):
            return server.call("RunTask", {"taskDefinition": self.sleeper, "count": 2,
                                           "clientToken": "token-1", **members})
        first, again = run().json(), run().json()
        self.assertEqual(2, len(first["tasks"]))
        self.assertEqual([one["taskArn"] for one in first["tasks"]],
                         [one["taskArn"] for one in again["tasks"]])
        self.assertEqual(2, len(self.listed()))
        other = run(count=3)
        self.assertEqual((400, "ConflictException"), (other.status, other.error()))
        self.assertEqual(400, run(clientToken="a" * 65).status)

    def test_what_does_not_fit_is_a_failure_naming_the_resource(self):
        greedy = tasks.register("greedy", {"resourceRequirements": gpus(5)})
        self.assertIn("RESOURCE:GPU", self.failures(taskDefinition=greedy))
        details = [one["detail"] for one in ecs.run_task(taskDefinition=greedy)["failures"]]
        self.assertTrue(any("5 GPUs" in one and "4" in one for one in details), details)
        self.assertIn("RESOURCE:MEMORY", self.failures(taskDefinition=tasks.register(
            "greedy", {"memory": 1000000})))
        self.assertIn("RESOURCE:CPU", self.failures(taskDefinition=tasks.register(
            "greedy", {"cpu": 33 * 1024})))
        self.assertIn("RESOURCE:PORTS", self.failures(taskDefinition=tasks.register(
            "greedy", {"portMappings": [{"containerPort": 80, "hostPort": 22}]})))

    def test_the_reply_to_run_task_shows_the_gpus(self):
        arn = tasks.register("two-gpus", {"resourceRequirements": gpus(2), "stopTimeout": 2,
                                          **shell("exec sleep 600")})
        task = ecs.run_task(taskDefinition=arn)["tasks"][0]
        ids = container_of(task)["gpuIds"]
        all_ids = resource(self.instances()["p3.8xlarge"], "GPU")["stringSetValue"]
        self.assertEqual(2, len(set(ids)))
        self.assertLessEqual(set(ids), set(all_ids))
        self.assertEqual(ids, container_of(tasks.describe(task["taskArn"]))["gpuIds"])
        free = resource(self.instances()["p3.8xlarge"], "GPU", "remainingResources")
        self.assertEqual(set(all_ids) - set(ids), set(free["stringSetValue"]))

    def test_member_of_constraints(self):
        found = self.instances()
        for expression, name in (("attribute:ecs.instance-type == c5.large", "c5.large"),
                                 ("attribute:ecs.instance-type in [p3.8xlarge, x]", "p3.8xlarge"),
                                 ("attribute:ecs.instance-type =~ c5.* and "
                                  "attribute:ecs.os-type == linux", "c5.large"),
                                 ("not(attribute:ecs.instance-type == c5.large)", "p3.8xlarge")):
            with self.subTest(expression):
                task = ecs.run_task(taskDefinition=self.sleeper, placementConstraints=[
                    {"type": "memberOf", "expression": expression}])["tasks"][0]
                self.assertEqual(found[name]["containerInstanceArn"], task["containerInstanceArn"])
        refused = self.failures(taskDefinition=self.sleeper, placementConstraints=[
            {"type": "memberOf", "expression": "attribute:ecs.instance-type == t9.huge"}])
        self.assertTrue(refused[0].startswith("MemberOf"), refused)

    def test_distinct_instance(self):
        told = ecs.run_task(taskDefinition=self.sleeper, count=3, placementConstraints=[
            {"type": "distinctInstance"}])
        self.assertEqual(2, len({one["containerInstanceArn"] for one in told["tasks"]}))
        self.assertEqual(2, len(told["tasks"]))
        self.assertGreaterEqual(len(told["failures"]), 1)

    def test_start_task_on_named_instances(self):
        small = self.instances()["c5.large"]["containerInstanceArn"]
        told = ecs.start_task(taskDefinition=self.sleeper, containerInstances=[small, "0" * 32],
                              startedBy="me", group="mine")
        self.assertEqual([small], [one["containerInstanceArn"] for one in told["tasks"]])
        self.assertEqual(["MISSING"], [one["reason"] for one in told["failures"]])
        task = tasks.wait(told["tasks"][0]["taskArn"], "RUNNING")
        self.assertEqual(("me", "mine"), (task["startedBy"], task["group"]))

    def test_stop_task(self):
        arn = tasks.run(self.sleeper)
        tasks.wait(arn, "RUNNING")
        stopping = ecs.stop_task(task=arn, reason="enough of it")["task"]
        self.assertEqual("STOPPED", stopping["desiredStatus"])
        task = tasks.wait(arn, "STOPPED")
        self.assertEqual(("UserInitiated", "enough of it"), (task["stopCode"],
                                                             task["stoppedReason"]))
        self.assertIn("exitCode", container_of(task))
        self.assertTrue(task["createdAt"] <= task["startedAt"] <= task["stoppedAt"])
        self.assertEqual("STOPPED", ecs.stop_task(task=arn)["task"]["lastStatus"])
        with self.refused("InvalidParameterException"):
            ecs.stop_task(task="0" * 32)

    def test_describe_tasks_tells_what_is_missing(self):
        told = ecs.describe_tasks(tasks=["0" * 32])
        self.assertEqual([], told["tasks"])
        self.assertEqual("MISSING", told["failures"][0]["reason"])

    def test_list_tasks_filters_and_comes_in_pages(self):
        small = self.instances()["c5.large"]["containerInstanceArn"]
        other = tasks.register("other", {"memory": 16, "stopTimeout": 2,
                                         **shell("exec sleep 600")})
        mine = {tasks.run(self.sleeper, startedBy="ann") for _ in range(3)}
        placed = {ecs.start_task(taskDefinition=other, containerInstances=[small])["tasks"][0]
                  ["taskArn"] for _ in range(2)}
        self.assertEqual(mine | placed, set(self.listed(PaginationConfig={"PageSize": 2})))
        self.assertEqual(mine, set(self.listed(startedBy="ann")))
        self.assertEqual(placed, set(self.listed(family="other")))
        self.assertLessEqual(placed, set(self.listed(containerInstance=small)))
        with self.refused("ServiceNotFoundException"):
            self.listed(serviceName="absent")
        one = next(iter(mine))
        tasks.finish(one)
        self.assertNotIn(one, self.listed())
        self.assertIn(one, self.listed(desiredStatus="STOPPED"))
        self.assertEqual((mine | placed) - {one}, set(self.listed(launchType="EC2")))
        with self.refused("InvalidParameterException"):
            ecs.list_tasks(nextToken="not a token")


class AgentOperations(Api):
    def test_an_instance_registers_by_its_type_and_deregisters(self):
        ecs.create_cluster(clusterName="agents")
        made = ecs.register_container_instance(
            cluster="agents", instanceIdentityDocument='{"instanceId": "i-0123", '
            '"instanceType": "g4dn.12xlarge", "region": "us-east-1"}',
            platformDevices=[{"id": f"GPU-{i}", "type": "GPU"} for i in range(4)])
        instance = made["containerInstance"]
        self.assertEqual(48 * 1024, resource(instance, "CPU")["integerValue"])
        self.assertEqual(4, len(resource(instance, "GPU")["stringSetValue"]))
        self.assertTrue(instance["agentConnected"], "it counts as connected for its first 60 s")
        where = ecs.discover_poll_endpoint(cluster="agents",
                                           containerInstance=instance["containerInstanceArn"])
        self.assertTrue(where["endpoint"].startswith("http"))
        self.assertTrue(where["telemetryEndpoint"].startswith("http"))

        arn = tasks.register("reported", {"resourceRequirements": gpus(4)})
        task = ecs.run_task(cluster="agents", taskDefinition=arn)["tasks"][0]["taskArn"]
        acknowledged = ecs.submit_task_state_change(
            cluster="agents", task=task, status="RUNNING", containers=[
                {"containerName": "main", "status": "RUNNING", "runtimeId": "r1"}])
        self.assertTrue(acknowledged["acknowledgment"])
        ecs.submit_container_state_change(cluster="agents", task=task, containerName="main",
                                          status="RUNNING")
        told = ecs.describe_tasks(cluster="agents", tasks=[task])["tasks"][0]
        self.assertEqual("RUNNING", told["lastStatus"])
        self.assertEqual("r1", told["containers"][0]["runtimeId"])

        with self.refused("InvalidParameterException"):
            ecs.deregister_container_instance(
                cluster="agents", containerInstance=instance["containerInstanceArn"])
        gone = ecs.deregister_container_instance(
            cluster="agents", containerInstance=instance["containerInstanceArn"], force=True)
        self.assertEqual("INACTIVE", gone["containerInstance"]["status"])

    def test_an_operation_that_is_not_built_yet_is_named(self):
        reply = server.call("ListGateways", {})
        self.assertEqual(400, reply.status, reply)
        self.assertIn("ListGateways", reply.json()["message"])
