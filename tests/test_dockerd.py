"""dockerd killed, restarted and without room, under tasks that run."""

import datetime
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

from harness import (IMAGE, TASK_LABEL, Dockerd, Server, SmallDisk, Tasks, awslogs, brief, container_of,
                     gpus, shell, wait_for)


ROUNDS = int(os.environ.get("BERTH_DOCKERD_ROUNDS", "6"))

def processes_of(identifier):
    """Those in the container's cgroup, whatever Docker says of it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cgroup") as file:
                if identifier in file.read():
                    found.append(int(pid))
        except (FileNotFoundError, ProcessLookupError):
            pass  # It has ended meanwhile.
    return found


def used_gpus():
    """By GPU: the containers in which a program runs that was given it."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                given = re.search(rb"NVIDIA_VISIBLE_DEVICES=(GPU-[^\0]+)", file.read())
            if not given:
                continue
            with open(f"/proc/{pid}/cgroup") as file:
                container = re.search("[0-9a-f]{64}", file.read())
        except (FileNotFoundError, ProcessLookupError):
            continue  # It has ended meanwhile.
        if container:
            found.setdefault(given[1].decode(), set()).add(container[0])
    return found


class OwnDockerd(unittest.TestCase):
    def begin(self, config=None, folder=None):
        self.dockerd = Dockerd(config=config, folder=folder)
        self.addCleanup(self.dockerd.close)
        self.dockerd.docker.make_image()
        self.server = Server("--emulate", "p3.8xlarge", docker=self.dockerd.docker)
        self.addCleanup(self.server.close)
        self.server.wait_connected(1)
        self.tasks = Tasks(self.server)

    def register(self, family, text, **members):
        return self.tasks.register(family, {"memory": 8, "stopTimeout": 2, **shell(text),
                                            **members}, networkMode="host")

    def wait_ready(self):
        """Until the agent takes tasks again."""
        true = self.register("true", "true")
        def runs():
            told = self.tasks.ecs.run_task(taskDefinition=true)
            return told["tasks"]
        arn = wait_for(runs, "a task is taken", 90)[0]["taskArn"]
        task = self.tasks.wait(arn, "STOPPED", 90)
        self.assertEqual(0, container_of(task)["exitCode"], brief(task))

    def free_gpus(self):
        ecs = self.tasks.ecs
        arns = ecs.list_container_instances()["containerInstanceArns"]
        told = ecs.describe_container_instances(containerInstances=arns)["containerInstances"]
        return sum(len(one["stringSetValue"]) for instance in told
                   for one in instance["remainingResources"] if one["name"] == "GPU")


class ClockAhead(OwnDockerd):
    """The machine's clock was six hours ahead when lines were written, and was set back."""

    def test_no_line_is_lost_and_their_order_stays(self):
        self.begin()
        folder = tempfile.mkdtemp(prefix="berth-go-")
        self.addCleanup(shutil.rmtree, folder)
        def count(first, last):
            return (f"while [ ! -e /go/{first} ]; do sleep 0.1; done; "
                    f"i={first}; while [ $i -lt {last} ]; do echo line $i; i=$((i+1)); done")
        definition = self.tasks.register("counts", {
            "memory": 8, "stopTimeout": 2, **shell(f"{count(0, 20)}; {count(20, 40)}"),
            "logConfiguration": awslogs("counts"),
            "mountPoints": [{"sourceVolume": "go", "containerPath": "/go"}]},
            networkMode="host", volumes=[{"name": "go", "host": {"sourcePath": folder}}])
        arn = self.tasks.run(definition)
        identifier = container_of(self.tasks.wait(arn, "RUNNING"))["runtimeId"]
        path = self.dockerd.docker.inspect(identifier)["LogPath"]

        def write(first, last):
            with open(os.path.join(folder, str(first)), "w"):
                pass
            def written():
                with open(path) as file:
                    return len(file.readlines()) == last
            wait_for(written, f"{last} lines are written", 30)

        self.server.kill()
        write(0, 20)
        with open(path, "r+") as file:
            text = file.read()
            ahead = re.sub(r'"time":"([-0-9]+)T(..)', self.later, text)
            self.assertEqual(len(text), len(ahead))
            self.assertNotEqual(text, ahead)
            file.seek(0)
            file.write(ahead)
        self.server.start()
        expected = [f"line {i}" for i in range(40)]
        wait_for(lambda: len(self.tasks.output(arn, "counts")) == 20, "the first are there", 30)
        self.server.kill()
        write(20, 40)
        self.server.start()
        self.tasks.wait(arn, "STOPPED")
        wait_for(lambda: len(self.tasks.output(arn, "counts")) >= 40, "all lines are there", 30)
        self.assertEqual(expected, self.tasks.output(arn, "counts"))

    @staticmethod
    def later(match):
        time = datetime.datetime.strptime(f"{match[1]}T{match[2]}", "%Y-%m-%dT%H")
        return (time + datetime.timedelta(hours=6)).strftime('"time":"%Y-%m-%dT%H')


