"""Shares of a GPU through NVIDIA MPS: requests of every spelling, what containers get, the daemon.

The GPUs are emulated and so is their MPS daemon; the agent runs and watches it as the real one.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import (IMAGE, Agent, Server, Tasks, brief, container_of, shell, wait_for)

HERE = os.path.dirname(os.path.abspath(__file__))
NODE_MODULES = os.path.join(os.path.dirname(HERE), "build", "apigen", "node_modules")

server = None
tasks = None


def setUpModule():
    global server, tasks
    server = Server("--emulate", "p3.8xlarge")
    server.wait_connected(1)
    tasks = Tasks(server)


def tearDownModule():
    server.close()


def holder(requirement, **members):
    return {"name": "main", "image": IMAGE, "memory": 32, "essential": True, "stopTimeout": 2,
            "resourceRequirements": [{"type": "GPU", **requirement}],
            **shell("exec sleep 600"), **members}


def mps(memory, percent=None):
    told = {"memory": memory, **({"maxComputePercent": percent} if percent else {})}
    return {"sharingStrategy": {"nvidiaMps": told}}


def register(family, *containers, plane=None):
    reply = (plane or server).call("RegisterTaskDefinition", {
        "family": family, "containerDefinitions": list(containers)})
    if reply.status != 200:
        raise AssertionError(reply)
    return family


def ask_run(family, plane=None):
    return (plane or server).call("RunTask", {"taskDefinition": family}).json()


def run(family, plane=None):
    told = ask_run(family, plane)
    if told["failures"]:
        raise AssertionError(told["failures"])
    return told["tasks"][0]["taskArn"]


def gpu_devices(plane=None):
    plane = plane or server
    arns = plane.call("ListContainerInstances", {}).json()["containerInstanceArns"]
    told = plane.call("DescribeContainerInstances", {"containerInstances": arns}).json()
    return {gpu["gpuId"]: gpu for one in told["containerInstances"] for gpu in one["gpuDevices"]}


def described(arn, plane=None):
    return (plane or server).call("DescribeTasks", {"tasks": [arn]}).json()["tasks"][0]


def docker_container(arn, name="main"):
    """The Docker container of a task's container, once it runs."""
    def look():
        found = [identifier for identifier, labels in server.docker.containers(
            f"com.amazonaws.ecs.task-arn={arn}", running_only=True)
            if labels["com.amazonaws.ecs.container-name"] == name]
        return found[0] if found else None
    return wait_for(look, f"the container {name} of {arn} runs")


def variables(inspected):
    return dict(entry.split("=", 1) for entry in inspected["Config"]["Env"])


def daemon_pid(data):
    """Of the one MPS daemon below the directory."""
    for folder, _, files in os.walk(data):
        if "nvidia-cuda-mps-control.pid" in files:
            with open(os.path.join(folder, "nvidia-cuda-mps-control.pid")) as file:
                text = file.read().strip()
            return int(text) if text else None
    return None


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            return not re.search(r"^State:\s+Z", file.read(), re.M)
    except FileNotFoundError:
        return False


