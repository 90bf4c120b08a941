"""Tasks of all shapes through pull, create, start, run and stop, with the agent killed with -9 in
each of these stages: every task ends as its definition says, no container is missing, made twice
or left behind, and all GPUs are free at the end.

BERTH_MIXED_TASKS says how many tasks (60), BERTH_MIXED_SEED which of them and which kills (1)."""

import collections
import os
import queue
import random
import subprocess
import tempfile
import threading
import unittest

from harness import (IMAGE, TASK_LABEL, Agent, Server, Tasks, brief, container_of, gpus, shell,
                     wait_for)
from test_images import Registry

TASKS = int(os.environ.get("BERTH_MIXED_TASKS", "60"))
SEED = int(os.environ.get("BERTH_MIXED_SEED", "1"))
GPUS = 8
WAVE = 12  # Tasks between two kills.
STAGES = ("pulling", "created", "starting", "running", "stopping")
CONTAINER_LABEL = "com.amazonaws.ecs.container-name"
VPC = {"awsvpcConfiguration": {"subnets": ["subnet-local"]}}
NOWHERE = "127.0.0.1:1/nowhere:1"
# Ends by itself when it is asked to, unless that comes before it has begun to listen.
OBEYS = shell("trap 'exit 0' TERM; sleep 600 & wait")
OBEYED = (0, 137)
STUBBORN = shell("trap '' TERM; while true; do sleep 0.2; done")
UNSTARTED = (None,)  # Perhaps made, perhaps not.

# What a task of this shape comes to: the exit codes that each container may have, and what its
# stoppedReason says.
Shape = collections.namedtuple("Shape", "name parts members run ends reason stopped",
                               defaults=({}, {}, {"main": (0,)}, "", False))


def part(name="main", **members):
    return {"name": name, "image": IMAGE, "memory": 8, "stopTimeout": 2, **members}


def after(container, condition):
    return {"dependsOn": [{"containerName": container, "condition": condition}]}


def shapes(account):
    """`stopped`: it runs until somebody stops it."""
    health = {"command": ["CMD-SHELL", "test -e /tmp/up"], "interval": 5, "retries": 3}
    volume = [{"name": "v", "dockerVolumeConfiguration": {
        "scope": "task", "labels": {"berth-test": account}}}]
    mount = {"mountPoints": [{"sourceVolume": "v", "containerPath": "/v"}]}
    again = "[ -e /tmp/again ] && exit 0; touch /tmp/again; sleep 61; exit 1"
    restarts = {"enabled": True, "restartAttemptPeriod": 60}
    return [
        Shape("short", [part(**shell("sleep 0.3"))]),
        Shape("fails", [part(**shell("exit 3"))], ends={"main": (3,)},
              reason="Essential container in task exited"),
        Shape("success", [part(**shell("cat /v/from-init"), **after("init", "SUCCESS"), **mount),
                          part("init", essential=False, **shell("echo x > /v/from-init"), **mount)],
              {"volumes": volume}, ends={"main": (0,), "init": (0,)}),
        Shape("unmet", [part(**shell("exit 0"), **after("init", "SUCCESS")),
                        part("init", essential=False, **shell("exit 5"))],
              ends={"main": UNSTARTED, "init": (5,)}, reason="TaskDependencyError"),
        Shape("healthy", [part(**shell("exit 0"), **after("db", "HEALTHY")),
                          part("db", essential=False, healthCheck=health, **shell(
                              "trap 'exit 0' TERM; touch /tmp/up; sleep 600 & wait"))],
              ends={"main": (0,), "db": OBEYED}),
        Shape("sidecar", [part(**shell("sleep 0.5"), **after("side", "START")),
                          part("side", essential=False, **STUBBORN)],
              ends={"main": (0,), "side": (137,)}),
        Shape("ignored-code", [part(**shell("exit 7"), restartPolicy={
            "enabled": True, "ignoredExitCodes": [7], "restartAttemptPeriod": 60})],
            ends={"main": (7,)}),
        Shape("gpu", [part(resourceRequirements=gpus(1), **shell("sleep 0.5"))]),
        Shape("gpus", [part(resourceRequirements=gpus(2), **OBEYS),
                       part("plain", essential=False, **OBEYS)],
              ends={"main": OBEYED, "plain": OBEYED}, stopped=True),
        Shape("host", [part(**shell("exit 0"))], {"networkMode": "host"}),
        Shape("none", [part(**shell("exit 0"))], {"networkMode": "none"}),
        Shape("awsvpc", [part(**shell(
            "until wget -q -O - $ECS_CONTAINER_METADATA_URI_V4/task; do sleep 0.2; done"))],
              {"networkMode": "awsvpc"}, {"networkConfiguration": VPC}),
        Shape("stops", [part(**OBEYS)], ends={"main": OBEYED}, stopped=True),
        Shape("stubborn", [part(**STUBBORN)], ends={"main": (137,)}, stopped=True),
        Shape("no-image", [part(image=NOWHERE)], ends={"main": UNSTARTED},
              reason="CannotPullContainerError"),
        Shape("no-command", [part(entryPoint=["/no/such/program"])], ends={"main": (None, 127)},
              reason="CannotStartContainerError"),
    ] + ([Shape("restarts", [part(**shell(again), restartPolicy=restarts)])] if TASKS >= 100 else [])


