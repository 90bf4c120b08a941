"""The control plane and a peer that speaks as the official ECS agent does (official_agent.py)."""

import json
import os
import stat
import subprocess
import tempfile
import time
import unittest

import boto3
import botocore.config
import botocore.exceptions

import harness
from harness import BERTH, Server, Tasks, gpus, wait_for
from official_agent import OfficialAgent, Refused, VERSION, WebSocket

GPUS = [f"GPU-{digit * 8}-0000-0000-0000-000000000000" for digit in "abcd"]


def berth(*arguments, server):
    """The output of a berth command on the server's machine."""
    return subprocess.run([BERTH, *arguments, "--data", server.data], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          text=True).stdout


class Peers(unittest.TestCase):
    server_options = ()

    def setUp(self):
        self.server = Server(*self.server_options, command="server")
        self.addCleanup(self.server.close)
        self.tasks = Tasks(self.server)
        self.ecs = self.tasks.ecs

    def agent(self, **options):
        made = OfficialAgent(self.server.url, options.pop("key", self.server.key),
                             options.pop("secret", self.server.secret), **options)
        self.addCleanup(made.close)
        return made

    def instance(self, agent, *include):
        return self.ecs.describe_container_instances(
            containerInstances=[agent.arn], include=list(include))["containerInstances"][0]

    def run_on(self, agent, family, *containers, **members):
        """(task ARN, the agent's task) of a task that the agent has been told of."""
        arn = self.tasks.run_containers(family, *containers, **members)
        return arn, agent.wait_task(arn)


class Registration(Peers):
    def test_an_external_machine_joins_and_shows_what_it_has(self):
        agent = self.agent(gpus=GPUS).start()
        agent.wait(lambda: agent.of("TaskManifestMessage"), "a manifest")
        told = wait_for(lambda: self.instance(agent) if self.instance(agent)["versionInfo"].get(
            "agentVersion") == VERSION else None, "the agent's version")
        self.assertTrue(told["agentConnected"])
        self.assertEqual("DockerVersion: 20.10.24", told["versionInfo"]["dockerVersion"])
        resources = {one["name"]: one for one in told["registeredResources"]}
        self.assertEqual(4096, resources["CPU"]["integerValue"])
        self.assertEqual(7800, resources["MEMORY"]["integerValue"])
        self.assertEqual(GPUS, resources["GPU"]["stringSetValue"])

    def test_a_machine_that_registers_again_keeps_its_arn_and_shows_its_new_figures(self):
        agent = self.agent().start()
        first = agent.arn
        agent.kill()
        agent.memory, agent.gpus = 16000, GPUS[:1]
        agent.start()
        self.assertEqual(first, agent.arn)
        resources = {one["name"]: one for one in self.instance(agent)["registeredResources"]}
        self.assertEqual(16000, resources["MEMORY"]["integerValue"])
        self.assertEqual(GPUS[:1], resources["GPU"]["stringSetValue"])

    def test_an_identity_document_names_the_machine_and_its_type(self):
        agent = self.agent(external=False, identity=json.dumps({
            "instanceId": "i-0123456789abcdef0", "instanceType": "p3.2xlarge",
            "availabilityZone": "us-east-1b", "imageId": "ami-1", "region": "us-east-1"})).start()
        told = self.instance(agent)
        self.assertEqual("i-0123456789abcdef0", told["ec2InstanceId"])
        attributes = {one["name"]: one.get("value") for one in told["attributes"]}
        self.assertEqual("p3.2xlarge", attributes["ecs.instance-type"])
        self.assertEqual("us-east-1b", attributes["ecs.availability-zone"])
        _, task = self.run_on(agent, "ec2", {})
        self.assertEqual("EC2", task.payload["launchType"])

    def test_nobody_makes_an_official_agent_one_of_berths_own(self):
        agent = self.agent().start()
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            self.ecs.put_attributes(attributes=[{"name": "berth.agent", "targetId": agent.arn}])
        self.assertIn("its agent's alone", str(caught.exception))
        file = {"type": "s3", "value": "file:///etc/job.env"}
        refused = self.ecs.run_task(taskDefinition=self.tasks.register(
            "file", {"environmentFiles": [file]}))["failures"][0]
        self.assertEqual("ATTRIBUTE", refused["reason"])
        self.assertIn("needs Berth's own agent", refused["detail"])
        self.assertNotIn("give instance", refused["detail"])

    def test_attachments_and_tags_are_answered(self):
        agent = self.agent().start()
        self.assertEqual("ACCEPT", agent.wire.call("SubmitAttachmentStateChanges", {
            "cluster": "default", "attachments": [
                {"attachmentArn": "arn:aws:ecs:us-east-1:1:attachment/a",
                 "status": "ATTACHED"}]})["acknowledgment"])
        self.assertIn("tags", agent.wire.call("ListTagsForResource", {"resourceArn": agent.arn}))
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            self.ecs.update_container_agent(containerInstance=agent.arn)
        self.assertEqual("NoUpdateAvailableException",
                         caught.exception.response["Error"]["Code"])


