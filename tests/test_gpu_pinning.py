"""Which GPUs a container sees, from inside it; that no two hold one; when one is free again."""

import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import (Dockerd, Server, Tasks, awslogs, brief, container_of, gpus, shell, wait_for)

server = None
tasks = None
HERE = os.path.dirname(os.path.abspath(__file__))

# The device nodes, what nvidia-smi lists, the variable, and whether a node that the container makes
# itself can be opened: "Operation not permitted" says its device cgroup, "No such device or
# address" says that only the driver is missing.
LOOK = ("ls -d /dev/nvidia* 2>/dev/null; nvidia-smi -L; echo VARIABLE=$NVIDIA_VISIBLE_DEVICES; "
        "for i in 0 1 2 3; do mknod /tmp/n$i c 195 $i; "
        "echo node $i: $(cat /tmp/n$i 2>&1); done; exit 0")


def setUpModule():
    global server, tasks
    server = Server("--emulate", "p3.8xlarge,c5.large")
    server.wait_connected(2)
    tasks = Tasks(server)


def tearDownModule():
    server.close()


def looker(group, **members):
    return {**shell(LOOK), "logConfiguration": awslogs(group), **members}


def looked(arn, *where):
    """All that a looker says."""
    def output():
        # What it says to standard error may stand behind its last line.
        found = tasks.output(arn, *where)
        return found if any(line.startswith("node 3") for line in found) else None
    return wait_for(output, "all of its output is there")


def holder(count, **members):
    return {"resourceRequirements": gpus(count), "stopTimeout": 2, "memory": 16,
            **shell("exec sleep 600"), **members}


def all_gpu_ids(machine):
    ecs = machine.client("ecs")
    arns = ecs.list_container_instances()["containerInstanceArns"]
    told = ecs.describe_container_instances(containerInstances=arns)["containerInstances"]
    return {uuid: int(index) for one in told for resource in one["registeredResources"]
            if resource["name"] == "GPU" for index, uuid in enumerate(resource["stringSetValue"])}


class Inside(unittest.TestCase):
    def test_a_container_sees_its_gpus_and_no_other(self):
        blocker = tasks.run_containers("blocker", holder(1))
        self.addCleanup(tasks.finish, blocker)
        arn = tasks.run_containers("looks", looker("looks", resourceRequirements=gpus(2)))
        ids = container_of(tasks.describe(arn))["gpuIds"]
        task = tasks.wait(arn, "STOPPED")
        lines = looked(arn, "looks")
        text = "\n".join(lines)
        self.assertEqual(set(ids), set(re.findall(r"UUID: (GPU-[0-9a-f-]+)", text)), text)
        nodes = [line for line in lines if re.fullmatch(r"/dev/nvidia\d+", line)]
        self.assertEqual(2, len(nodes), text)
        self.assertIn(f"VARIABLE={','.join(ids)}", lines)
        opened = {f"/dev/nvidia{i}" for i in range(4)
                  if f"node {i}: cat: can't open '/tmp/n{i}': Operation not permitted" not in lines}
        self.assertEqual(set(nodes), opened, text)
        self.assertEqual(0, container_of(task)["exitCode"])

    def test_a_sidecar_that_asks_for_all_sees_none(self):
        arn = tasks.run_containers(
            "sidecar", holder(2, name="trainer"),
            looker("sidecar", name="sidecar", essential=False,
                   image=server.docker.make_image_that_asks_for_gpus()))
        self.addCleanup(tasks.finish, arn)
        def ended():
            one = container_of(tasks.describe(arn), "sidecar")
            return one if one["lastStatus"] == "STOPPED" else None
        sidecar = wait_for(ended, "the sidecar has ended")
        self.assertEqual([], sidecar.get("gpuIds", []))
        lines = looked(arn, "sidecar", "sidecar")
        text = "\n".join(lines)
        self.assertNotIn("/dev/nvidia", text)
        self.assertNotIn("UUID", text)
        self.assertIn("VARIABLE=void", lines)
        for i in range(4):
            self.assertIn(f"node {i}: cat: can't open '/tmp/n{i}': Operation not permitted", lines)
        seen = server.docker.inspect(sidecar["runtimeId"])
        self.assertEqual("runc", seen["HostConfig"]["Runtime"])

    def test_a_task_without_gpus_sees_none(self):
        definition = tasks.register(
            "plain", looker("plain", image=server.docker.make_image_that_asks_for_gpus()))
        arn = tasks.run(definition, placementConstraints=[
            {"type": "memberOf", "expression": "attribute:ecs.instance-type == p3.8xlarge"}])
        tasks.wait(arn, "STOPPED")
        text = "\n".join(tasks.output(arn, "plain"))
        self.assertNotIn("/dev/nvidia", text)
        self.assertIn("VARIABLE=void", text)

    def test_variables_that_would_be_overruled_are_refused(self):
        for name, value, cause in (
                ("NVIDIA_VISIBLE_DEVICES", "0,1", "asks for no GPU.*\"value\": \"2\""),
                ("CUDA_MPS_PIPE_DIRECTORY", "/tmp", "which only Berth sets")):
            with self.assertRaisesRegex(tasks.ecs.exceptions.ClientException, f"{name}.*{cause}"):
                tasks.register("chooser", {"environment": [{"name": name, "value": value}]})
        arn = tasks.run_containers("chooser", looker(
            "chooser", resourceRequirements=gpus(1),
            environment=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]))
        given = container_of(tasks.wait(arn, "STOPPED"))["gpuIds"]
        self.assertIn(f"VARIABLE={given[0]}", looked(arn, "chooser"))


