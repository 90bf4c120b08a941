"""kill -9 at random moments: nothing acknowledged is lost, nothing runs twice."""

import http.client
import os
import random
import shutil
import subprocess
import tempfile
import threading
import unittest

from harness import (BERTH, TASK_LABEL, Agent, Docker, Dockerd, Server, Tasks, brief, container_of,
                     shell, wait_for)

STARTS = 100
KILLS = 4


class Killed(unittest.TestCase):
    """A server and an agent, each a process of its own, and a task that runs all the time."""

    def setUp(self):
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.agent = Agent(self.server, "--emulate", "c5.9xlarge")
        self.addCleanup(self.agent.close)
        self.server.wait_connected(1)
        self.tasks = Tasks(self.server)

    def berth(self, *words):
        return subprocess.run([BERTH, *words, "--data", self.server.data], capture_output=True,
                              text=True, timeout=30, check=True).stdout

    def test_a_machine_that_is_gone_shows_at_once_wherever_one_looks(self):
        arn = self.tasks.run_containers("lasting", shell("exec sleep 900"))
        self.tasks.wait(arn, "RUNNING")
        self.assertIn(" connected ", self.berth("nodes"))
        self.agent.kill()
        wait_for(lambda: " GONE " in self.berth("nodes"), "berth nodes says so", 3)
        task = next(line for line in self.berth("tasks").splitlines() if "lasting" in line)
        self.assertIn("no agent for", task)
        self.assertIn("the status is the last one that it told", task)
        self.assertIn("does not answer", self.berth("explain", arn))
        self.assertIn("does not answer", self.server.output())
        self.agent.start()
        self.server.wait_connected(1)
        self.assertNotIn("no agent", self.berth("tasks"))
        self.tasks.finish(arn)

    def acknowledged(self, definition, token):
        """Asks with one token until the server has said yes: asking twice must not run two."""
        def ask():
            try:
                reply = self.server.call("RunTask", {"taskDefinition": definition,
                                                     "clientToken": token})
            except (OSError, http.client.HTTPException):
                return None  # Killed at that moment: perhaps accepted, perhaps not.
            if reply.status >= 500:
                return None
            self.assertEqual(200, reply.status, reply)
            return reply.json()["tasks"] or self.fail(reply)
        return wait_for(ask, f"run_task {token} is acknowledged", 60)[0]["taskArn"]

    def start_tasks_while(self, kill, seed):
        """100 task starts; kill() after random numbers of them, in the middle of one."""
        chance = random.Random(seed)
        short = [self.tasks.register("true", {"memory": 8, "command": ["true"]}),
                 self.tasks.register("short", {"memory": 8, **shell("sleep 0.3")})]
        moments = set(chance.sample(range(5, STARTS - 5), KILLS))
        arns, killer = [], None
        self.kills = 0
        def kill_and_count():
            kill()
            self.kills += 1
        for i in range(STARTS):
            if i in moments:
                if killer:
                    killer.join()
                killer = threading.Timer(chance.uniform(0, 0.1), kill_and_count)
                killer.start()
            arns.append(self.acknowledged(chance.choice(short), f"start-{i}"))
        killer.join()
        self.assertEqual(KILLS, self.kills)
        return arns

    def check_all(self, arns):
        self.assertEqual(STARTS, len(set(arns)), "one token, one task")
        def unfinished():
            told = self.tasks.ecs.describe_tasks(tasks=arns)
            self.assertEqual([], told["failures"], "an acknowledged task is lost")
            self.ended = told["tasks"]
            return [brief(one) for one in told["tasks"] if one["lastStatus"] != "STOPPED"]
        try:
            wait_for(lambda: not unfinished(), "all tasks have stopped", 180)
        except AssertionError as error:
            raise AssertionError(f"{error}: {unfinished()[:5]}\n{self.agent.output()[-3000:]}\n"
                                 f"{self.server.output()[-3000:]}") from None
        wrong = [brief(one) for one in self.ended if container_of(one).get("exitCode") != 0]
        self.assertEqual([], wrong)
        listed = [arn for status in ("RUNNING", "STOPPED") for page in
                  self.tasks.ecs.get_paginator("list_tasks").paginate(desiredStatus=status)
                  for arn in page["taskArns"]]
        self.assertEqual(set(arns) | {self.lasting}, set(listed))
        made = [labels[TASK_LABEL] for _, labels in self.server.containers()]
        self.assertEqual(sorted({*arns, self.lasting}), sorted(made),
                         "each task had one container, and no container is nobody's")
        running = [labels[TASK_LABEL] for _, labels in self.server.containers(running_only=True)]
        self.assertEqual([self.lasting], running)

    def start_lasting(self):
        self.lasting = self.tasks.run_containers("lasting", {
            "memory": 8, "stopTimeout": 2, **shell("exec sleep 900")})
        return self.seen()

    def seen(self):
        task = self.tasks.wait(self.lasting, "RUNNING")
        identifier = container_of(task)["runtimeId"]
        state = self.server.docker.inspect(identifier)["State"]
        self.assertTrue(state["Running"])
        return identifier, state["StartedAt"], task["startedAt"]

    def test_the_server_in_the_middle_of_100_task_starts(self):
        before = self.start_lasting()
        def kill():
            self.server.kill()
            self.server.start()
        arns = self.start_tasks_while(kill, seed=5)
        self.check_all(arns)
        self.assertEqual(before, self.seen())

    def test_the_agent_in_the_middle_of_100_task_starts(self):
        before = self.start_lasting()
        def kill():
            self.agent.kill()
            self.agent.start()
        arns = self.start_tasks_while(kill, seed=6)
        self.check_all(arns)
        self.assertEqual(before, self.seen())

    def test_what_ends_while_the_agent_is_away_is_told_later(self):
        folder = tempfile.mkdtemp(prefix="berth-flag-")
        self.addCleanup(shutil.rmtree, folder)
        arn = self.tasks.run_containers("flagged", {
            "memory": 8, "mountPoints": [{"sourceVolume": "v", "containerPath": "/v"}],
            **shell("while [ ! -e /v/go ]; do sleep 0.1; done; exit 6")},
            volumes=[{"name": "v", "host": {"sourcePath": folder}}])
        task = self.tasks.wait(arn, "RUNNING")
        identifier = container_of(task)["runtimeId"]
        self.agent.kill()
        with open(os.path.join(folder, "go"), "w"):
            pass
        docker = self.server.docker
        wait_for(lambda: not docker.inspect(identifier)["State"]["Running"], "it has ended")
        self.agent.start()
        task = self.tasks.wait(arn, "STOPPED")
        self.assertEqual(6, container_of(task)["exitCode"])

    def test_a_stop_while_the_agent_is_away_is_done_later(self):
        self.start_lasting()
        self.agent.kill()
        self.tasks.stop(self.lasting)
        self.assertEqual("STOPPED", self.tasks.describe(self.lasting)["desiredStatus"])
        self.assertEqual(1, len(self.server.containers(running_only=True)))
        self.agent.start()
        self.tasks.wait(self.lasting, "STOPPED")
        self.assertEqual([], self.server.containers(running_only=True))

    def test_all_state_is_there_after_the_server_restarts(self):
        self.start_lasting()
        definitions = self.tasks.ecs.list_task_definitions()["taskDefinitionArns"]
        instances = self.tasks.ecs.list_container_instances()["containerInstanceArns"]
        self.assertEqual(0, self.server.stop())
        self.server.start()
        self.assertEqual(definitions,
                         self.tasks.ecs.list_task_definitions()["taskDefinitionArns"])
        self.assertEqual(instances,
                         self.tasks.ecs.list_container_instances()["containerInstanceArns"])
        self.server.wait_connected(1)
        self.tasks.finish(self.lasting)

    def test_output_written_while_the_server_is_away_is_not_lost(self):
        arn = self.tasks.run_containers("counts", {
            "memory": 8, **shell("i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); "
                                 "usleep 20000; done"),
            "logConfiguration": {"logDriver": "awslogs", "options": {
                "awslogs-group": "counts", "awslogs-region": "us-east-1",
                "awslogs-stream-prefix": "t", "awslogs-create-group": "true"}}})
        self.tasks.wait(arn, "RUNNING")
        for _ in range(2):
            self.server.kill()
            self.server.start()
            self.agent.kill()
            self.agent.start()
        self.tasks.wait(arn, "STOPPED")
        expected = [f"line {i}" for i in range(300)]
        wait_for(lambda: len(self.tasks.output(arn, "counts")) >= 300, "all lines are there", 30)
        self.assertEqual(expected, self.tasks.output(arn, "counts"))