class Payloads(Peers):
    def test_gpus_are_associations_of_one_container_each_and_free_again_after_stopped(self):
        agent = self.agent(gpus=GPUS[:2]).start()
        arn, task = self.run_on(agent, "train",
                                {"name": "main", "resourceRequirements": gpus(2)},
                                {"name": "side", "essential": False})
        self.assertEqual("EXTERNAL", task.payload["launchType"])
        associations = task.payload["associations"]
        self.assertEqual({("gpu", gpu, ("main",)) for gpu in GPUS[:2]},
                         {(one["type"], one["name"], tuple(one["containers"]))
                          for one in associations})
        self.assertEqual("RESOURCE:GPU", self.ecs.run_task(
            taskDefinition="train")["failures"][0]["reason"])
        agent.run(task)
        shown = self.tasks.wait(arn, "RUNNING")
        self.assertEqual(set(GPUS[:2]), set(harness.container_of(shown)["gpuIds"]))
        self.tasks.stop(arn)
        agent.wait_task(arn, "STOPPED")
        self.assertEqual("RESOURCE:GPU", self.ecs.run_task(
            taskDefinition="train")["failures"][0]["reason"])
        agent.finish(task, exit_code=137)
        stopped = self.tasks.wait(arn, "STOPPED")
        self.assertEqual("UserInitiated", stopped["stopCode"])
        self.assertEqual(137, harness.container_of(stopped)["exitCode"])
        ran = self.ecs.run_task(taskDefinition="train")
        self.assertFalse(ran["failures"])
        agent.run(agent.wait_task(ran["tasks"][0]["taskArn"]))

    def test_a_stop_that_the_agent_cannot_take_in_frees_no_gpu(self):
        agent = self.agent(gpus=GPUS[:1]).start()
        arn, task = self.run_on(agent, "train", {"resourceRequirements": gpus(1)})
        agent.run(task)
        self.tasks.wait(arn, "RUNNING")
        agent.submit(arn, "STOPPED", [], reason=f"resource cannot be initialized for task {arn}: "
                     f"could not find container with name main for associating GPU {GPUS[0]}")
        self.assertEqual("RUNNING", self.tasks.describe(arn)["lastStatus"])
        self.assertEqual("RESOURCE:GPU", self.ecs.run_task(
            taskDefinition="train")["failures"][0]["reason"])
        self.tasks.stop(arn)
        agent.wait_task(arn, "STOPPED")
        agent.finish(task, exit_code=137)
        self.tasks.wait(arn, "STOPPED")

    def test_a_container_without_a_gpu_is_shown_none(self):
        agent = self.agent(gpus=GPUS[:1]).start()
        _, task = self.run_on(agent, "side", {"name": "main", "resourceRequirements": gpus(1)},
                              {"name": "side", "essential": False})
        main, side = task.payload["containers"]
        self.assertNotIn("NVIDIA_VISIBLE_DEVICES", main.get("environment", {}))
        self.assertEqual("void", side["environment"]["NVIDIA_VISIBLE_DEVICES"])

    def test_a_flush_that_repeats_running_takes_nothing_back(self):
        agent = self.agent().start()
        arn, task = self.run_on(agent, "two", {}, {"name": "side", "essential": False})
        agent.run(task)
        self.tasks.wait(arn, "RUNNING")
        agent.change_of(task, "side", "STOPPED", exitCode=3)
        agent.flush(task)
        shown = self.tasks.describe(arn)
        self.assertEqual("RUNNING", shown["lastStatus"])
        side = harness.container_of(shown, "side")
        self.assertEqual(("STOPPED", 3), (side["lastStatus"], side["exitCode"]))
        agent.finish(task)
        agent.submit(arn, "RUNNING", [])  # Late, and out of order.
        agent.submit(arn, "STOPPED", [])  # Twice.
        self.assertEqual("STOPPED", self.tasks.describe(arn)["lastStatus"])

    def test_overrides_and_docker_settings_arrive_in_dockers_words(self):
        agent = self.agent().start()
        self.tasks.register("words", {
            "environment": [{"name": "A", "value": "1"}], "user": "nobody",
            "dockerLabels": {"x": "y"}, "healthCheck": {"command": ["CMD", "true"], "interval": 7},
            "linuxParameters": {"initProcessEnabled": True,
                                "capabilities": {"add": ["SYS_PTRACE"]}},
            "logConfiguration": {"logDriver": "awslogs", "options": {
                "awslogs-group": "/app", "awslogs-stream-prefix": "p"}}})
        arn = self.tasks.run("words", overrides={"containerOverrides": [
            {"name": "main", "command": ["ls"], "environment": [{"name": "A", "value": "2"}]}]})
        task = agent.wait_task(arn)
        container = task.payload["containers"][0]
        self.assertEqual((["ls"], {"A": "2", "NVIDIA_VISIBLE_DEVICES": "void"}, "{}"), (
            container["command"], container["environment"], container["overrides"]))
        config = json.loads(container["dockerConfig"]["config"])
        self.assertEqual(7_000_000_000, config["Healthcheck"]["Interval"])
        self.assertEqual("nobody", config["User"])
        host = json.loads(container["dockerConfig"]["hostConfig"])
        self.assertEqual(["SYS_PTRACE"], host["CapAdd"])
        self.assertEqual({
            "awslogs-group": "/app", "awslogs-region": "us-east-1",
            "awslogs-endpoint": self.server.url,
            "awslogs-stream": f"p/main/{harness.task_id(arn)}"}, host["LogConfig"]["Config"])

    def test_a_task_that_the_agent_does_not_understand_is_stopped_and_not_sent_again(self):
        agent = self.agent()
        agent.refuse = "strange"
        agent.start()
        arn = self.tasks.run_containers("strange", {})
        stopped = self.tasks.wait(arn, "STOPPED")
        self.assertIn("UnrecogniedTaskError", stopped["stoppedReason"])
        self.assertEqual("TaskFailedToStart", stopped["stopCode"])
        before = len(agent.wait(lambda: agent.of("PayloadMessage"), "the payload"))
        agent.connect()
        agent.wait(lambda: len(agent.of("TaskManifestMessage")) == 2, "the second manifest")
        self.run_on(agent, "plain", {})
        self.assertEqual(before + 1, len(agent.of("PayloadMessage")))

    def test_sequence_numbers_of_payloads_and_manifests_grow(self):
        agent = self.agent().start()
        for i in range(3):
            self.run_on(agent, f"family-{i}", {})
            agent.connect()
        agent.wait(lambda: len(agent.of("TaskManifestMessage")) == 4, "four manifests")
        numbers = [message.get("seqNum", message.get("timeline")) for kind, message in
                   agent.messages if kind in ("PayloadMessage", "TaskManifestMessage")]
        self.assertEqual(sorted(set(numbers)), numbers)
        self.assertTrue(all(len(one["tasks"]) == 1 for one in agent.of("PayloadMessage")))


