#!/usr/bin/env python3
"""The control plane and the official ECS agent itself: soak_official_agent.py BERTH_BINARY [TEST..].

BERTH_OFFICIAL_AGENT names that agent's binary; without it nothing is tested, and that is said
(docs/official-agent.md has how to build it). Needs root and the dockerd of DOCKER_HOST, and nobody
else on ports 51678 and 51679 of 127.0.0.1.
"""

import os
import subprocess
import sys
import time
import unittest

import botocore.exceptions

if __name__ == "__main__":
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    os.environ["BERTH_BINARY"] = os.path.abspath(sys.argv.pop(1))

import harness
from harness import BERTH, Docker, Server, TASK_LABEL, Tasks, gpus, wait_for
from real_official_agent import RealOfficialAgent

AGENT = os.environ.get("BERTH_OFFICIAL_AGENT", "")
GPUS = [f"GPU-{digit * 8}-0000-0000-0000-000000000000" for digit in "ab"]
SLEEP = {"command": ["sh", "-c", "trap 'exit 0' TERM; sleep 600 & wait"]}


class Real(unittest.TestCase):
    gpus = ()

    def setUp(self):
        self.docker = Docker()
        self.docker.make_image()
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.addCleanup(self.remove_containers)
        self.tasks = Tasks(self.server)
        self.ecs = self.tasks.ecs
        printed = subprocess.run(
            [BERTH, "token", "create", "--official", "--data", self.server.data], check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60).stdout
        environment = dict(line.split("=", 1) for line in printed.splitlines()
                           if not line.startswith("#"))
        self.agent = RealOfficialAgent(environment, self.docker, self.gpus)
        self.addCleanup(self.agent.close)
        try:
            # Its version comes with its control stream, a moment after it has registered.
            self.instance = wait_for(
                lambda: [one["containerInstanceArn"] for one in self.server.wait_connected(1, 60)
                         if one["versionInfo"].get("agentVersion")], "its control stream", 60)[0]
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.agent.output()}") from None

    def containers(self, arn, running_only=False):
        """The inspected containers of a task, by their names in its definition."""
        found = self.docker.containers(f"{TASK_LABEL}={arn}", running_only)
        return {labels["com.amazonaws.ecs.container-name"]: self.docker.inspect(identifier)
                for identifier, labels in found}

    def remove_containers(self):
        mine = [identifier for identifier, labels in self.docker.containers(TASK_LABEL)
                if f":{self.server.account}:" in labels[TASK_LABEL]]
        self.docker.remove(mine)

    def wait(self, arn, status):
        try:
            return self.tasks.wait(arn, status, 90)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.agent.output()}") from None

    @staticmethod
    def environment_of(container):
        return dict(line.split("=", 1) for line in container["Config"]["Env"])


class OnEc2(Real):
    gpus = GPUS

    def test_gpu_tasks_stop_and_the_next_ones_get_their_gpus(self):
        definition = self.tasks.register(
            "train", {**SLEEP, "resourceRequirements": gpus(2)},
            {**SLEEP, "name": "side", "essential": False})
        for _ in range(3):
            arn = self.tasks.run(definition)
            told = self.wait(arn, "RUNNING")
            held = harness.container_of(told)["gpuIds"]
            containers = self.containers(arn)
            seen = {name: self.environment_of(one)["NVIDIA_VISIBLE_DEVICES"]
                    for name, one in containers.items()}
            self.assertEqual({"main": set(held), "side": {"void"}},
                             {name: set(value.split(",")) for name, value in seen.items()})
            self.tasks.stop(arn)
            self.wait(arn, "STOPPED")
            self.assertEqual({}, self.containers(arn, running_only=True))
        self.assertFalse(self.agent.said("could not find container with name"))
        # Nothing is held up behind them.
        self.wait(self.tasks.run_containers("plain", {"command": ["true"]}), "STOPPED")

    def test_a_gang_meets_at_an_address(self):
        told = self.ecs.run_task(
            taskDefinition=self.tasks.register("gang", {**SLEEP, "resourceRequirements": gpus(1)},
                                               networkMode="host"),
            count=2, tags=[{"key": "berth:gang", "value": "all"}])
        self.assertFalse(told["failures"])
        for one in told["tasks"]:
            self.wait(one["taskArn"], "RUNNING")
            main = self.containers(one["taskArn"])["main"]
            self.assertEqual("127.0.0.1", self.environment_of(main)["BERTH_GANG_ADDRESS"])