class Sharing(unittest.TestCase):
    def test_four_gpus_serve_four_of_ten_tasks(self):
        definition = tasks.register("one-each", holder(1))
        told = tasks.ecs.run_task(taskDefinition=definition, count=10)
        for task in told["tasks"]:
            self.addCleanup(tasks.wait, task["taskArn"], "STOPPED")
            self.addCleanup(tasks.stop, task["taskArn"])
        ids = [uuid for task in told["tasks"] for uuid in container_of(task)["gpuIds"]]
        self.assertEqual(4, len(ids))
        self.assertEqual(set(all_gpu_ids(server)), set(ids))
        self.assertEqual(["RESOURCE:GPU"] * 6, [one["reason"] for one in told["failures"]])

    def test_two_containers_of_a_task_have_gpus_of_their_own(self):
        arn = tasks.run_containers("two", holder(1, name="a"), holder(2, name="b"))
        self.addCleanup(tasks.finish, arn)
        task = tasks.describe(arn)
        first, second = (set(container_of(task, name)["gpuIds"]) for name in "ab")
        self.assertEqual((1, 2), (len(first), len(second)))
        self.assertFalse(first & second)

    def test_a_gpu_is_free_only_when_its_container_is_gone(self):
        arn = tasks.run_containers("clings", {
            "resourceRequirements": gpus(4), "stopTimeout": 30,
            **shell("trap 'sleep 4; exit 0' TERM; while true; do sleep 0.1; done")})
        task = tasks.wait(arn, "RUNNING")
        identifier = container_of(task)["runtimeId"]
        wants_all = tasks.register("wants-all", holder(4))
        tasks.stop(arn)
        refused = 0
        def placed():
            nonlocal refused
            told = tasks.ecs.run_task(taskDefinition=wants_all)
            if told["tasks"]:
                return told["tasks"][0]["taskArn"]
            self.assertEqual("RESOURCE:GPU", told["failures"][0]["reason"])
            refused += 1
            return None
        # 30 s where the container's shell was asked to end before it could listen.
        next_arn = wait_for(placed, "the GPUs are free again", 60)
        self.addCleanup(tasks.finish, next_arn)
        self.assertGreaterEqual(refused, 5, "the GPUs were given away while the container ran")
        self.assertFalse(server.docker.inspect(identifier)["State"]["Running"])
        self.assertEqual("STOPPED", tasks.describe(arn)["lastStatus"])
        tasks.wait(next_arn, "RUNNING")

    def test_no_two_containers_ever_held_one_gpu(self):
        """Many short tasks; what Docker says of their times is the proof."""
        chance = random.Random(11)
        definitions = {count: tasks.register(f"churn-{count}", holder(count, **shell(
            "sleep 0.2"))) for count in (1, 2, 3)}
        arns = []
        for _ in range(16):
            definition = definitions[chance.choice((1, 2, 3))]
            def placed(definition=definition):
                told = tasks.ecs.run_task(taskDefinition=definition)
                return told["tasks"]
            arns.append(wait_for(placed, "room for the next task", 60)[0]["taskArn"])
        held = {}
        for arn in arns:
            container = container_of(tasks.wait(arn, "STOPPED"))
            self.assertEqual(0, container["exitCode"])
            state = server.docker.inspect(container["runtimeId"])["State"]
            for uuid in container["gpuIds"]:
                held.setdefault(uuid, []).append((state["StartedAt"], state["FinishedAt"]))
        self.assertEqual(4, len(held))
        for times in held.values():
            times.sort()
            for before, after in zip(times, times[1:]):
                self.assertLessEqual(before[1], after[0])