class Up(unittest.TestCase):
    def test_kill_9_of_up_leaves_containers_running(self):
        server = Server("--emulate", "c5.large")
        self.addCleanup(server.close)
        server.wait_connected(1)
        tasks = Tasks(server)
        arn = tasks.run_containers("kept", {"stopTimeout": 2, **shell("exec sleep 900")})
        before = container_of(tasks.wait(arn, "RUNNING"))["runtimeId"]
        server.kill()
        self.assertTrue(server.docker.inspect(before)["State"]["Running"])
        server.start()
        server.wait_connected(1)
        self.assertEqual(before, container_of(tasks.wait(arn, "RUNNING"))["runtimeId"])
        self.assertEqual(1, len(server.containers()))
        tasks.finish(arn)

    def test_sigterm_keeps_containers_or_stops_them_by_flag(self):
        server = Server("--emulate", "c5.large", "--stop-tasks-on-exit")
        self.addCleanup(server.close)
        server.wait_connected(1)
        tasks = Tasks(server)
        arn = tasks.run_containers("kept", {"stopTimeout": 2, **shell("exec sleep 900")})
        tasks.wait(arn, "RUNNING")
        self.assertEqual(0, server.stop())
        self.assertEqual([], server.containers(running_only=True))
        server.options = ("--emulate", "c5.large")
        server.start()
        server.wait_connected(1)
        tasks.wait(arn, "STOPPED")
        arn = tasks.run("kept")
        tasks.wait(arn, "RUNNING")
        self.assertEqual(0, server.stop())
        self.assertEqual(1, len(server.containers(running_only=True)))

    def test_without_a_dockerd_it_is_ready_and_says_why_no_task_runs(self):
        folder = tempfile.mkdtemp(prefix="berth-dk-", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        server = Server("--emulate", "c5.large", docker=Docker(f"unix://{folder}/docker.sock"))
        self.addCleanup(server.close)
        tasks = Tasks(server)
        def told():
            arns = tasks.ecs.list_container_instances()["containerInstanceArns"]
            found = arns and tasks.ecs.describe_container_instances(containerInstances=arns)
            return found and found["containerInstances"][0]
        instance = wait_for(told, "the instance is registered")
        wait_for(lambda: not told()["agentConnected"], "it is not connected", 90)
        instance = wait_for(lambda: told().get("statusReason") and told(), "a reason", 10)
        self.assertIn("docker.sock", instance["statusReason"])
        definition = tasks.register("waits", {"memory": 8, "command": ["true"]},
                                    networkMode="host")
        refused = tasks.ecs.run_task(taskDefinition=definition)
        self.assertEqual(["AGENT"], [one["reason"] for one in refused["failures"]])

        dockerd = Dockerd(folder=folder)
        self.addCleanup(dockerd.close)
        dockerd.docker.make_image()
        server.wait_connected(1)
        task = tasks.wait(tasks.run(definition), "STOPPED")
        self.assertEqual(0, container_of(task)["exitCode"], brief(task))