class ExecuteCommand(Peers):
    def test_it_is_refused_at_once(self):
        agent = self.agent().start()
        self.tasks.register("shell", {})
        arn = self.tasks.run("shell", enableExecuteCommand=True)
        agent.run(agent.wait_task(arn))
        self.tasks.wait(arn, "RUNNING")
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            self.ecs.execute_command(task=arn, command="sh", interactive=True)
        self.assertEqual("InvalidParameterException", caught.exception.response["Error"]["Code"])
        self.assertIn("needs Berth's own agent", str(caught.exception))


class Reconnects(Peers):
    def test_sessions_overlap_and_the_newest_gets_the_payloads(self):
        agent = self.agent().start()
        self.run_on(agent, "one", {})
        old = agent.connect()
        agent.wait(lambda: len(agent.of("TaskManifestMessage")) == 2, "the second manifest")
        arn, _ = self.run_on(agent, "two", {})

        def copies():
            return sum(one["tasks"][0]["arn"] == arn for one in agent.of("PayloadMessage"))
        agent.wait(lambda: copies() > 0, "the payload is noted")
        self.assertEqual(1, copies())
        old.close()
        self.run_on(agent, "three", {})
        self.assertTrue(self.instance(agent)["agentConnected"])

    def test_agents_of_older_and_newer_protocols_are_served(self):
        # What is no number counts as the version of today's agents.
        for version in ("1", "3", "", "soon", "99999999999999999999"):
            with self.subTest(version):
                agent = self.agent()
                agent.protocol_version = version
                agent.start()
                agent.wait(lambda: agent.of("TaskManifestMessage"), "a manifest")
                arn, task = self.run_on(agent, "any", {})
                agent.run(task)
                self.tasks.wait(arn, "RUNNING")
                self.ecs.deregister_container_instance(containerInstance=agent.arn, force=True)

    def test_one_that_was_deregistered_by_force_stays_away(self):
        agent = self.agent().start()
        self.ecs.deregister_container_instance(containerInstance=agent.arn, force=True)
        agent.wait(lambda: ("closed", None) in agent.messages, "it is sent away")
        self.assertEqual((1008, "InactiveInstanceException"),
                         (agent.acs.close_code, agent.acs.close_reason))
        self.assertEqual(3600, agent.keep_connected())
        self.assertEqual(1, agent.opened)

    def test_who_connects_again_and_again_has_to_wait_and_others_do_not(self):
        agent, other = self.agent().start(), self.agent()
        refused = []
        for _ in range(100):
            try:
                WebSocket(agent.wire, agent.acs_url()).close()
            except Refused as error:
                refused.append(error)
        self.assertEqual("ThrottlingException", refused[-1].code)
        self.assertIn("wait", json.loads(refused[-1].body)["message"])
        other.start()
        other.wait(lambda: other.of("TaskManifestMessage"), "a manifest")

    def test_what_was_not_acknowledged_is_sent_again_and_what_was_is_not(self):
        agent = self.agent().start()
        taken, _ = self.run_on(agent, "taken", {})
        agent.lazy = True
        open_arn, _ = self.run_on(agent, "open", {})
        agent.lazy = False
        agent.kill()
        agent.start()
        agent.wait(lambda: agent.of("PayloadMessage"), "a payload")
        time.sleep(0.5)
        self.assertEqual([open_arn], [one["tasks"][0]["arn"]
                                      for one in agent.of("PayloadMessage")])
        self.assertNotEqual(taken, open_arn)

    def test_a_manifest_settles_what_was_stopped_while_the_agent_was_away(self):
        agent = self.agent().start()
        arn, task = self.run_on(agent, "stopped", {})
        kept, kept_task = self.run_on(agent, "kept", {})
        agent.run(task)
        agent.run(kept_task)
        agent.kill()
        self.tasks.stop(arn)
        agent.start()
        agent.wait_task(arn, "STOPPED")
        self.assertIn("TaskStopVerificationMessage", [kind for kind, _ in agent.sent])
        agent.finish(task, exit_code=137)
        self.assertEqual("STOPPED", self.tasks.wait(arn, "STOPPED")["lastStatus"])
        self.assertEqual("RUNNING", self.tasks.describe(kept)["lastStatus"])
        self.assertEqual("RUNNING", agent.tasks[kept].desired)

    def test_a_task_that_ended_while_the_agent_was_dead_is_reported_before_it_connects(self):
        agent = self.agent().start()
        arn, task = self.run_on(agent, "short", {})
        agent.run(task)
        agent.kill()
        agent.register()
        agent.finish(task, exit_code=0)
        self.assertEqual("EssentialContainerExited", self.tasks.wait(arn, "STOPPED")["stopCode"])
        agent.start()
        agent.wait(lambda: agent.of("TaskManifestMessage"), "a manifest")
        self.assertFalse(agent.of("PayloadMessage"))

    def test_a_server_that_was_killed_knows_its_agents_and_their_tasks_again(self):
        agent = self.agent().start()
        arn, task = self.run_on(agent, "lasting", {})
        agent.run(task)
        self.server.kill()
        self.server.start()
        agent.kill()
        agent.start()
        agent.wait(lambda: agent.of("TaskManifestMessage"), "a manifest")
        self.assertEqual("RUNNING", self.tasks.describe(arn)["lastStatus"])
        agent.finish(task)
        self.tasks.wait(arn, "STOPPED")