RUNTIME = """#!/usr/bin/python3
# Stands in for nvidia-container-runtime: writes down what it is handed, then runs runc.
import json, os, sys
if "create" in sys.argv and "--bundle" in sys.argv:
    with open(os.path.join(sys.argv[sys.argv.index("--bundle") + 1], "config.json")) as file:
        process = json.load(file)["process"]
    given = [one.split("=", 1)[1] for one in process["env"]
             if one.startswith("NVIDIA_VISIBLE_DEVICES=")]
    with open(@RECORD@, "a") as file:
        file.write(json.dumps({"id": sys.argv[-1], "devices": given}) + "\\n")
os.execvp("runc", ["runc", *sys.argv[1:]])
"""


class RealPath(unittest.TestCase):
    """NVML's way to Docker's runtime `nvidia`, with a fake library and a runtime that tells."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="berth-real-")
        cls.record = os.path.join(cls.folder, "record")
        cls.runtime = os.path.join(cls.folder, "nvidia-runtime")
        with open(cls.runtime, "w") as file:
            file.write(RUNTIME.replace("@RECORD@", repr(cls.record)))
        os.chmod(cls.runtime, 0o755)
        compiler = shutil.which("clang-19") or shutil.which("cc")
        subprocess.run([compiler, "-std=c17", "-shared", "-fPIC", "-D_POSIX_C_SOURCE=200809L", "-o",
                        os.path.join(cls.folder, "libnvidia-ml.so.1"),
                        os.path.join(HERE, "..", "src", "gpu", "nvml", "fake_nvml.c")], check=True)
        cls.dockerd = Dockerd(runtimes={"nvidia": cls.runtime})
        cls.dockerd.docker.make_image()
        cls.server = Server(docker=cls.dockerd.docker, environment={
            "LD_LIBRARY_PATH": cls.folder, "BERTH_FAKE_NVML_GPUS": "2"})
        cls.server.wait_connected(1)
        cls.tasks = Tasks(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.dockerd.close()
        shutil.rmtree(cls.folder)

    def test_a_dockerd_without_the_runtime_is_told_with_what_to_do(self):
        server = Server(environment={"LD_LIBRARY_PATH": self.folder, "BERTH_FAKE_NVML_GPUS": "2"})
        self.addCleanup(server.close)
        server.wait_connected(1)
        here = Tasks(server)
        task = here.wait(here.run_containers("unready", holder(1)), "STOPPED")
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertIn("nvidia-container-toolkit", task["stoppedReason"])
        # The GPU is free again.
        told = here.ecs.run_task(taskDefinition=here.register("both", holder(2)))
        self.assertEqual([], told["failures"])
        here.wait(told["tasks"][0]["taskArn"], "STOPPED")

    def recorded(self, identifier):
        if not os.path.exists(self.record):
            return None
        with open(self.record) as file:
            told = [json.loads(line) for line in file]
        return next((one["devices"] for one in told if one["id"] == identifier), None)

    def test_the_instance_tells_what_nvml_tells(self):
        self.assertEqual({f"GPU-fa4e0000-0000-4000-8000-00000000000{i}" for i in range(2)},
                         set(all_gpu_ids(self.server)))

    def test_only_the_gpu_container_gets_the_runtime_and_its_uuids(self):
        arn = self.tasks.run_containers(
            "real", holder(1, name="trainer"),
            {"name": "sidecar", "memory": 16, "stopTimeout": 2, **shell("exec sleep 600"),
             "image": self.dockerd.docker.make_image_that_asks_for_gpus()},
            networkMode="host")
        task = self.tasks.wait(arn, "RUNNING")
        self.addCleanup(self.tasks.finish, arn)
        trainer, sidecar = (container_of(task, name) for name in ("trainer", "sidecar"))
        self.assertEqual([",".join(trainer["gpuIds"])], self.recorded(trainer["runtimeId"]),
                         brief(task))
        seen = self.dockerd.docker.inspect(trainer["runtimeId"])
        self.assertEqual("nvidia", seen["HostConfig"]["Runtime"])
        self.assertIsNone(self.recorded(sidecar["runtimeId"]))
        seen = self.dockerd.docker.inspect(sidecar["runtimeId"])
        self.assertEqual("runc", seen["HostConfig"]["Runtime"])
        self.assertEqual(["NVIDIA_VISIBLE_DEVICES=void"], [
            one for one in seen["Config"]["Env"] if one.startswith("NVIDIA_VISIBLE_DEVICES")])

    def test_two_tasks_get_two_gpus(self):
        definition = self.tasks.register("apart", holder(1), networkMode="host")
        arns = [self.tasks.run(definition) for _ in range(2)]
        for arn in arns:
            self.addCleanup(self.tasks.finish, arn)
        given = [self.recorded(container_of(self.tasks.wait(arn, "RUNNING"))["runtimeId"])
                 for arn in arns]
        self.assertEqual(2, len({one[0] for one in given}), given)