class External(Real):
    def test_secrets_reach_the_container_and_those_of_the_log_driver_only_that(self):
        ssm = self.server.client("ssm")
        arns = {}
        for name in ("/app/token", "flat", "/single"):
            ssm.put_parameter(Name=name, Value=f"value of {name}", Type="SecureString")
            arns[name] = ssm.get_parameter(Name=name)["Parameter"]["ARN"]
        secret = self.server.client("secretsmanager").create_secret(
            Name="s", SecretString="horse-correct")["ARN"]
        arn = self.tasks.run_containers("secrets", {
            **SLEEP,
            "secrets": [{"name": "BY_NAME", "valueFrom": "/app/token"},
                        {"name": "PATH_ARN", "valueFrom": arns["/app/token"]},
                        {"name": "FLAT_ARN", "valueFrom": arns["flat"]},
                        {"name": "SINGLE_ARN", "valueFrom": arns["/single"]},
                        {"name": "SECRET", "valueFrom": secret}],
            "logConfiguration": {
                "logDriver": "splunk",
                "options": {"splunk-url": "http://127.0.0.1:9", "splunk-verify-connection": "false"},
                "secretOptions": [{"name": "splunk-token", "valueFrom": arns["flat"]}]}},
            executionRoleArn="executor")
        self.wait(arn, "RUNNING")
        main = self.containers(arn)["main"]
        environment = self.environment_of(main)
        self.assertEqual(
            {"BY_NAME": "value of /app/token", "PATH_ARN": "value of /app/token",
             "FLAT_ARN": "value of flat", "SINGLE_ARN": "value of /single",
             "SECRET": "horse-correct"},
            {name: environment.get(name) for name in
             ("BY_NAME", "PATH_ARN", "FLAT_ARN", "SINGLE_ARN", "SECRET")})
        self.assertNotIn("splunk-token", environment)
        self.assertEqual("value of flat", main["HostConfig"]["LogConfig"]["Config"]["splunk-token"])

    def test_a_task_has_its_role(self):
        arn = self.tasks.run_containers("role", SLEEP, taskRoleArn="reader")
        self.wait(arn, "RUNNING")
        self.assertIn("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                      self.environment_of(self.containers(arn)["main"]))

    def test_execute_command_is_refused_at_once(self):
        arn = self.tasks.run(self.tasks.register("shell", SLEEP), enableExecuteCommand=True)
        self.wait(arn, "RUNNING")
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            self.ecs.execute_command(task=arn, command="sh", interactive=True)
        self.assertIn("needs Berth's own agent", str(caught.exception))

    def test_a_container_that_is_not_essential_makes_no_task_unhealthy(self):
        def check(command):
            return {"command": ["CMD", command], "interval": 5, "retries": 1, "timeout": 2}
        arn = self.tasks.run_containers(
            "health", {**SLEEP, "healthCheck": check("true")},
            {**SLEEP, "name": "side", "essential": False, "healthCheck": check("false")})
        self.wait(arn, "RUNNING")
        wait_for(lambda: harness.container_of(self.tasks.describe(arn), "side")["healthStatus"] ==
                 "UNHEALTHY", "the side's health", 90)
        self.assertEqual("HEALTHY", self.tasks.describe(arn)["healthStatus"])

    def test_one_that_was_deregistered_by_force_stays_away_and_its_tasks_are_told(self):
        self.ecs.deregister_container_instance(containerInstance=self.instance, force=True)
        wait_for(lambda: self.agent.said("Waiting before reconnecting to ACS.*1h"), "it waits", 30)
        opened = len(self.agent.said("Connected to ACS endpoint"))
        self.assertLessEqual(opened, 2)
        time.sleep(3)  # In which it came back a thousand times a second.
        self.assertEqual(opened, len(self.agent.said("Connected to ACS endpoint")))


if __name__ == "__main__":
    if not AGENT:
        print("not tested with the official ECS agent: BERTH_OFFICIAL_AGENT does not name its binary")
    elif not os.access(AGENT, os.X_OK):
        sys.exit(f"BERTH_OFFICIAL_AGENT names no program that can be run: {AGENT}")
    else:
        unittest.main(verbosity=2)