class Silence(Peers):
    server_options = ("--agent-timeout", "3")

    def test_a_silent_agent_gets_no_tasks_keeps_those_it_has_and_comes_back(self):
        agent = self.agent().start()
        arn, task = self.run_on(agent, "lasting", {})
        agent.run(task)
        agent.wait(lambda: agent.of("HeartbeatMessage"), "a heartbeat")
        self.assertTrue(self.instance(agent)["agentConnected"])
        agent.polite = False
        wait_for(lambda: not self.instance(agent)["agentConnected"], "disconnected", 30)
        self.assertIn("heartbeats", self.instance(agent)["statusReason"])
        self.assertEqual("AGENT", self.ecs.run_task(
            taskDefinition="lasting")["failures"][0]["reason"])
        self.assertEqual("RUNNING", self.tasks.describe(arn)["lastStatus"])
        agent.polite = True
        agent.connect()
        wait_for(lambda: self.instance(agent)["agentConnected"], "connected again")
        self.assertEqual("RUNNING", self.tasks.describe(arn)["lastStatus"])
        self.assertEqual("RUNNING", agent.tasks[arn].desired)
        self.assertFalse(self.ecs.run_task(taskDefinition="lasting")["failures"])


class Roles(Peers):
    def client(self, service, credentials):
        return boto3.session.Session(
            credentials["accessKeyId"], credentials["secretAccessKey"],
            credentials["sessionToken"], self.server.region).client(
                service, endpoint_url=self.server.url,
                config=botocore.config.Config(retries={"total_max_attempts": 1}))

    def assert_denied(self, call, **members):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            call(**members)
        self.assertIn(caught.exception.response["Error"]["Code"],
                      ("AccessDeniedException", "AccessDenied"))

    def test_the_keys_of_roles_reach_what_the_definition_names_and_nothing_else(self):
        agent = self.agent().start()
        logs, ssm = self.server.client("logs"), self.server.client("ssm")
        secrets = self.server.client("secretsmanager")
        logs.create_log_group(logGroupName="/mine")
        logs.create_log_group(logGroupName="/other")
        ssm.put_parameter(Name="/app/user", Value="jane", Type="SecureString")
        ssm.put_parameter(Name="/app/other", Value="joe", Type="SecureString")
        password = secrets.create_secret(Name="password", SecretString="hunter2")["ARN"]
        arn, task = self.run_on(agent, "roles", {
            "logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "/mine"}},
            "secrets": [{"name": "USER", "valueFrom": "/app/user"},
                        {"name": "PASSWORD", "valueFrom": f"{password}:pw::"}]},
            taskRoleArn="reader", executionRoleArn="arn:aws:iam::123456789012:role/executor")
        container = task.payload["containers"][0]
        self.assertEqual([("USER", "ssm", "/app/user"), ("PASSWORD", "asm", f"{password}:pw::")],
                         [(one["name"], one["provider"], one["valueFrom"])
                          for one in container["secrets"]])
        self.assertNotIn("hunter2", json.dumps(task.payload))
        role = task.payload["roleCredentials"]
        execution = task.payload["executionRoleCredentials"]
        self.assertEqual({role["credentialsId"], execution["credentialsId"]},
                         set(agent.credentials))
        identity = self.client("sts", role).get_caller_identity()
        self.assertTrue(identity["Arn"].endswith(
            f":assumed-role/reader/{harness.task_id(arn)}"), identity)
        self.assertIn("/executor/", self.client("sts", execution).get_caller_identity()["Arn"])

        mine = self.client("logs", role)
        mine.create_log_stream(logGroupName="/mine", logStreamName="s")
        mine.put_log_events(logGroupName="/mine", logStreamName="s", logEvents=[
            {"timestamp": int(time.time() * 1000), "message": "hello"}])
        self.assert_denied(mine.create_log_stream, logGroupName="/other", logStreamName="s")
        self.assert_denied(mine.delete_log_group, logGroupName="/mine")
        self.assert_denied(self.client("ecs", role).list_tasks)

        reader = self.client("ssm", execution)
        self.assertEqual("jane", reader.get_parameters(
            Names=["/app/user"], WithDecryption=True)["Parameters"][0]["Value"])
        self.assert_denied(reader.get_parameters, Names=["/app/other"], WithDecryption=True)
        self.assert_denied(reader.put_parameter, Name="/app/user", Value="x", Overwrite=True)
        keeper = self.client("secretsmanager", execution)
        self.assertEqual("hunter2", keeper.get_secret_value(SecretId=password)["SecretString"])
        self.assert_denied(keeper.delete_secret, SecretId=password)

        wrong = dict(role, sessionToken=execution["sessionToken"])
        with self.assertRaises(botocore.exceptions.ClientError):
            self.client("sts", wrong).get_caller_identity()

    def assert_ended(self, *keys):
        for one in keys:
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                self.client("sts", one).get_caller_identity()
            self.assertEqual("ExpiredToken", caught.exception.response["Error"]["Code"])
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                self.client("ssm", one).get_parameter(Name="/app/user")
            self.assertEqual("ExpiredTokenException", caught.exception.response["Error"]["Code"])

    def test_the_keys_of_roles_end_with_the_task_however_it_ends_and_stay_ended(self):
        agent = self.agent().start()
        keys = []
        for _ in range(3):
            _, task = self.run_on(agent, "roles", {}, taskRoleArn="reader",
                                  executionRoleArn="executor")
            agent.run(task)
            keys.append((task, task.payload["roleCredentials"],
                         task.payload["executionRoleCredentials"]))
        stopped, given_up, living = keys
        for _, role, execution in keys:
            self.client("sts", role).get_caller_identity()
            self.client("sts", execution).get_caller_identity()
        self.tasks.stop(stopped[0].arn)
        agent.wait_task(stopped[0].arn, "STOPPED")
        self.client("sts", stopped[1]).get_caller_identity()  # Its containers still run.
        agent.submit(stopped[0].arn, "STOPPED", [])
        self.assert_ended(*stopped[1:])
        self.client("sts", living[1]).get_caller_identity()
        self.server.kill()
        self.server.start()
        self.assert_ended(*stopped[1:])
        self.client("sts", living[1]).get_caller_identity()
        self.client("sts", given_up[1]).get_caller_identity()
        self.ecs.deregister_container_instance(containerInstance=agent.arn, force=True)
        self.assert_ended(*given_up[1:], *living[1:])

    def test_a_process_that_has_just_started_gets_the_keys_of_its_tasks_again(self):
        agent = self.agent().start()
        _, task = self.run_on(agent, "roles", {}, taskRoleArn="reader")
        agent.run(task)
        known = task.payload["roleCredentials"]["credentialsId"]
        agent.kill()
        agent.start()
        sent = agent.wait(lambda: agent.of("IAMRoleCredentialsMessage"), "credentials")[0]
        self.assertEqual((task.arn, "TaskApplication"), (sent["taskArn"], sent["roleType"]))
        self.assertEqual(known, sent["roleCredentials"]["credentialsId"])
        self.client("sts", sent["roleCredentials"]).get_caller_identity()
        agent.connect()  # A renewed connection asks for nothing.
        agent.wait(lambda: len(agent.of("TaskManifestMessage")) == 2, "the second manifest")
        self.assertEqual(1, len(agent.of("IAMRoleCredentialsMessage")))


