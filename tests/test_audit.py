"""The audit log: who has changed what, and who was refused, is on the disk before the answer is."""

import http.client
import json
import os
import stat
import subprocess
import unittest

import harness
from harness import Server
from official_agent import OfficialAgent, Refused


class Audit(unittest.TestCase):
    def setUp(self):
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.path = os.path.join(self.server.data, "audit.log")

    def berth(self, *arguments):
        done = subprocess.run([harness.BERTH, *arguments, "--data", self.server.data],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def entries(self, *filters):
        return [json.loads(line) for line in self.berth("audit", "--json", *filters).splitlines()]

    def key(self):
        made = self.server.call("CreateAgentKey", {}, service="berth",
                                target="BerthV20260101.CreateAgentKey").json()
        return made["accessKeyId"], made["secretAccessKey"]

    def test_changes_refusals_and_keys_are_told(self):
        ecs = self.server.client("ecs")
        key, secret = self.key()
        agent = OfficialAgent(self.server.url, key, secret)
        self.addCleanup(agent.close)
        agent.register()
        ecs.register_task_definition(family="train", containerDefinitions=[
            {"name": "main", "image": "busybox", "memory": 16,
             "environment": [{"name": "A", "value": "VALUE-OF-A"}]}])
        task = ecs.run_task(taskDefinition="train", count=1, startedBy="me")["tasks"][0]["taskArn"]
        ecs.list_tasks()
        with self.assertRaises(Refused):
            agent.wire.call("RunTask", {"taskDefinition": "train"})
        self.berth("token", "revoke", key)
        with self.assertRaises(Refused):
            agent.wire.call("DiscoverPollEndpoint", {"containerInstance": agent.arn})

        self.assertEqual(0o600, stat.S_IMODE(os.stat(self.path).st_mode))
        names = [one["eventName"] for one in self.entries()]
        self.assertNotIn("ListTasks", names)
        self.assertEqual(["CreateAgentKey", "RegisterContainerInstance",
                          "RegisterTaskDefinition", "RunTask", "RunTask", "DeleteAgentKey",
                          "DiscoverPollEndpoint"], names[names.index("CreateAgentKey"):])
        ran, refused = self.entries("--action", "RunTask")
        self.assertEqual("Root", ran["userIdentity"]["type"])
        self.assertEqual(self.server.key, ran["userIdentity"]["accessKeyId"])
        self.assertEqual("127.0.0.1", ran["sourceIPAddress"])
        self.assertEqual({"count": 1, "startedBy": "me", "taskDefinition": "train"},
                         ran["requestParameters"])
        self.assertEqual({"tasks": {"count": 1, "arns": [task]}}, ran["responseElements"])
        self.assertEqual(("BerthAgent", key, agent.arn), tuple(
            refused["userIdentity"][name] for name in ("type", "accessKeyId",
                                                       "containerInstanceArn")))
        self.assertEqual("AccessDeniedException", refused["errorCode"])
        self.assertEqual({"id": key}, self.entries("--action", "DeleteAgentKey")[0]["requestParameters"])
        unknown = self.entries("--refused")[-1]
        self.assertEqual({"type": "Unknown", "claimedAccessKeyId": key}, unknown["userIdentity"])
        self.assertEqual([refused["requestID"]],
                         [one["requestID"] for one in self.entries("--principal", agent.arn)
                          if one["eventName"] == "RunTask"])
        self.assertIn("AccessDeniedException", self.berth("audit", "--refused"))
        # Who has exchanged the two halves of a key.
        self.assertEqual(400, self.server.call("ListClusters", {}, key=secret, secret=key).status)
        with open(self.path) as file:
            text = file.read()
        for kept_out in ("VALUE-OF-A", secret, self.server.secret):
            self.assertNotIn(kept_out, text)

    def test_what_was_answered_is_there_after_kill_9(self):
        ecs = self.server.client("ecs")
        for number in range(20):
            ecs.create_cluster(clusterName=f"c{number}")
        self.server.kill()
        with open(self.path) as file:
            told = [json.loads(line).get("requestParameters", {}) for line in file]
        self.assertIn({"clusterName": "c19"}, told)
        self.server.start()
        self.server.client("ecs").delete_cluster(cluster="c0")
        names = [one["eventName"] for one in self.entries()]
        self.assertEqual("DeleteCluster", names[-1])
        self.assertGreaterEqual(names.count("CreateCluster"), 20)

    def test_reads_of_secrets_are_told_without_their_values(self):
        ssm, secrets = self.server.client("ssm"), self.server.client("secretsmanager")
        ssm.put_parameter(Name="/db", Value="THE-VALUE", Type="SecureString")
        ssm.get_parameter(Name="/db")
        ssm.get_parameter(Name="/db", WithDecryption=True)
        secrets.create_secret(Name="s", SecretString="THE-VALUE")
        secrets.get_secret_value(SecretId="s")
        told = [(one["eventName"], one["requestParameters"]) for one in self.entries()][-4:]
        self.assertEqual([("PutParameter", {"Name": "/db"}),
                          ("GetParameter", {"Name": "/db", "WithDecryption": True}),
                          ("CreateSecret", {"Name": "s"}),
                          ("GetSecretValue", {"SecretId": "s"})], told)
        with open(self.path) as file:
            self.assertNotIn("THE-VALUE", file.read())

    def test_a_flood_of_unsigned_calls_does_not_fill_it(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        self.addCleanup(connection.close)
        for _ in range(500):
            connection.request("POST", "/", "{}", {"X-Amz-Target": f"{harness.ECS_TARGET}.RunTask"})
            connection.getresponse().read()
        lines = self.entries("--refused")
        self.assertLessEqual(len(lines), 62)
        self.server.stop()
        with open(self.path) as file:
            last = json.loads(file.read().splitlines()[-1])
        self.assertEqual(500, len(lines) + last["leftOut"]["unknown"])


if __name__ == "__main__":
    unittest.main()
