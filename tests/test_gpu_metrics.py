"""What GPUs and containers do, as agents measure it: `berth gpus`, DescribeContainerInstances, the
health of the instance, and DescribeTasks. Figures of emulated GPUs are made up: src/gpu/emulated."""

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
    agent = Agent(plane, "--emulate", "p3.8xlarge", "--metrics-interval", "2s")
    plane.wait_connected(1)
    tasks = Tasks(plane)


def tearDownModule():
    agent.close()
    plane.close()


def berth_gpus(*options):
    done = subprocess.run([harness.BERTH, "gpus", *options, "--data", plane.data],
                          capture_output=True, timeout=30, check=True)
    return done.stdout.decode()


def shown(uuid=None):
    told = {gpu["gpuId"]: gpu for gpu in json.loads(berth_gpus("--json"))["gpus"]}
    return told[uuid] if uuid else told


def make_up(uuid, text):
    states, = glob.glob(os.path.join(agent.data, "**", "state"), recursive=True)
    path = os.path.join(states, uuid)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)
    return path


def health():
    arns = plane.call("ListContainerInstances", {}).json()["containerInstanceArns"]
    told = plane.call("DescribeContainerInstances", {
        "containerInstances": arns, "include": ["CONTAINER_INSTANCE_HEALTH"]}).json()
    status = told["containerInstances"][0]["healthStatus"]
    return status["overallStatus"], {one["type"]: one for one in status["details"]}


class GpuMetrics(unittest.TestCase):
    def test_what_is_measured_is_shown_with_its_time(self):
        arn = tasks.run_containers("busy", {"resourceRequirements": gpus(1), "stopTimeout": 2,
                                            **shell("exec sleep 600")})
        self.addCleanup(tasks.finish, arn)
        uuid = container_of(tasks.wait(arn, "RUNNING"))["gpuIds"][0]
        idle = next(one for one in shown() if one != uuid)
        first = wait_for(lambda: shown(idle).get("measuredAt") and shown(idle),
                         "the GPUs are measured", 30)
        self.assertEqual((0, 0), (first["utilizationPercent"], first["memoryUsedMiB"]))
        self.assertNotIn("temperatureCelsius", first, "an emulated GPU has no heat")
        path = make_up(uuid, "utilization 87\nused 2048\ntemperature 61.5\npower 240\n")
        wait_for(lambda: shown(uuid).get("utilizationPercent") == 87, "the new figures are shown",
                 60)
        told = shown(uuid)
        self.assertEqual((2048, 61.5, 240), tuple(
            told[name] for name in ("memoryUsedMiB", "temperatureCelsius", "powerWatts")))
        self.assertGreater(told["measuredAt"], first["measuredAt"])
        line = next(one for one in berth_gpus().splitlines() if uuid in one)
        for figure in ("2048 / 16384 MiB", "87 %", "62 C", "240 W", "DEDICATED"):
            self.assertIn(figure, line)
        instances = tasks.ecs.list_container_instances()["containerInstanceArns"]
        raw = plane.call("DescribeContainerInstances", {"containerInstances": instances}).json()
        gpu = next(one for one in raw["containerInstances"][0]["berthGpus"]
                   if one["gpuId"] == uuid)
        self.assertEqual((87, True), (gpu["utilizationPercent"], gpu["healthy"]))
        os.unlink(path)

    def test_a_failed_gpu_shows_in_the_health_of_its_instance(self):
        def checked():
            overall, checks = health()
            return overall == "OK" and "ACCELERATED_COMPUTE" in checks and checks
        checks = wait_for(checked, "all that is checked is well", 30)
        self.assertEqual({"AGENT_CONNECTIVITY", "CONTAINER_RUNTIME", "ACCELERATED_COMPUTE"},
                         set(checks))
        uuid = sorted(shown())[-1]
        path = make_up(uuid, "unhealthy Xid 79: the GPU has fallen off the bus\n")
        wait_for(lambda: health()[0] == "IMPAIRED", "the instance is impaired", 30)
        told = health()[1]["ACCELERATED_COMPUTE"]
        self.assertEqual("IMPAIRED", told["status"])
        self.assertIn(uuid, told["statusReason"])
        self.assertIn("fallen off the bus", told["statusReason"])
        self.assertEqual("OK", health()[1]["CONTAINER_RUNTIME"]["status"])
        wait_for(lambda: shown(uuid)["healthy"] is False, "berth gpus says so", 30)
        os.unlink(path)
        wait_for(lambda: health()[0] == "OK", "all is well again", 30)
        wait_for(lambda: shown(uuid)["healthy"], "berth gpus says so", 30)


class ContainerMetrics(unittest.TestCase):
    def test_what_a_container_uses_is_shown_while_it_runs(self):
        arn = tasks.run_containers(
            "working", {"name": "busy", "memory": 128, "stopTimeout": 2,
                        **shell("while :; do :; done")},
            {"name": "idle", "memory": 64, "stopTimeout": 2, **shell("exec sleep 600")})
        self.addCleanup(tasks.finish, arn)
        tasks.wait(arn, "RUNNING")

        def usage():
            told = plane.call("DescribeTasks", {"tasks": [arn]}).json()["tasks"][0]["containers"]
            found = {one["name"]: one.get("berthUsage") for one in told}
            return found if all(found.values()) else None
        found = wait_for(usage, "both containers are measured", 90)
        busy, idle = found["busy"], found["idle"]
        self.assertGreater(busy["cpuUnitsUsed"], 50, found)
        self.assertLess(idle["cpuUnitsUsed"], busy["cpuUnitsUsed"] / 5, found)
        self.assertLess(0, idle["memoryUsedMiB"], found)
        self.assertLess(idle["memoryUsedMiB"], 64, found)
        later = wait_for(lambda: (told := usage()) and told["busy"]["measuredAt"] >
                         busy["measuredAt"] and told, "they are measured again", 60)
        self.assertGreater(later["busy"]["cpuUnitsUsed"], 50)
        tasks.ecs.stop_task(task=arn)
        tasks.wait(arn, "STOPPED")
        self.assertIsNone(usage())


if __name__ == "__main__":
    unittest.main()
