"""kill -9 of the server, of the agent and of both, at random moments of the lives of GPU tasks.

BERTH_KILL_ROUNDS says how often (50)."""

import http.client
import os
import random
import shutil
import tempfile
import threading
import unittest

from harness import (TASK_LABEL, Agent, Server, Tasks, brief, container_of, gpus, shell, wait_for)

ROUNDS = int(os.environ.get("BERTH_KILL_ROUNDS", "50"))
GPUS = 4

# Takes each of its GPUs as a directory: two containers with one GPU at the same time meet there.
WORK = ("ids=$(echo $NVIDIA_VISIBLE_DEVICES | tr , ' '); "
        "leave() { for i in $ids; do rmdir /v/$i; done; exit $1; }; trap 'leave 0' TERM; "
        "for i in $ids; do mkdir /v/$i || { echo $i >> /v/twice; exit 9; }; done; "
        "sleep $SECONDS_TO_WORK & wait; leave 0")


class KillRounds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="berth-gpus-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.agent = Agent(self.server, "--emulate", "p3.8xlarge")
        self.addCleanup(self.agent.close)
        self.server.wait_connected(1)
        self.tasks = Tasks(self.server)
        self.chance = random.Random(11)
        self.arns = []
        self.started = 0
        self.stopped = set()
        self.definitions = [self.tasks.register(f"work-{count}", {
            "memory": 8, "stopTimeout": 30, "resourceRequirements": gpus(count),
            "environment": [{"name": "SECONDS_TO_WORK", "value": seconds}],
            "mountPoints": [{"sourceVolume": "v", "containerPath": "/v"}], **shell(WORK)},
            volumes=[{"name": "v", "host": {"sourcePath": self.folder}}])
            for count, seconds in ((1, "0.1"), (1, "0.6"), (2, "0.3"))]

    def call(self, operation, body):
        """The answer, asked for until there is one: a process may be dead at any moment."""
        def ask():
            try:
                reply = self.server.call(operation, body)
            except (OSError, http.client.HTTPException):
                return None
            if reply.status >= 500:
                return None
            self.assertEqual(200, reply.status, reply)
            return reply.json()
        return wait_for(ask, f"{operation} is answered", 60)

    def kill(self, server, agent):
        if agent:
            self.agent.kill()
        if server:
            self.server.kill()
            self.server.start()
        if agent:
            self.agent.start()

    def round(self, number):
        whom = self.chance.choice(((True, False), (False, True), (True, True)))
        killer = threading.Timer(self.chance.uniform(0, 0.8), self.kill, whom)
        killer.start()
        for i in range(self.chance.randrange(1, 4)):
            told = self.call("RunTask", {"taskDefinition": self.chance.choice(self.definitions),
                                         "clientToken": f"{number}-{i}"})
            self.arns += [task["taskArn"] for task in told["tasks"]]
            self.started += len(told["tasks"])
            for failure in told["failures"]:
                self.assertEqual("RESOURCE:GPU", failure["reason"], told)
        if self.arns and self.chance.random() < 0.3:
            arn = self.chance.choice(self.arns[-4:])
            self.stopped.add(arn)
            self.call("StopTask", {"task": arn})
        killer.join()

    def described(self):
        return [task for first in range(0, len(self.arns), 100)
                for task in self.call("DescribeTasks", {
                    "tasks": self.arns[first:first + 100]})["tasks"]]

    def free_gpus(self):
        told = self.call("ListContainerInstances", {})["containerInstanceArns"]
        found = self.call("DescribeContainerInstances",
                          {"containerInstances": told})["containerInstances"]
        return sum(len(one["stringSetValue"]) for instance in found
                   for one in instance["remainingResources"] if one["name"] == "GPU")

    def check(self):
        def unfinished():
            return [brief(task) for task in self.described() if task["lastStatus"] != "STOPPED"]
        try:
            wait_for(lambda: not unfinished(), "all tasks have stopped", 120)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{unfinished()[:5]}\n{self.server.output()[-3000:]}\n"
                                 f"{self.agent.output()[-3000:]}") from None
        tasks = self.described()
        self.assertEqual(len(set(self.arns)), len(tasks), "an acknowledged task is lost")
        wrong = [brief(task) for task in tasks if task["taskArn"] not in self.stopped
                 and container_of(task).get("exitCode") != 0]
        self.assertEqual([], wrong)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "twice")),
                         "one GPU was given to two containers at once")
        made = [labels[TASK_LABEL] for _, labels in self.server.containers()]
        self.assertEqual(len(set(made)), len(made), "a task had two containers")
        self.assertLessEqual(set(made), set(self.arns), "a container is nobody's")
        self.assertLessEqual(set(self.arns) - self.stopped, set(made))
        self.assertEqual([], self.server.containers(running_only=True))
        wait_for(lambda: self.free_gpus() == GPUS, "all GPUs are free again", 30)

    def test_nothing_acknowledged_is_lost_and_no_container_is_twice_or_left(self):
        for number in range(ROUNDS):
            self.round(number)
            # What is left of the containers is not to grow with the rounds.
            if number % 50 == 49:
                self.check()
                self.server.docker.remove([one for one, _ in self.server.containers()])
                self.arns, self.stopped = [], set()
        self.check()
        self.assertGreater(self.started, ROUNDS // 20, "there was something to be lost")
