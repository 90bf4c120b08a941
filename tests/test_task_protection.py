"""$ECS_AGENT_URI/task-protection/v1/state: a task of a service guards itself against scale-in. The
agent has joined by a token, so that it asks with its own restricted key; the official agent asks
with the keys of the task's role, which do for that task."""

import json
import shutil
import subprocess
import tempfile
import unittest

import boto3
import botocore.exceptions

import harness
from harness import Process, Server, Tasks, container_of, shell, wait_for

server = None
tasks = None
agent = None


def setUpModule():
    global server, tasks, agent, agent_data
    server = Server(command="server")
    token = subprocess.run([harness.BERTH, "token", "create", "--data", server.data, "--json"],
                           capture_output=True, check=True, timeout=30).stdout
    agent_data = tempfile.mkdtemp(prefix="berth-agent-")
    agent = Process("agent", [
        harness.BERTH, "agent", "--server", server.url, "--data", agent_data, "--emulate",
        "c5.large", "--token", json.loads(token)["token"]], server.environment)
    agent.wait_line("ready: ", 60)
    tasks = Tasks(server)


def tearDownModule():
    agent.close()
    server.close()
    shutil.rmtree(agent_data, ignore_errors=True)


class Protection(unittest.TestCase):
    def ask(self, task, method, body=""):
        """Status and document of a request that a container of the task makes."""
        script = (f"printf '{method} %s/task-protection/v1/state HTTP/1.1\\r\\nHost: agent\\r\\n"
                  f"Connection: close\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n%s' "
                  "${ECS_AGENT_URI#http://169.254.170.2} '" + body + "' | nc 169.254.170.2 80")
        answer = server.docker.run("exec", container_of(task)["runtimeId"], "sh", "-c", script)
        head, _, document = answer.partition("\r\n\r\n")
        return int(head.split(" ")[1]), json.loads(document)

    def test_a_task_of_a_service_protects_itself_until_it_lets_go(self):
        # It outlives the answer that lets it go.
        tasks.register("guarded", {**shell("trap 'sleep 2; exit 0' TERM; sleep 600 & wait"),
                                   "stopTimeout": 10})
        tasks.ecs.create_service(serviceName="guarded", taskDefinition="guarded", desiredCount=1)

        def running():
            arns = tasks.ecs.list_tasks(serviceName="guarded")["taskArns"]
            return arns and tasks.describe(arns[0])["lastStatus"] == "RUNNING" and arns[0]
        arn = wait_for(running, "the service's task runs", 60)
        task = tasks.describe(arn)
        self.assertEqual((200, {"protection": {"ProtectionEnabled": False, "TaskArn": arn}}),
                         self.ask(task, "GET"))
        status, told = self.ask(task, "PUT", '{"ProtectionEnabled":true,"ExpiresInMinutes":60}')
        self.assertEqual(200, status, told)
        self.assertIs(True, told["protection"]["ProtectionEnabled"])
        self.assertEqual(told, self.ask(task, "GET")[1])
        seen = tasks.ecs.get_task_protection(cluster="default", tasks=[arn])["protectedTasks"][0]
        self.assertIs(True, seen["protectionEnabled"])
        self.assertEqual(seen["expirationDate"].strftime("%Y-%m-%dT%H:%M:%S"),
                         told["protection"]["ExpirationDate"][:19])

        tasks.ecs.update_service(service="guarded", desiredCount=0)
        for body, word in (("{}", "ProtectionEnabled is missing"),
                           ('{"ProtectionEnabled":true,"ExpiresInMinutes":9999}',
                            "between 1 and 2880")):
            status, told = self.ask(task, "PUT", body)
            self.assertEqual(400, status, told)
            self.assertEqual("InvalidParameterException", told["error"]["Code"])
            self.assertIn(word, told["error"]["Message"])
            self.assertEqual(arn, told["error"]["Arn"])
        self.assertEqual("RUNNING", tasks.describe(arn)["desiredStatus"])
        status, told = self.ask(task, "PUT", '{"ProtectionEnabled":false}')
        self.assertEqual((200, False), (status, told["protection"]["ProtectionEnabled"]))
        tasks.wait(arn, "STOPPED")
        tasks.ecs.delete_service(service="guarded", force=True)

    def protection_by(self, keys, arns, enabled=None):
        """What UpdateTaskProtection, or else GetTaskProtection, says to who has these keys."""
        client = boto3.session.Session(
            keys["AccessKeyId"], keys["SecretAccessKey"], keys["Token"], server.region).client(
                "ecs", endpoint_url=server.url)
        if enabled is None:
            return client.get_task_protection(cluster="default", tasks=arns)
        return client.update_task_protection(cluster="default", tasks=arns,
                                             protectionEnabled=enabled)

    def test_the_keys_of_a_tasks_role_protect_that_task_and_no_other(self):
        # As the official agent asks: with the keys of the role, not with its own.
        tasks.register("keyed", {**shell("trap 'exit 0' TERM; sleep 600 & wait"), "stopTimeout": 2},
                       taskRoleArn="keeper")
        tasks.ecs.create_service(serviceName="keyed", taskDefinition="keyed", desiredCount=2)

        def running():
            arns = tasks.ecs.list_tasks(serviceName="keyed")["taskArns"]
            up = [one for one in arns if tasks.describe(one)["lastStatus"] == "RUNNING"]
            return up if len(up) == 2 else None
        mine, other = wait_for(running, "both tasks run", 60)
        keys = json.loads(server.docker.run(
            "exec", container_of(tasks.describe(mine))["runtimeId"], "sh", "-c",
            "wget -q -O - http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"))
        told = self.protection_by(keys, [mine], enabled=True)
        self.assertIs(True, told["protectedTasks"][0]["protectionEnabled"], told)
        told = self.protection_by(keys, [mine])
        self.assertEqual(mine, told["protectedTasks"][0]["taskArn"])
        for arns, enabled in (([other], True), ([mine, other], True), ([other], None)):
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                self.protection_by(keys, arns, enabled)
            self.assertEqual("AccessDeniedException", caught.exception.response["Error"]["Code"])
        seen = tasks.ecs.get_task_protection(cluster="default", tasks=[mine, other])
        self.assertEqual({mine: True, other: False}, {
            one["taskArn"]: one["protectionEnabled"] for one in seen["protectedTasks"]})
        tasks.ecs.update_service(service="keyed", desiredCount=1)
        tasks.wait(other, "STOPPED")
        self.assertEqual("RUNNING", tasks.describe(mine)["lastStatus"])
        tasks.ecs.delete_service(service="keyed", force=True)
        tasks.wait(mine, "STOPPED")

    def test_a_task_of_no_service_hears_why_it_cannot_be_protected(self):
        arn = tasks.run_containers("alone", {**shell("exec sleep 600"), "stopTimeout": 2})
        task = tasks.wait(arn, "RUNNING")
        self.addCleanup(tasks.finish, arn)
        status, told = self.ask(task, "PUT", '{"ProtectionEnabled":true}')
        self.assertEqual(200, status)
        self.assertEqual(("TASK_NOT_VALID", arn),
                         (told["failure"]["Reason"], told["failure"]["Arn"]))
        # Of another task there is nothing to be had, from here or by the agent's key.
        other = tasks.run_containers("other", {**shell("exec sleep 600"), "stopTimeout": 2})
        self.addCleanup(tasks.finish, other)
        tasks.wait(other, "RUNNING")
        address = server.docker.run("exec", container_of(tasks.describe(other))["runtimeId"], "sh",
                                    "-c", "echo $ECS_AGENT_URI")
        document = server.docker.run(
            "exec", container_of(task)["runtimeId"], "sh", "-c",
            f"wget -q -O - {address}/task-protection/v1/state || echo refused")
        self.assertEqual("refused", document)


if __name__ == "__main__":
    unittest.main()