class Telemetry(Peers):
    def test_health_and_status_are_taken_in_and_every_frame_is_answered(self):
        agent = self.agent().start()
        check = {"command": ["CMD", "true"]}
        arn, task = self.run_on(agent, "healthy", {"healthCheck": check},
                                {"name": "side", "healthCheck": check})
        agent.run(task)
        agent.publish_idle_metrics()
        agent.publish_health(task, main="HEALTHY", side="UNHEALTHY")
        agent.publish_status("IMPAIRED")
        agent.wait(lambda: {"AckPublishMetric", "AckPublishHealth", "AckPublishInstanceStatus"} <=
                   {kind for kind, _ in agent.tcs_messages}, "three answers")

        def shown():
            told = self.tasks.describe(arn)
            return told if told["healthStatus"] == "UNHEALTHY" else None
        task_shown = wait_for(shown, "the task's health")
        self.assertEqual("HEALTHY", harness.container_of(task_shown)["healthStatus"])
        health = wait_for(
            lambda: (told := self.instance(agent, "CONTAINER_INSTANCE_HEALTH")["healthStatus"])
            ["overallStatus"] == "IMPAIRED" and told, "the instance's health")
        self.assertIn(("CONTAINER_RUNTIME", "IMPAIRED"),
                      [(one["type"], one["status"]) for one in health["details"]])
        agent.publish_health(task, main="HEALTHY", side="HEALTHY")
        wait_for(lambda: self.tasks.describe(arn)["healthStatus"] == "HEALTHY", "healthy again")

    def test_a_container_that_is_not_essential_makes_no_task_unhealthy(self):
        agent = self.agent().start()
        check = {"command": ["CMD", "true"]}
        arn, task = self.run_on(agent, "healthy", {"healthCheck": check}, {"name": "plain"},
                                {"name": "side", "healthCheck": check, "essential": False})
        agent.run(task)
        agent.publish_health(task, main="HEALTHY", side="UNHEALTHY")
        wait_for(lambda: harness.container_of(self.tasks.describe(arn), "side")["healthStatus"] ==
                 "UNHEALTHY", "the side's health")
        self.assertEqual("HEALTHY", self.tasks.describe(arn)["healthStatus"])


    def test_an_idle_telemetry_stream_hears_something_each_minute(self):
        agent = self.agent().start()
        begun = time.monotonic()
        agent.wait(lambda: [kind for kind, _ in agent.tcs_messages if kind == "HeartbeatMessage"],
                   "a heartbeat on the telemetry stream", 60)
        self.assertLess(time.monotonic() - begun, 60)


