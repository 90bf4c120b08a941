"""A GPU is given out again only when it is proven empty; what an operator sees of it and does.

Processes that stay on an emulated GPU, and its failures, are made up: src/gpu/emulated.
"""

import glob
import json
import os
import subprocess
import unittest

import harness
from harness import Agent, Server, Tasks, container_of, gpus, shell, wait_for

plane = None
agent = None
tasks = None


def setUpModule():
    global plane, agent, tasks
    plane = Server(command="server")
    agent = Agent(plane, "--emulate", "p3.8xlarge", "--gpu-release-timeout", "10s")
    plane.wait_connected(1)
    tasks = Tasks(plane)


def tearDownModule():
    agent.close()
    plane.close()


def holder(count):
    return {"resourceRequirements": gpus(count), "stopTimeout": 2, "memory": 16,
            **shell("exec sleep 600")}


def berth(*arguments, check=True):
    done = subprocess.run([harness.BERTH, *arguments, "--data", plane.data], capture_output=True,
                          timeout=30)
    if check and done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return done


def shown(uuid=None):
    """As `berth gpus --json` says it, by UUID."""
    all_gpus = {gpu["gpuId"]: gpu for gpu in json.loads(berth("gpus", "--json").stdout)["gpus"]}
    return all_gpus[uuid] if uuid else all_gpus


class Made:
    """Something that is made up to be on a GPU."""

    def __init__(self, uuid, text):
        states, = glob.glob(os.path.join(agent.data, "**", "state"), recursive=True)
        self.path = os.path.join(states, uuid)
        with open(self.path + ".new", "w") as file:
            file.write(text)
        os.rename(self.path + ".new", self.path)

    def end(self):
        if os.path.exists(self.path):
            os.unlink(self.path)


def state_is(uuid, state):
    return wait_for(lambda: shown(uuid)["state"] == state and shown(uuid), f"{uuid} is {state}", 90)