class SlowRegistry(Registry):
    """Says when an image's layers are asked for."""

    def __init__(self):
        self.pulled = threading.Event()
        super().__init__(slow=0.7)

    def answer(self, request):
        if "/blobs/" in request.path:
            self.pulled.set()
        return super().answer(request)


class Happenings:
    """What Docker does with this server's containers, as it does it."""

    def __init__(self, server):
        self.heard = queue.Queue()
        self.process = subprocess.Popen(
            ["docker", "events", "--filter", f"label={TASK_LABEL}", "--format",
             '{{.Action}} {{index .Actor.Attributes "' + TASK_LABEL + '"}}'],
            stdout=subprocess.PIPE, env={**os.environ, **server.docker.environment()}, text=True)
        self.account = f":{server.account}:"
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if self.account in line:
                self.heard.put(line.split(" ")[0])

    def forget(self):
        while not self.heard.empty():
            self.heard.get_nowait()

    def wait(self, action, seconds=30):
        while True:
            try:
                if self.heard.get(timeout=seconds) == action:
                    return
            except queue.Empty:
                raise AssertionError(f"Docker did no {action} within {seconds} s") from None

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Mixed(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(SEED)
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.data = tempfile.mkdtemp(prefix="berth-agent-")
        self.agent = Agent(self.server, "--emulate", "p2.8xlarge", data=self.data)
        self.addCleanup(self.agent.close)
        self.server.wait_connected(1)
        self.tasks = Tasks(self.server)
        self.happenings = Happenings(self.server)
        self.addCleanup(self.happenings.close)
        self.shapes = {}
        for shape in shapes(self.server.account):
            # Not through boto3, which may be too old to know restartPolicy.
            reply = self.server.call("RegisterTaskDefinition", {
                "family": shape.name, **shape.members,
                "containerDefinitions": self.tasks.filled(shape.parts)})
            self.assertEqual(200, reply.status, reply)
            self.shapes[shape.name] = shape
        self.shape_of = {}  # By ARN.
        self.unstopped = []  # Those that run until they are stopped, and were not yet.
        self.kills = collections.Counter()

    def pulled_shape(self):
        """A task whose image is being pulled for a while."""
        registry = SlowRegistry()
        self.addCleanup(registry.close)
        self.addCleanup(self.server.docker.run, "rmi", "-f", registry.image(), check=False)
        name = f"pulls-{registry.port}"
        self.tasks.register(name, part(image=registry.image(), **shell("exit 0")))
        self.shapes[name] = Shape(name, [])
        return registry, name

    def run_task(self, name):
        """Placed as soon as the agent is back and a GPU is free."""
        shape = self.shapes[name]

        def placed():
            told = self.server.call("RunTask", {"taskDefinition": name, **shape.run}).json()
            for failure in told["failures"]:
                self.assertIn(failure["reason"], ("AGENT", "RESOURCE:GPU"), told)
                if failure["reason"] == "RESOURCE:GPU" and self.unstopped:
                    self.stop_one()  # It may hold them.
            return told["tasks"]
        arn = wait_for(placed, f"a task {name} is placed", 90)[0]["taskArn"]
        self.shape_of[arn] = shape
        if shape.stopped:
            self.unstopped.append(arn)
        return arn

    def stop_one(self):
        arn = self.unstopped.pop(self.chance.randrange(len(self.unstopped)))
        self.tasks.wait(arn, "RUNNING")
        self.tasks.stop(arn)

    def wave(self, stage, names):
        """Runs these tasks and kills the agent when one of them is in that stage."""
        self.happenings.forget()
        waits_for = None
        if stage == "pulling":
            registry, name = self.pulled_shape()
            self.run_task(name)
            waits_for = registry.pulled
        for name in names:
            self.run_task(name)
        if waits_for:
            self.assertTrue(waits_for.wait(30), "the image is pulled")
        elif stage == "created":
            self.happenings.wait("create")
        elif stage == "starting":
            self.happenings.wait("start")
        elif stage == "running":
            long = self.run_task("stops")
            self.tasks.wait(long, "RUNNING")
        else:
            long = self.run_task("stubborn")
            self.tasks.wait(long, "RUNNING")
            self.happenings.forget()
            self.unstopped.remove(long)
            self.tasks.stop(long)
            self.happenings.wait("kill")
        self.agent.kill()
        self.kills[stage] += 1
        self.agent.start()

    def described(self):
        arns = list(self.shape_of)
        return [task for first in range(0, len(arns), 100) for task in self.tasks.ecs.describe_tasks(
            tasks=arns[first:first + 100])["tasks"]]

    def free_gpus(self):
        arns = self.tasks.ecs.list_container_instances()["containerInstanceArns"]
        told = self.tasks.ecs.describe_container_instances(containerInstances=arns)
        return sum(len(one["stringSetValue"]) for instance in told["containerInstances"]
                   for one in instance["remainingResources"] if one["name"] == "GPU")

    def check_ends(self):
        def unfinished():
            return [brief(task) for task in self.described() if task["lastStatus"] != "STOPPED"]
        try:
            wait_for(lambda: not unfinished(), "all tasks have stopped", 180)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{unfinished()[:5]}\n{self.server.output()[-3000:]}\n"
                                 f"{self.agent.output()[-3000:]}") from None
        told = self.described()
        self.assertEqual(set(self.shape_of), {task["taskArn"] for task in told})
        for task in told:
            shape = self.shape_of[task["taskArn"]]
            for name, codes in shape.ends.items():
                self.assertIn(container_of(task, name).get("exitCode"), codes,
                              f"{shape.name} {name}: {brief(task)}")
            self.assertIn(shape.reason, task.get("stoppedReason", ""), brief(task))

    def check_containers(self):
        """Docker has each container that was to be made, once, and none of them runs."""
        self.assertEqual([], self.server.containers(running_only=True))
        made = collections.Counter(
            (labels[TASK_LABEL], labels[CONTAINER_LABEL]) for _, labels in self.server.containers()
            if not labels[CONTAINER_LABEL].startswith("~internal"))
        expected = {(arn, name): codes for arn, shape in self.shape_of.items()
                    for name, codes in shape.ends.items()}
        self.assertLessEqual(set(made), set(expected), "a container is nobody's")
        missing = [one for one, codes in expected.items() if codes[0] is not None and
                   one not in made]
        self.assertEqual([], missing)
        self.assertEqual([], [one for one, times in made.items() if times > 1])

    def check_nothing_left(self):
        """An agent that cleans up at once leaves no container and no volume."""
        self.agent.kill()
        self.agent.options += ("--task-cleanup-wait", "1s")
        self.agent.start()
        wait_for(lambda: not self.server.containers(), "all containers are removed", 120)
        volumes = ("volume", "ls", "-q", "--filter", f"label=berth-test={self.server.account}")
        wait_for(lambda: not self.server.docker.run(*volumes), "all volumes are removed", 30)
        wait_for(lambda: self.free_gpus() == GPUS, "all GPUs are free", 30)

    def test_every_task_ends_as_it_should_though_the_agent_is_killed_in_each_stage(self):
        names = list(self.shapes) * (TASKS // len(self.shapes) + 1)
        names = names[:TASKS]
        self.chance.shuffle(names)
        waves = [names[first:first + WAVE] for first in range(0, TASKS, WAVE)]
        stages = list(STAGES) * (len(waves) // len(STAGES) + 1)
        self.chance.shuffle(stages)
        for stage, some in zip(stages, waves):
            self.wave(stage, some)
        for stage in set(STAGES) - set(self.kills):
            self.wave(stage, ["short"])
        while self.unstopped:
            self.stop_one()
        self.assertEqual(set(STAGES), set(self.kills))
        self.check_ends()
        self.check_containers()
        self.check_nothing_left()


if __name__ == "__main__":
    unittest.main()