class Sharing(unittest.TestCase):
    def start(self, family):
        arn = run(family)
        self.addCleanup(tasks.finish, arn)
        return arn

    def test_two_shares_of_8_gib_fill_a_gpu_of_16_and_the_third_goes_to_another(self):
        register("eight", holder({"value": "8GiB"}))
        arns = [self.start("eight") for _ in range(3)]
        gpus = [container_of(described(arn))["gpuIds"] for arn in arns]
        self.assertEqual([1, 1, 1], [len(ids) for ids in gpus])
        (first,), (second,), (third,) = gpus
        self.assertEqual(first, second)
        self.assertNotEqual(first, third)
        devices = gpu_devices()
        self.assertEqual(
            ("NVIDIA_MPS", 0, 2),
            tuple(devices[first][key] for key in
                  ("sharingMode", "remainingMemoryInMiB", "containerCount")), devices[first])
        self.assertEqual(
            ("NVIDIA_MPS", devices[third]["totalMemoryInMiB"] - 8192, 1),
            tuple(devices[third][key] for key in
                  ("sharingMode", "remainingMemoryInMiB", "containerCount")), devices[third])
        idle = [gpu for uuid, gpu in devices.items() if uuid not in (first, third)]
        self.assertEqual({"IDLE"}, {gpu["sharingMode"] for gpu in idle})
        for arn in arns:
            tasks.wait(arn, "RUNNING")
            container = container_of(described(arn))
            self.assertEqual({"nvidiaMps": {"memory": 8192}}, container["gpuSharingStrategy"])

    def test_a_container_sees_the_variables_of_mps_and_talks_to_the_daemon(self):
        register("limits", holder(mps(4096, 25)))
        arn = self.start("limits")
        tasks.wait(arn, "RUNNING")
        identifier = docker_container(arn)
        inspected = server.docker.inspect(identifier)
        inside = dict(line.split("=", 1) for line in
                      server.docker.run("exec", identifier, "env").splitlines() if "=" in line)
        uuid = container_of(described(arn))["gpuIds"][0]
        self.assertEqual(uuid, inside["NVIDIA_VISIBLE_DEVICES"])
        self.assertEqual("0=4096M", inside["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"])
        self.assertEqual("25", inside["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"])
        self.assertTrue(inside["CUDA_MPS_LOG_DIRECTORY"].endswith("/mps/log"))
        pipe = inside["CUDA_MPS_PIPE_DIRECTORY"]
        self.assertTrue(pipe.startswith(server.data), pipe)
        self.assertIn("control", server.docker.run("exec", identifier, "ls", pipe).split())
        self.assertEqual("host", inspected["HostConfig"]["IpcMode"])
        self.assertTrue(is_alive(daemon_pid(server.data)))

    def test_all_sharing_containers_of_a_task_are_on_one_gpu(self):
        register("pair", holder(mps(6000), name="main"),
                 holder(mps(6000), name="side", essential=False))
        task = described(self.start("pair"))
        ids = {name: container_of(task, name)["gpuIds"] for name in ("main", "side")}
        self.assertEqual(ids["main"], ids["side"])
        self.assertEqual(1, len(ids["main"]))
        self.assertEqual(2, gpu_devices()[ids["main"][0]]["containerCount"])
        tasks.wait(task["taskArn"], "RUNNING")

    def test_half_a_gpu_pins_half_its_memory(self):
        register("half", holder({"value": "0.5"}))
        arn = self.start("half")
        tasks.wait(arn, "RUNNING")
        uuid = container_of(described(arn))["gpuIds"][0]
        total = gpu_devices()[uuid]["totalMemoryInMiB"]
        seen = variables(server.docker.inspect(docker_container(arn)))
        self.assertEqual(f"0={total // 2}M", seen["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"])

    def test_a_shared_gpu_is_nobodys_whole_and_a_whole_one_is_not_shared(self):
        register("share", holder(mps(1024)))
        register("whole", holder({"value": "4"}))
        register("three", holder({"value": "3"}))
        share = self.start("share")
        self.assertEqual("RESOURCE:GPU", ask_run("whole")["failures"][0]["reason"])
        three = self.start("three")
        more = self.start("share")
        self.assertEqual(container_of(described(share))["gpuIds"],
                         container_of(described(more))["gpuIds"])
        self.assertFalse(set(container_of(described(three))["gpuIds"]) &
                         set(container_of(described(more))["gpuIds"]))

    def test_wrong_requests_are_refused_with_the_cause(self):
        for requirement, said in (
                ({"value": "0.5", **mps(1)}, "either a value or a sharingStrategy"),
                (mps(1024, 101), "between 1 and 100"), ({"value": "half"}, "\"0.5\""),
                ({"value": "1.5"}, "\"0.5\""), ({"value": "0"}, "\"2\""),
                ({"value": "20GB"}, "\"20GiB\"")):
            reply = server.call("RegisterTaskDefinition", {
                "family": "wrong", "containerDefinitions": [holder(requirement)]})
            self.assertEqual(400, reply.status, reply)
            self.assertIn(said, reply.json()["message"])
        reply = server.call("RegisterTaskDefinition", {
            "family": "mixed", "containerDefinitions": [
                holder(mps(1024)), holder({"value": "1"}, name="side")]})
        self.assertIn("must use the same option", reply.json()["message"])

    def test_a_share_that_no_gpu_can_hold_and_a_mig_profile_that_is_not_there_say_so(self):
        register("huge", holder({"value": "20GiB"}))
        failure = ask_run("huge")["failures"][0]
        self.assertEqual("RESOURCE:GPU", failure["reason"])
        self.assertIn("MiB", failure["detail"])
        register("slice", holder({"value": "1g.10gb"}))
        failure = ask_run("slice")["failures"][0]
        self.assertEqual("RESOURCE:GPU", failure["reason"])
        self.assertIn("MIG", failure["detail"])

    def test_the_sdk_of_npm_runs_a_task_that_shares(self):
        self.assertTrue(
            os.path.isdir(os.path.join(NODE_MODULES, "@aws-sdk", "client-ecs")),
            f"{NODE_MODULES} has no @aws-sdk/client-ecs: ./x test fetches it")
        done = subprocess.run(
            ["node", os.path.join(HERE, "share_gpu.mjs"), "from-npm", IMAGE, "2048", "50"],
            capture_output=True, timeout=60, env={
                **os.environ, "BERTH_NODE_MODULES": NODE_MODULES, "AWS_ENDPOINT_URL": server.url,
                "AWS_ACCESS_KEY_ID": server.key, "AWS_SECRET_ACCESS_KEY": server.secret,
                "AWS_REGION": server.region})
        self.assertEqual(0, done.returncode, done.stderr.decode())
        told = json.loads(done.stdout)
        self.assertEqual([], told["failures"])
        task = told["tasks"][0]
        self.addCleanup(tasks.finish, task["taskArn"])
        strategy = {"nvidiaMps": {"memory": 2048, "maxComputePercent": 50}}
        self.assertEqual(strategy, told["definition"]["containerDefinitions"][0][
            "resourceRequirements"][0]["sharingStrategy"])
        container = container_of(task)
        self.assertEqual(strategy, container["gpuSharingStrategy"])
        device = next(gpu for gpu in told["instances"][0]["gpuDevices"]
                      if gpu["gpuId"] == container["gpuIds"][0])
        self.assertEqual("NVIDIA_MPS", device["sharingMode"])
        self.assertEqual(2048, device["totalMemoryInMiB"] - device["remainingMemoryInMiB"])
        tasks.wait(task["taskArn"], "RUNNING")


