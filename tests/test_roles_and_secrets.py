"""Roles and secrets of tasks, with Berth's own agent and real containers."""

import hashlib
import json
import unittest

import boto3

import harness
from harness import Server, Tasks


class RolesAndSecrets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--emulate", "c5.large")
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

    def test_a_task_has_its_roles_keys_and_they_are_its_own(self):
        task, stopped = self.run_to_end(
            "role", "wget -qO- http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            taskRoleArn="reader")
        self.assertEqual(0, harness.container_of(stopped)["exitCode"], harness.brief(stopped))
        keys = json.loads("".join(self.tasks.output(task, "/roles")))
        self.assertTrue(keys["RoleArn"].endswith(":role/reader"), keys["RoleArn"])
        sts = boto3.session.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["Token"],
                                    self.server.region).client(
                                        "sts", endpoint_url=self.server.url)
        self.assertTrue(sts.get_caller_identity()["Arn"].endswith(
            f":assumed-role/reader/{harness.task_id(task)}"))


if __name__ == "__main__":
    unittest.main()