class Keys(Peers):
    def official_key(self):
        made = json.loads(berth("token", "create", "--official", "--json", server=self.server))
        return {"key": made["accessKeyId"], "secret": made["secretAccessKey"]}

    def environment(self, *options):
        """What `berth token create --official` prints, as Docker reads an env-file."""
        lines = berth("token", "create", "--official", *options, server=self.server).splitlines()
        return dict(line.split("=", 1) for line in lines if not line.startswith("#"))

    def test_the_printed_environment_is_what_an_agent_without_ecs_init_needs(self):
        told = self.environment()
        for name in ("ECS_BACKEND_HOST", "AWS_ENDPOINT_URL_SSM", "AWS_ENDPOINT_URL_SECRETS_MANAGER"):
            self.assertEqual(self.server.url, told[name])
        self.assertNotIn("AWS_ENDPOINT_URL", told)
        self.assertIn("awslogs", json.loads(told["ECS_AVAILABLE_LOGGING_DRIVERS"]))
        for name in ("ECS_EXTERNAL", "ECS_ENABLE_TASK_IAM_ROLE",
                     "ECS_ENABLE_TASK_IAM_ROLE_NETWORK_HOST"):
            self.assertEqual("true", told[name])
        self.assertNotIn("ECS_ENABLE_GPU_SUPPORT", told)
        self.assertIn("# ECS_ENABLE_GPU_SUPPORT=true",
                      berth("token", "create", "--official", server=self.server))

    def test_an_official_agents_key_is_good_for_one_machine_and_an_agents_work(self):
        key = self.official_key()
        agent = self.agent(**key).start()
        arn, task = self.run_on(agent, "work", {})
        agent.run(task)
        agent.kill()
        agent.start()
        self.assertEqual("RUNNING", self.tasks.describe(arn)["lastStatus"])
        with self.assertRaises(Refused) as refused:
            agent.wire.call("RunTask", {"taskDefinition": "work"})
        self.assertEqual("AccessDeniedException", refused.exception.code)
        with self.assertRaises(Refused) as refused:
            self.agent(**key).register()
        self.assertEqual("AccessDeniedException", refused.exception.code)
        self.assertIn("data directory", json.loads(refused.exception.body)["message"])

    def test_a_key_does_nothing_for_another_instance(self):
        victim = self.agent().start()
        arn, task = self.run_on(victim, "work", {})
        thief = self.agent(**self.official_key()).start()
        thief.arn = victim.arn
        with self.assertRaises(Refused):
            thief.connect()
        with self.assertRaises(Refused):
            thief.submit(arn, "STOPPED", [])
        with self.assertRaises(Refused):
            thief.register()
        self.assertEqual("PENDING", self.tasks.describe(arn)["lastStatus"])

    def test_a_key_writes_the_logs_of_its_own_instance_s_tasks_and_no_others(self):
        def logs_of(key):
            return boto3.session.Session(key["key"], key["secret"], None, self.server.region).client(
                "logs", endpoint_url=self.server.url,
                config=botocore.config.Config(retries={"total_max_attempts": 1}))
        def put(logs, stream, text, **members):
            return logs.put_log_events(logGroupName="/app", logStreamName=stream, logEvents=[
                {"timestamp": int(time.time() * 1000), "message": text}], **members)
        def denied(call, *arguments, **members):
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                call(*arguments, **members)
            self.assertEqual("AccessDeniedException", caught.exception.response["Error"]["Code"])
        root = self.server.client("logs")
        root.create_log_group(logGroupName="/app")
        root.create_log_stream(logGroupName="/app", logStreamName="somebody-s")
        one_key, other_key = self.official_key(), self.official_key()
        agent = self.agent(**one_key).start()
        arn, _ = self.run_on(agent, "logged", {"logConfiguration": {
            "logDriver": "awslogs",
            "options": {"awslogs-group": "/app", "awslogs-stream-prefix": "p"}}})
        self.agent(**other_key).start()
        stream = f"p/main/{harness.task_id(arn)}"
        mine, others = logs_of(one_key), logs_of(other_key)
        for name in (stream, "ecs-execute-command-0123456789abcdef0", "p/main/other"):
            denied(others.create_log_stream, logGroupName="/app", logStreamName=name)
        denied(mine.create_log_stream, logGroupName="/app", logStreamName="p/main/other")
        denied(mine.create_log_group, logGroupName="/other")
        denied(put, mine, "somebody-s", "forged")
        mine.create_log_stream(logGroupName="/app", logStreamName=stream)
        put(mine, stream, "one")
        denied(put, others, stream, "forged")
        put(mine, stream, "two")
        found = root.get_log_events(logGroupName="/app", logStreamName=stream, startFromHead=True)
        self.assertEqual(["one", "two"], [one["message"] for one in found["events"]])

    def test_a_key_that_has_not_registered_yet_is_no_instance(self):
        victim = self.agent().start()
        arn, _ = self.run_on(victim, "work", {})
        thief = self.agent(**self.official_key())
        thief.arn = victim.arn
        thief.endpoint, thief.telemetry_endpoint = victim.endpoint, victim.telemetry_endpoint
        for act in (thief.register, thief.connect, thief.connect_telemetry,
                    lambda: thief.submit(arn, "STOPPED", [])):
            with self.assertRaises(Refused) as refused:
                act()
            self.assertEqual("AccessDeniedException", refused.exception.code)
        self.assertEqual("PENDING", self.tasks.describe(arn)["lastStatus"])
        thief.arn = None
        thief.start()

    def test_a_revoked_key_is_worth_nothing(self):
        key = self.official_key()
        agent = self.agent(**key).start()
        berth("token", "revoke", key["key"], server=self.server)
        with self.assertRaises(Refused) as refused:
            agent.register()
        self.assertEqual("UnrecognizedClientException", refused.exception.code)

    def test_a_leaked_key_is_replaced_and_the_instance_and_its_task_stay(self):
        leaked = self.official_key()
        agent = self.agent(**leaked).start()
        arn, task = self.run_on(agent, "work", {})
        agent.run(task)
        made = json.loads(berth("token", "rotate", agent.arn, "--official", "--json",
                                server=self.server))
        wait_for(lambda: not any(thread.is_alive() for thread in agent.threads),
                 "both of its streams are closed", 60)
        thief = self.agent(**leaked)
        thief.arn = agent.arn
        with self.assertRaises(Refused) as refused:
            thief.register()
        self.assertEqual("UnrecognizedClientException", refused.exception.code)
        agent.kill()
        agent.use_key(made["accessKeyId"], made["secretAccessKey"])
        agent.start()
        wait_for(lambda: self.instance(agent)["agentConnected"], "it is back")
        self.assertEqual("RUNNING", self.tasks.describe(arn)["lastStatus"])
        agent.finish(task)
        self.tasks.wait(arn, "STOPPED")
        self.assertEqual([agent.arn], self.ecs.list_container_instances()["containerInstanceArns"])
        listed = berth("token", "list", server=self.server)
        self.assertIn(made["accessKeyId"], listed)
        self.assertNotIn(leaked["key"], listed)

    def test_a_key_can_stay_good_until_the_new_one_is_there(self):
        key = self.official_key()
        agent = self.agent(**key).start()
        made = json.loads(berth("token", "rotate", agent.arn, "--official", "--json", "--keep",
                                server=self.server))
        agent.register()
        agent.use_key(made["accessKeyId"], made["secretAccessKey"])
        agent.register()
        with self.assertRaises(subprocess.CalledProcessError) as failed:
            berth("token", "rotate", "0" * 32, "--official", server=self.server)
        self.assertIn("not found", failed.exception.stderr)

    def test_a_machine_that_lost_its_data_directory_registers_anew_when_nothing_is_left(self):
        key = self.official_key()
        first = self.agent(**key).start().arn
        second = self.agent(**key).start().arn
        self.assertNotEqual(first, second)
        self.assertEqual([second], self.ecs.list_container_instances()["containerInstanceArns"])

    def join(self, token, data, **more):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("AWS_")}
        return harness.Process("agent", [
            BERTH, "agent", "--server", self.server.url, "--data", data,
            *(["--token", token] if token else [])], environment | {
                "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", **more})

    def test_a_join_token_becomes_the_key_of_one_machine(self):
        token = json.loads(berth("token", "create", "--json", server=self.server))["token"]
        data, other = (tempfile.mkdtemp(prefix="berth-agent-") for _ in range(2))
        agent = self.join(token, data)
        self.addCleanup(agent.close)
        self.server.wait_connected()
        path = os.path.join(data, "agent-key.json")
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        second = self.join(token, other)
        self.addCleanup(second.close)
        self.assertEqual(1, second.child.wait(30))
        self.assertIn("has been used", second.output())
        agent.terminate()
        again = self.join("", data)
        self.addCleanup(again.close)
        again.wait_line("ready: ", 60)
        self.assertEqual(1, len(self.ecs.list_container_instances()["containerInstanceArns"]))
        again.terminate()
        # The token that its key was given for says nothing new.
        same = self.join(token, data)
        self.addCleanup(same.close)
        same.wait_line("ready: ", 60)
        self.assertNotIn("goes on with the key", same.output())
        nothing = self.join("berth-join.0123.4567", tempfile.mkdtemp(prefix="berth-agent-"))
        self.addCleanup(nothing.close)
        self.assertEqual(1, nothing.child.wait(30))
        self.assertIn("berth token create", nothing.output())


    def test_a_token_for_an_instance_replaces_the_key_of_its_agent(self):
        token = json.loads(berth("token", "create", "--json", server=self.server))["token"]
        data = tempfile.mkdtemp(prefix="berth-agent-")
        agent = self.join(token, data)
        self.addCleanup(agent.close)
        agent.wait_line("ready: ", 60)  # Its control stream is open, not only its registration done.
        arn = self.server.wait_connected()[0]["containerInstanceArn"]
        with open(os.path.join(data, "agent-key.json")) as file:
            leaked = json.load(file)
        made = json.loads(berth("token", "rotate", arn, "--json", server=self.server))
        wait_for(lambda: not self.ecs.describe_container_instances(containerInstances=[arn])[
            "containerInstances"][0]["agentConnected"], "its agent is cut off", 120)
        agent.terminate()
        again = self.join(made["token"], data)
        self.addCleanup(again.close)
        self.assertEqual(arn, self.server.wait_connected()[0]["containerInstanceArn"])
        with open(os.path.join(data, "agent-key.json")) as file:
            self.assertNotEqual(leaked["accessKeyId"], json.load(file)["accessKeyId"])
        again.terminate()
        # One that is refused leaves the key as it is.
        refused = self.join("berth-join.0123.4567", data)
        self.addCleanup(refused.close)
        refused.wait_line("ready: ", 60)
        self.assertEqual(arn, self.server.wait_connected()[0]["containerInstanceArn"])
        self.assertIn("goes on with the key that it has", refused.output())


