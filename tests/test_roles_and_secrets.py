"""Roles and secrets of tasks, with Berth's own agent and real containers."""

import hashlib
import json
import os
import shutil
import socket
import tempfile
import unittest

import boto3
import botocore.exceptions

import harness
from harness import Server, Tasks


class RolesAndSecrets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--emulate", "c5.large", "--log-level", "debug")
        cls.server.wait_connected()
        cls.tasks = Tasks(cls.server)
        cls.ssm = cls.server.client("ssm")
        cls.secrets = cls.server.client("secretsmanager")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def run_to_end(self, family, script, **members):
        container = {"memory": 32, "logConfiguration": harness.awslogs("/roles"),
                     **harness.shell(script), **members.pop("container", {})}
        arn = self.tasks.run_containers(family, container, **members)
        stopped = self.tasks.wait(arn, "STOPPED")
        return arn, stopped

    def test_secrets_are_variables_of_the_container_and_stand_nowhere_else(self):
        self.ssm.put_parameter(Name="/app/user", Value="jane-the-user", Type="SecureString")
        arn = self.secrets.create_secret(Name="login", SecretString=json.dumps(
            {"password": "correct-horse", "host": "db"}))["ARN"]
        secrets = [{"name": "USER_NAME", "valueFrom": "/app/user"},
                   {"name": "PASSWORD", "valueFrom": f"{arn}:password::"}]
        task, stopped = self.run_to_end(
            "secrets", "echo $USER_NAME $PASSWORD | md5sum", executionRoleArn="executor",
            container={"secrets": secrets})
        self.assertEqual(0, harness.container_of(stopped)["exitCode"], harness.brief(stopped))
        expected = hashlib.md5(b"jane-the-user correct-horse\n").hexdigest()
        self.assertIn(expected, self.tasks.output(task, "/roles")[0])
        shown = json.dumps([stopped, self.tasks.ecs.describe_task_definition(
            taskDefinition="secrets")], default=str)
        for value in ("jane-the-user", "correct-horse"):
            self.assertNotIn(value, shown)
            self.assertNotIn(value, self.server.output())

    def test_a_secret_that_is_not_there_stops_the_task_with_the_reason(self):
        _, stopped = self.run_to_end(
            "missing", "true", executionRoleArn="executor",
            container={"secrets": [{"name": "A", "valueFrom": "/app/none"}]})
        told = json.dumps(stopped, default=str)
        self.assertIn("ResourceInitializationError", told)
        self.assertEqual("TaskFailedToStart", stopped["stopCode"])

    def test_every_spelling_of_a_reference_is_understood(self):
        parameter = "arn:aws:ssm:us-east-1:{}:parameter/{}".format(self.server.account, "by/name")
        self.ssm.put_parameter(Name="/by/name", Value="parameter-one", Type="SecureString")
        self.ssm.put_parameter(Name="bare", Value="parameter-two", Type="String")
        made = self.secrets.create_secret(Name="rotated", SecretString=json.dumps(
            {"user": "first-user", "count": 7}))
        first, arn = made["VersionId"], made["ARN"]
        self.secrets.put_secret_value(SecretId=arn, SecretString=json.dumps(
            {"user": "second-user", "count": 8}))
        references = {
            "A": ("/by/name", "parameter-one"), "B": (parameter, "parameter-one"),
            "C": ("bare", "parameter-two"),
            "D": (arn, '{"user": "second-user", "count": 8}'),
            "E": (f"{arn}:user::", "second-user"), "F": (f"{arn}:count::", "8"),
            "G": (f"{arn}:user:AWSPREVIOUS:", "first-user"),
            "H": (f"{arn}:user:AWSCURRENT:", "second-user"),
            "I": (f"{arn}:user::{first}", "first-user"),
            "J": (f"{arn}::AWSPREVIOUS:", '{"user": "first-user", "count": 7}')}
        script = "; ".join(f'printf %s "${name}" | md5sum' for name in references)
        task, stopped = self.run_to_end(
            "spellings", script, executionRoleArn="executor", container={"secrets": [
                {"name": name, "valueFrom": one} for name, (one, _) in references.items()]})
        self.assertEqual(0, harness.container_of(stopped)["exitCode"], harness.brief(stopped))
        told = [line.split()[0] for line in self.tasks.output(task, "/roles")]
        self.assertEqual([hashlib.md5(value.encode()).hexdigest()
                          for _, value in references.values()], told)

    def test_a_key_or_version_that_a_secret_has_not_is_named_and_its_value_is_not(self):
        arn = self.secrets.create_secret(Name="partial", SecretString=json.dumps(
            {"password": "never-to-be-shown"}))["ARN"]
        for suffix, word in ((":nothing::", "json key nothing"),
                             (":password:AWSPREVIOUS:", "AWSPREVIOUS")):
            with self.subTest(suffix):
                _, stopped = self.run_to_end(
                    "partial", "true", executionRoleArn="executor",
                    container={"secrets": [{"name": "A", "valueFrom": arn + suffix}]})
                self.assertEqual("TaskFailedToStart", stopped["stopCode"])
                self.assertIn(word, stopped["stoppedReason"])
                self.assertNotIn("never-to-be-shown", json.dumps(stopped, default=str))

    def test_options_of_a_log_driver_may_be_secrets(self):
        folder = tempfile.mkdtemp(prefix="berth-syslog-", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder)
        address = os.path.join(folder, "log.sock")
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(log.close)
        log.bind(address)
        log.settimeout(60)
        self.ssm.put_parameter(Name="/log/address", Value=f"unixgram://{address}",
                               Type="SecureString")
        arn = self.secrets.create_secret(Name="log", SecretString=json.dumps(
            {"tag": "quiet-otter"}))["ARN"]
        family = {"memory": 32, **harness.shell("echo to the log"), "logConfiguration": {
            "logDriver": "syslog", "options": {"syslog-facility": "local3"},
            "secretOptions": [{"name": "syslog-address", "valueFrom": "/log/address"},
                              {"name": "tag", "valueFrom": f"{arn}:tag::"}]}}
        task = self.tasks.run_containers("logged", family, executionRoleArn="executor")
        stopped = self.tasks.wait(task, "STOPPED")
        self.assertEqual(0, harness.container_of(stopped)["exitCode"], harness.brief(stopped))
        line = log.recv(4096).decode()
        self.assertTrue(line.startswith("<158>"), line)  # local3.info
        self.assertIn("quiet-otter", line)
        self.assertTrue(line.rstrip().endswith("to the log"), line)
        shown = json.dumps([stopped, self.tasks.ecs.describe_task_definition(
            taskDefinition="logged")], default=str)
        for value in ("quiet-otter", address):
            self.assertNotIn(value, shown)
            self.assertNotIn(value, self.server.output())

    def test_a_log_driver_that_docker_refuses_does_not_show_the_secret(self):
        self.ssm.put_parameter(Name="/log/wrong", Value="gopher://secret-place:1",
                               Type="SecureString")
        container = {"memory": 32, **harness.shell("true"), "logConfiguration": {
            "logDriver": "syslog",
            "secretOptions": [{"name": "syslog-address", "valueFrom": "/log/wrong"}]}}
        task = self.tasks.run_containers("refused", container, executionRoleArn="executor")
        stopped = self.tasks.wait(task, "STOPPED")
        told = json.dumps(stopped, default=str)
        self.assertIn("syslog-address", told)
        self.assertNotIn("secret-place", told)
        self.assertNotIn("secret-place", self.server.output())

    def test_a_secret_stands_in_its_own_container_and_nowhere_else(self):
        value = "swordfish-of-the-one-task"
        self.ssm.put_parameter(Name="/only/mine", Value=value, Type="SecureString")
        sleeps = {"memory": 32, "stopTimeout": 1, **harness.shell("sleep 600")}
        mine = self.tasks.run_containers(
            "mine", {**sleeps, "secrets": [{"name": "MINE", "valueFrom": "/only/mine"}]},
            {"name": "side", "essential": False, **sleeps}, executionRoleArn="executor")
        other = self.tasks.run_containers("other", sleeps, executionRoleArn="executor")
        for task in (mine, other):
            self.tasks.wait(task, "RUNNING")
        seen = {}
        for container, labels in self.server.containers():
            name = (labels[harness.TASK_LABEL], labels["com.amazonaws.ecs.container-name"])
            seen[name] = value in json.dumps(self.server.docker.inspect(container))
        self.assertTrue(seen[mine, "main"])
        self.assertFalse(seen[mine, "side"])
        self.assertFalse(seen[other, "main"])
        ecs = self.tasks.ecs
        instances = ecs.list_container_instances()["containerInstanceArns"]
        for shown in (ecs.describe_tasks(tasks=[mine, other]),
                      ecs.describe_task_definition(taskDefinition="mine"),
                      ecs.describe_container_instances(containerInstances=instances),
                      self.ssm.describe_parameters(), self.server.output()):
            self.assertNotIn(value, json.dumps(shown, default=str))
        for folder, _, names in os.walk(self.server.data):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        self.assertNotIn(value.encode(), file.read(), path)
        for task in (mine, other):
            self.tasks.finish(task)

    def keys_of(self, family):
        """(task ARN, the keys of its role) of a task that goes on."""
        task = self.tasks.run_containers(
            family, {"memory": 32, "logConfiguration": harness.awslogs("/keys"), **harness.shell(
                "wget -qO- http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI; echo; "
                "trap exit TERM; sleep 600 & wait")}, taskRoleArn="reader")
        self.tasks.wait(task, "RUNNING")

        def told():
            try:
                return self.tasks.lines("/keys", f"t/main/{harness.task_id(task)}")
            except self.tasks.logs.exceptions.ResourceNotFoundException:
                return None
        return task, json.loads("".join(harness.wait_for(told, "the keys")))

    def with_keys(self, service, keys):
        return boto3.session.Session(
            keys["AccessKeyId"], keys["SecretAccessKey"], keys["Token"],
            self.server.region).client(service, endpoint_url=self.server.url)

    def assert_ended(self, keys):
        for service, operation, members, code in (
                ("sts", "get_caller_identity", {}, "ExpiredToken"),
                ("logs", "create_log_stream",
                 {"logGroupName": "/keys", "logStreamName": "late"}, "ExpiredTokenException"),
                ("ssm", "get_parameter", {"Name": "/x"}, "ExpiredTokenException")):
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                getattr(self.with_keys(service, keys), operation)(**members)
            self.assertEqual(code, caught.exception.response["Error"]["Code"])
            self.assertIn("has stopped", caught.exception.response["Error"]["Message"])

    def test_a_tasks_keys_are_its_own_and_end_with_it_and_stay_so(self):
        task, keys = self.keys_of("role")
        going_on, other = self.keys_of("role-two")
        self.assertTrue(keys["RoleArn"].endswith(":role/reader"), keys["RoleArn"])
        identity = self.with_keys("sts", keys).get_caller_identity()["Arn"]
        self.assertTrue(identity.endswith(f":assumed-role/reader/{harness.task_id(task)}"))
        self.tasks.finish(task)
        self.assert_ended(keys)
        self.with_keys("sts", other).get_caller_identity()
        self.server.kill()
        self.server.start()
        self.assert_ended(keys)
        self.with_keys("sts", other).get_caller_identity()
        self.tasks.finish(going_on)
        self.assert_ended(other)


if __name__ == "__main__":
    unittest.main()