class Release(unittest.TestCase):
    def test_a_gpu_is_releasing_until_the_last_process_has_left(self):
        arn = tasks.run_containers("lingers", holder(1))
        uuid = container_of(tasks.wait(arn, "RUNNING"))["gpuIds"][0]
        self.assertEqual(("DEDICATED", arn), (shown(uuid)["state"], shown(uuid)["taskArn"]))
        stays = Made(uuid, "process 999999 1024\n")
        self.addCleanup(stays.end)
        tasks.stop(arn)
        containers = f"com.amazonaws.ecs.task-arn={arn}"
        wait_for(lambda: not plane.docker.containers(containers, running_only=True),
                 "the container is gone")
        releasing = shown(uuid)
        self.assertEqual("RELEASING", releasing["state"])
        self.assertIn("is stopping", releasing["reason"])
        told = plane.call("RunTask", {"taskDefinition": tasks.register("four", holder(4))}).json()
        self.assertEqual("RESOURCE:GPU", told["failures"][0]["reason"])
        stays.end()
        tasks.wait(arn, "STOPPED")
        self.assertEqual("IDLE", shown(uuid)["state"])

    def test_a_gpu_that_stays_in_use_is_quarantined_until_an_operator_clears_it(self):
        arn = tasks.run_containers("stays", holder(1))
        uuid = container_of(tasks.wait(arn, "RUNNING"))["gpuIds"][0]
        stays = Made(uuid, "process 999998 2048\n")
        self.addCleanup(stays.end)
        refused = berth("gpus", "clear", uuid, check=False)
        self.assertEqual(1, refused.returncode)
        self.assertIn("DEDICATED", refused.stderr.decode())
        tasks.stop(arn)
        tasks.wait(arn, "STOPPED", 120)
        kept = shown(uuid)
        self.assertEqual("QUARANTINED", kept["state"])
        self.assertIn("pid 999998", kept["reason"])
        table = berth("gpus").stdout.decode()
        self.assertIn("QUARANTINED", table)
        self.assertIn("1 process (pid 999998)", table)
        four = tasks.register("four", holder(4))
        failure = plane.call("RunTask", {"taskDefinition": four}).json()["failures"][0]
        self.assertIn("1 quarantined", failure["detail"])
        stays.end()
        plane.kill()
        plane.start()  # It is kept durably.
        plane.wait_connected(1)
        self.assertEqual("QUARANTINED", shown(uuid)["state"])
        self.assertIn(uuid, berth("gpus", "clear", uuid).stdout.decode())
        self.assertEqual("IDLE", shown(uuid)["state"])
        tasks.finish(tasks.run("four"))

    def test_a_failed_gpu_is_not_given_out_and_is_back_when_it_is_well(self):
        uuid = sorted(shown())[0]
        failed = Made(uuid, "unhealthy Xid 79: the GPU has fallen off the bus\n")
        self.addCleanup(failed.end)
        self.assertIn("fallen off the bus", state_is(uuid, "UNHEALTHY")["reason"])
        four = tasks.register("four", holder(4))
        failure = plane.call("RunTask", {"taskDefinition": four}).json()["failures"][0]
        self.assertEqual("RESOURCE:GPU", failure["reason"])
        self.assertIn("1 unhealthy", failure["detail"])
        failed.end()
        state_is(uuid, "IDLE")

    def test_forced_deregistration_keeps_the_gpus_until_the_agent_is_back_and_proves_them(self):
        arn = tasks.run_containers("given-up", holder(2))
        task = tasks.wait(arn, "RUNNING")
        held = container_of(task)["gpuIds"]
        instance = task["containerInstanceArn"]
        agent.kill()
        plane.client("ecs").deregister_container_instance(containerInstance=instance, force=True)
        self.assertEqual("STOPPED", tasks.describe(arn)["lastStatus"])
        stays = [Made(uuid, "process 999997 512\n") for uuid in held]
        for one in stays:
            self.addCleanup(one.end)
        agent.start()
        wait_for(lambda: held[0] in shown(), "the machine is registered anew")
        kept = {uuid: shown(uuid) for uuid in held}
        self.assertNotEqual(instance, kept[held[0]]["containerInstanceArn"])
        self.assertEqual({"QUARANTINED"}, {gpu["state"] for gpu in kept.values()})
        self.assertIn("given up", kept[held[0]]["reason"])
        for one in stays:
            one.end()
        for uuid in held:
            state_is(uuid, "IDLE")
        self.assertFalse(plane.docker.containers(f"com.amazonaws.ecs.task-arn={arn}",
                                                 running_only=True))

    def test_draining_keeps_new_tasks_away_and_survives_a_restart(self):
        ecs = plane.client("ecs")
        instance = ecs.list_container_instances()["containerInstanceArns"][0]
        told = ecs.update_container_instances_state(
            containerInstances=[instance], status="DRAINING")
        self.assertEqual("DRAINING", told["containerInstances"][0]["status"])
        plane.kill()
        plane.start()
        plane.wait_connected(1)
        one = tasks.register("one", holder(1))
        self.assertEqual([], plane.call("RunTask", {"taskDefinition": one}).json()["tasks"])
        ecs = plane.client("ecs")
        ecs.update_container_instances_state(containerInstances=[instance], status="ACTIVE")
        tasks.finish(tasks.run("one"))

    def test_the_attributes_of_its_gpus_are_published(self):
        arns = plane.call("ListContainerInstances", {}).json()["containerInstanceArns"]
        told = plane.call("DescribeContainerInstances", {"containerInstances": arns}).json()
        attributes = {one["name"]: one.get("value")
                      for one in told["containerInstances"][0]["attributes"]}
        self.assertEqual("Tesla V100-SXM2-16GB", attributes["berth.gpu-model"])
        self.assertEqual("Volta", attributes["berth.gpu-arch"])
        self.assertEqual("4", attributes["berth.gpu-count"])
        self.assertEqual("true", attributes["berth.gpu-nvlink"])
        self.assertGreater(int(attributes["berth.gpu-memory-mib"]), 16000)
        driver = attributes["ecs.capability.gpu-driver-version"]
        self.assertIn(f"ecs.capability.nvidia-driver-version.{driver}", attributes)
        self.assertRegex(attributes["berth.cuda-version"], r"^\d+\.\d+$")
        self.assertIn("ecs.capability.gpu-sharing-mps", attributes)

    def test_a_gpu_that_is_not_there_cannot_be_cleared(self):
        refused = berth("gpus", "clear", "GPU-nowhere", check=False)
        self.assertEqual(1, refused.returncode)
        self.assertIn("there is no GPU GPU-nowhere", refused.stderr.decode())


if __name__ == "__main__":
    unittest.main()