class Daemon(unittest.TestCase):
    def test_it_is_restarted_survives_its_agent_and_ends_when_nothing_shares(self):
        plane = Server(command="server")
        self.addCleanup(plane.close)
        agent = Agent(plane, "--emulate", "p3.2xlarge")
        self.addCleanup(agent.close)
        plane.wait_connected(1)
        self.assertIsNone(daemon_pid(agent.data))  # Nobody has shared yet.
        register("one", holder(mps(1024)), plane=plane)
        own = Tasks(plane)
        arn = run("one", plane)
        own.wait(arn, "RUNNING")
        first = daemon_pid(agent.data)
        self.assertTrue(is_alive(first))

        os.kill(first, signal.SIGKILL)
        second = wait_for(lambda: daemon_pid(agent.data) != first and daemon_pid(agent.data),
                          "the daemon is started again")
        self.assertIn("does not answer", agent.output())

        agent.kill()
        self.assertTrue(is_alive(second))
        agent.start()
        agent.process.wait_line("ready: ", 30)
        wait_for(lambda: "is taken over" in agent.output(), "the daemon is taken over")
        self.assertEqual(second, daemon_pid(agent.data))

        agent.process.terminate()  # The container still shares: its daemon stays.
        self.assertTrue(is_alive(second))
        agent.start()
        agent.process.wait_line("ready: ", 30)
        plane.wait_connected(1)
        task = own.finish(arn)
        self.assertEqual("STOPPED", task["lastStatus"], brief(task))
        agent.process.terminate()
        wait_for(lambda: not is_alive(second), "the daemon has ended")


class WithoutMps(unittest.TestCase):
    def test_a_machine_whose_driver_came_without_mps_gets_no_shares_and_says_why(self):
        folder = tempfile.mkdtemp(prefix="berth-nvml-")
        self.addCleanup(shutil.rmtree, folder)
        compiler = shutil.which("clang-19") or shutil.which("cc")
        subprocess.run([compiler, "-std=c17", "-shared", "-fPIC", "-D_POSIX_C_SOURCE=200809L", "-o",
                        os.path.join(folder, "libnvidia-ml.so.1"),
                        os.path.join(HERE, "..", "src", "gpu", "nvml", "fake_nvml.c")], check=True)
        self.assertIsNone(shutil.which("nvidia-cuda-mps-control"))
        plane = Server(environment={"LD_LIBRARY_PATH": folder, "BERTH_FAKE_NVML_GPUS": "2"})
        self.addCleanup(plane.close)
        plane.wait_connected(1)
        register("share", holder(mps(1024)), plane=plane)
        told = ask_run("share", plane)
        self.assertEqual([], told["tasks"])
        self.assertEqual("ATTRIBUTE", told["failures"][0]["reason"], told)
        self.assertIn("ecs.capability.gpu-sharing-mps", told["failures"][0]["detail"])


if __name__ == "__main__":
    unittest.main()