class Tls(unittest.TestCase):
    def test_a_server_with_its_own_authority_is_trusted_by_who_has_its_certificate(self):
        server = Server("--tls", command="server")
        self.addCleanup(server.close)
        self.assertTrue(server.url.startswith("https://127.0.0.1:"), server.url)
        env = json.loads(berth("env", "--json", server=server))
        ca = env["AWS_CA_BUNDLE"]
        self.assertEqual(0o600, stat.S_IMODE(os.stat(os.path.join(server.data, "ca.key")).st_mode))
        client = boto3.session.Session(server.key, server.secret, region_name=server.region)
        ecs = client.client("ecs", endpoint_url=server.url, verify=ca)
        self.assertEqual(1, len(ecs.list_clusters()["clusterArns"]))
        with self.assertRaises(botocore.exceptions.SSLError):
            client.client("ecs", endpoint_url=server.url, config=botocore.config.Config(
                retries={"total_max_attempts": 1})).list_clusters()
        agent = OfficialAgent(server.url, server.key, server.secret, ca_file=ca).start()
        self.addCleanup(agent.close)
        agent.wait(lambda: agent.of("TaskManifestMessage"), "a manifest")
        printed = berth("token", "create", "--official", server=server)
        self.assertIn("SSL_CERT_FILE=/etc/ecs/berth-ca.pem\n", printed)
        self.assertIn("Docker's daemon has to trust it", printed)
        token = json.loads(berth("token", "create", "--json", server=server))["token"]
        ours = harness.Process("agent", [
            BERTH, "agent", "--server", server.url, "--ca", ca, "--token", token, "--data",
            tempfile.mkdtemp(prefix="berth-agent-")], {
                "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""})
        self.addCleanup(ours.close)

        def connected():
            arns = ecs.list_container_instances()["containerInstanceArns"]
            told = ecs.describe_container_instances(containerInstances=arns)
            return all(one["agentConnected"] for one in told["containerInstances"]) and \
                len(arns) == 2
        wait_for(connected, "both agents over https", 60)
        before = open(os.path.join(server.data, "ca.pem")).read()
        server.stop()
        server.start()
        self.assertEqual(before, open(os.path.join(server.data, "ca.pem")).read())


class Secrets(Peers):
    def test_secrets_reach_the_container_and_those_of_the_log_driver_only_that(self):
        ssm = self.server.client("ssm")
        for name in ("/app/token", "flat", "/single"):
            ssm.put_parameter(Name=name, Value=f"value of {name}", Type="SecureString")
        arns = {name: ssm.get_parameter(Name=name)["Parameter"]["ARN"]
                for name in ("/app/token", "flat", "/single")}
        secret = self.server.client("secretsmanager").create_secret(
            Name="s", SecretString="horse-correct")["ARN"]
        agent = self.agent().start()
        _, task = self.run_on(agent, "secrets", {
            "secrets": [{"name": "BY_NAME", "valueFrom": "/app/token"},
                        {"name": "PATH", "valueFrom": arns["/app/token"]},
                        {"name": "FLAT", "valueFrom": arns["flat"]},
                        {"name": "SINGLE", "valueFrom": arns["/single"]},
                        {"name": "SECRET", "valueFrom": secret}],
            "logConfiguration": {"logDriver": "splunk", "options": {"splunk-url": "http://s"},
                                 "secretOptions": [{"name": "splunk-token",
                                                    "valueFrom": arns["flat"]}]}},
            executionRoleArn="executor")
        environment, options = agent.secrets_of(task, "main")
        self.assertEqual({"BY_NAME": "value of /app/token", "PATH": "value of /app/token",
                          "FLAT": "value of flat", "SINGLE": "value of /single",
                          "SECRET": "horse-correct"}, environment)
        self.assertEqual({"splunk-token": "value of flat"}, options)

    def test_parameters_and_secrets_are_kept_encrypted_over_a_restart(self):
        ssm, secrets = self.server.client("ssm"), self.server.client("secretsmanager")
        ssm.put_parameter(Name="/a/b", Value="staple-battery", Type="SecureString")
        arn = secrets.create_secret(Name="s", SecretString="horse-correct")["ARN"]
        self.assertNotIn("staple-battery", json.dumps(ssm.describe_parameters(), default=str))
        self.assertNotIn("horse-correct", json.dumps(secrets.list_secrets(), default=str))
        with self.assertRaises(ssm.exceptions.ParameterNotFound):
            ssm.get_parameter(Name="/a/none")
        with self.assertRaises(secrets.exceptions.ResourceNotFoundException):
            secrets.get_secret_value(SecretId="none")
        self.server.kill()
        self.server.start()
        self.assertEqual("staple-battery", ssm.get_parameter(
            Name="/a/b", WithDecryption=True)["Parameter"]["Value"])
        self.assertEqual("horse-correct", secrets.get_secret_value(SecretId=arn)["SecretString"])
        for folder, _, names in os.walk(self.server.data):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    data = file.read()
                self.assertNotIn(b"staple-battery", data, name)
                self.assertNotIn(b"horse-correct", data, name)
        self.assertNotIn("staple-battery", self.server.output())
        ssm.delete_parameter(Name="/a/b")
        with self.assertRaises(ssm.exceptions.ParameterNotFound):
            ssm.get_parameter(Name="/a/b")


if __name__ == "__main__":
    unittest.main()