class Killed(OwnDockerd):
    def test_with_live_restore_containers_live_on(self):
        self.begin({"live-restore": True})
        definition = self.register("lasting", "exec sleep 900", resourceRequirements=gpus(1))
        arns = [self.tasks.run(definition) for _ in range(2)]
        def seen():
            found = []
            for arn in arns:
                task = self.tasks.wait(arn, "RUNNING")
                identifier = container_of(task)["runtimeId"]
                state = self.dockerd.docker.inspect(identifier)["State"]
                self.assertTrue(state["Running"])
                found.append((identifier, state["StartedAt"], state["Pid"]))
            return found
        before = seen()
        for _ in range(2):
            self.dockerd.kill_and_start()
            self.wait_ready()
            self.assertEqual(before, seen())
        self.assertEqual(2, self.free_gpus())
        for arn in arns:
            self.tasks.finish(arn)
        wait_for(lambda: self.free_gpus() == 4, "all GPUs are free again", 30)

    def test_what_ends_while_it_is_away_is_told_later(self):
        self.begin({"live-restore": True})
        arn = self.tasks.run(self.register("ends", "sleep 10; exit 6"))
        self.tasks.wait(arn, "RUNNING")
        self.dockerd.kill()
        identifier = container_of(self.tasks.describe(arn))["runtimeId"]
        pids = subprocess.run(["pgrep", "-f", f"moby.*{identifier}"], capture_output=True,
                              text=True).stdout.split()
        self.assertTrue(pids, "its shim lives on")
        def ended():
            return not subprocess.run(["pgrep", "-P", pids[0]], capture_output=True).stdout
        wait_for(ended, "the container has ended", 40)
        self.dockerd.spawn()
        self.dockerd.wait_answers()
        task = self.tasks.wait(arn, "STOPPED", 90)
        self.assertIsNotNone(container_of(task).get("exitCode"), brief(task))

    def test_without_it_tasks_are_stopped_and_say_why(self):
        self.begin()
        definition = self.register("lasting", "exec sleep 900", resourceRequirements=gpus(2))
        arn = self.tasks.run(definition)
        self.tasks.wait(arn, "RUNNING")
        self.dockerd.kill_and_start()
        task = self.tasks.wait(arn, "STOPPED", 90)
        self.assertEqual("EssentialContainerExited", task["stopCode"], brief(task))
        self.assertEqual("Essential container in task exited", task["stoppedReason"], brief(task))
        self.assertNotEqual(0, container_of(task).get("exitCode"), brief(task))
        self.assertIn("without live-restore", container_of(task)["reason"], brief(task))
        wait_for(lambda: self.free_gpus() == 4, "all GPUs are free again", 60)
        self.assertEqual([], self.server.containers(running_only=True))
        self.wait_ready()


class RestartedUnderLoad(OwnDockerd):
    def test_every_acknowledged_task_ends_and_none_runs_twice(self):
        self.begin({"live-restore": True})
        definitions = [self.register("short", "sleep 0.2"),
                       self.register("gpu", "sleep 0.3", resourceRequirements=gpus(1))]
        chance = random.Random(3)
        arns = []
        wanted = 0
        stop = threading.Event()
        def run():
            tasks = Tasks(self.server)
            while not stop.is_set():
                if len(arns) < wanted + 40:  # Bounded also where dockerd is away for long.
                    told = tasks.ecs.run_task(taskDefinition=chance.choice(definitions))
                    arns.extend(one["taskArn"] for one in told["tasks"])
                stop.wait(0.1)
        runner = threading.Thread(target=run)
        runner.start()
        try:
            for _ in range(2):
                wanted = len(arns) + 10
                wait_for(lambda: len(arns) >= wanted, "tasks are started", 60)
                self.dockerd.restart()
            wanted = len(arns) + 5
            wait_for(lambda: len(arns) >= wanted, "tasks are started again", 90)
        finally:
            stop.set()
            runner.join()
        def unfinished():
            found = []
            for first in range(0, len(arns), 100):
                told = self.tasks.ecs.describe_tasks(tasks=arns[first:first + 100])
                self.assertEqual([], told["failures"], "an acknowledged task is lost")
                found += [brief(one) for one in told["tasks"] if one["lastStatus"] != "STOPPED"]
            return found
        try:
            wait_for(lambda: not unfinished(), "all tasks have stopped", 150)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{unfinished()[:3]}\n"
                                 f"{self.server.output()[-4000:]}") from None
        made = [labels[TASK_LABEL] for _, labels in self.server.containers()]
        self.assertEqual(len(set(made)), len(made), "a task had two containers")
        self.assertLessEqual(set(made), set(arns))
        self.assertEqual([], self.server.containers(running_only=True))
        wait_for(lambda: self.free_gpus() == 4, "all GPUs are free again", 60)


class LosesSight(OwnDockerd):
    """Docker's word and the truth disagree."""

    def running(self, **members):
        self.begin({"live-restore": True})
        definition = self.register("lasting", "exec sleep 900", resourceRequirements=gpus(1),
                                   **members)
        arn = self.tasks.run(definition)
        return arn, container_of(self.tasks.wait(arn, "RUNNING"))["runtimeId"]

    def rewrite_state(self, identifier, **members):
        """Of a dockerd that is away; the program runs on."""
        self.assertTrue(processes_of(identifier))
        path = os.path.join(self.dockerd.folder, "data", "containers", identifier, "config.v2.json")
        with open(path) as file:
            told = json.load(file)
        told["State"].update(members)
        with open(path, "w") as file:
            json.dump(told, file)

    def ends_wholly(self, arn, identifier):
        task = self.tasks.wait(arn, "STOPPED", 90)
        self.assertEqual([], processes_of(identifier), "its program runs on: " + brief(task))
        wait_for(lambda: self.free_gpus() == 4, "all GPUs are free again", 30)
        return task

    def test_a_container_that_docker_calls_created_is_ended(self):
        arn, identifier = self.running()
        self.dockerd.terminate(60)
        never = "0001-01-01T00:00:00Z"
        self.rewrite_state(identifier, Running=False, Pid=0, StartedAt=never, FinishedAt=never)
        self.dockerd.spawn()
        self.dockerd.wait_answers()
        self.assertEqual("created", self.dockerd.docker.inspect(identifier)["State"]["Status"])
        task = self.ends_wholly(arn, identifier)
        self.assertIn("DockerStateError", container_of(task)["reason"], brief(task))

    def test_a_container_that_docker_calls_exited_is_ended(self):
        arn, identifier = self.running()
        self.dockerd.terminate(60)
        self.rewrite_state(identifier, Running=False, Pid=0, FinishedAt="2024-01-01T00:00:00Z")
        self.dockerd.spawn()
        self.dockerd.wait_answers()
        self.assertEqual("exited", self.dockerd.docker.inspect(identifier)["State"]["Status"])
        self.ends_wholly(arn, identifier)

    def test_a_paused_container_is_stopped(self):
        arn, identifier = self.running()
        self.dockerd.docker.run("pause", identifier)
        self.tasks.stop(arn)
        self.ends_wholly(arn, identifier)


class RestartedWhileContainersStart(OwnDockerd):
    def test_no_program_of_a_stopped_task_runs_and_no_gpu_is_used_by_two(self):
        self.begin({"live-restore": True})
        definition = self.register("takes", "exec sleep 1", resourceRequirements=gpus(1))
        twice = []
        done = threading.Event()
        def watch():
            while not done.wait(0.05):
                twice.extend(one for one in used_gpus().items() if len(one[1]) > 1)
        watcher = threading.Thread(target=watch)
        watcher.start()
        self.addCleanup(watcher.join)
        self.addCleanup(done.set)
        chance = random.Random(5)
        arns = []
        for number in range(ROUNDS):
            def some_run():
                told = self.tasks.ecs.run_task(taskDefinition=definition, count=4)
                return [one["taskArn"] for one in told["tasks"]]
            arns += wait_for(some_run, "tasks are started", 90)
            threading.Event().wait(chance.uniform(0, 0.6))
            if number % 2:
                self.dockerd.restart()
            else:
                self.dockerd.kill_and_start()
            self.check_stopped(arns)
        wait_for(lambda: self.check_stopped(arns) == len(arns), "all tasks have stopped", 150)
        self.assertEqual([], twice, "one GPU was given to two containers at once")
        wait_for(lambda: self.free_gpus() == 4, "all GPUs are free again", 60)

    def check_stopped(self, arns):
        """How many have stopped; no program of theirs may run."""
        stopped = []
        for first in range(0, len(arns), 100):
            told = self.tasks.ecs.describe_tasks(tasks=arns[first:first + 100])
            self.assertEqual([], told["failures"], "an acknowledged task is lost")
            stopped += [one for one in told["tasks"] if one["lastStatus"] == "STOPPED"]
        for task in stopped:
            identifier = container_of(task).get("runtimeId")
            if identifier:
                self.assertEqual([], processes_of(identifier), brief(task))
        return len(stopped)


class ImageStoreFull(OwnDockerd):
    def test_a_container_that_cannot_be_made_says_why_and_room_mends_it(self):
        disk = SmallDisk(48)
        self.addCleanup(disk.close)
        folder = os.path.join(disk.path, "docker")
        os.mkdir(folder)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.begin(folder=folder)
        definition = self.register("short", "true")
        task = self.tasks.wait(self.tasks.run(definition), "STOPPED")
        self.assertEqual(0, container_of(task)["exitCode"], brief(task))
        disk.fill()
        task = self.tasks.wait(self.tasks.run(definition), "STOPPED", 90)
        self.assertNotEqual(0, container_of(task).get("exitCode"), brief(task))
        self.assertIn("no space left on device",
                      (container_of(task).get("reason", "") + task["stoppedReason"]).lower(),
                      brief(task))
        disk.free()
        task = self.tasks.wait(self.tasks.run(definition), "STOPPED", 90)
        self.assertEqual(0, container_of(task)["exitCode"], brief(task))
        self.assertTrue(self.dockerd.docker.run("images", "-q", IMAGE))
