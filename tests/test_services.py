"""Services of GPU tasks in real containers, on two emulated hosts of eight GPUs each."""

import unittest

import botocore.exceptions

from harness import Server, Tasks, gpus, shell, wait_for

server = None
tasks = None


def setUpModule():
    global server, tasks
    server = Server("--emulate", "p3.16xlarge,p3.16xlarge")
    server.wait_connected(2)
    tasks = Tasks(server)


def tearDownModule():
    server.close()


def worker(version, **members):
    """A task, of one GPU unless told otherwise, that does nothing until it is stopped."""
    return {"resourceRequirements": gpus(1), "stopTimeout": 2, "memory": 16,
            "environment": [{"name": "VERSION", "value": version}],
            **shell("trap 'exit 0' TERM; sleep 600 & wait"), **members}


class Services(unittest.TestCase):
    def setUp(self):
        self.ecs = tasks.ecs
        self.name = self.id().rsplit(".", 1)[-1].removeprefix("test_").replace("_", "-")
        self.good = tasks.register(self.name, worker("good"))

    def tearDown(self):
        try:
            self.ecs.delete_service(service=self.name, force=True)
        except self.ecs.exceptions.ServiceNotFoundException:
            return
        self.ecs.get_waiter("services_inactive").wait(
            services=[self.name], WaiterConfig={"Delay": 1, "MaxAttempts": 90})
        wait_for(lambda: not server.containers(running_only=True), "all containers are gone", 60)

    def create(self, count, **members):
        return self.ecs.create_service(serviceName=self.name, taskDefinition=self.good,
                                       desiredCount=count, **members)["service"]

    def stable(self, seconds=120):
        try:
            self.ecs.get_waiter("services_stable").wait(
                services=[self.name], WaiterConfig={"Delay": 1, "MaxAttempts": seconds})
        except botocore.exceptions.WaiterError as error:
            told = self.describe()
            told["events"] = [event["message"] for event in told["events"]]
            raise AssertionError(f"{error}\n{told}") from None
        # The waiter looks at the counts alone; the deployment is completed once its tasks have
        # stayed up for a while.
        wait_for(lambda: self.describe()["deployments"][0]["rolloutState"] == "COMPLETED",
                 "the deployment is completed", 30)
        return self.describe()

    def describe(self):
        return self.ecs.describe_services(services=[self.name])["services"][0]

    def events(self):
        return [event["message"] for event in self.describe()["events"]]

    def wait_event(self, text, seconds=60):
        try:
            wait_for(lambda: any(text in event for event in self.events()), text, seconds)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *self.events()])) from None

    def running(self):
        arns = self.ecs.list_tasks(serviceName=self.name)["taskArns"]
        if not arns:
            return []
        return self.ecs.describe_tasks(tasks=arns)["tasks"]

    def versions(self):
        return {task["taskDefinitionArn"] for task in self.running()}

    def test_deploy_roll_break_drain_and_scale(self):
        breaker = {"deploymentCircuitBreaker": {"enable": True, "rollback": True}}
        made = self.create(8, deploymentConfiguration=breaker)
        self.assertEqual(made["status"], "ACTIVE")
        told = self.stable()
        self.assertEqual(told["runningCount"], 8)
        self.ecs.get_waiter("tasks_running").wait(
            tasks=[task["taskArn"] for task in self.running()],
            WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        self.assertEqual(len(server.containers(running_only=True)), 8)
        held = [gpu for task in self.running() for one in task["containers"]
                for gpu in one["gpuIds"]]
        self.assertEqual(len(set(held)), 8)

        # Roll.
        better = tasks.register(self.name, worker("better"))
        self.ecs.update_service(service=self.name, taskDefinition=better)
        self.assertEqual(len(self.describe()["deployments"]), 2)
        self.assertEqual(self.stable()["runningCount"], 8)
        self.assertEqual(self.versions(), {better})

        # Break: the image does not exist.
        broken = tasks.register(self.name, worker("broken", image="no.such.host/none:1"))
        self.ecs.update_service(service=self.name, taskDefinition=broken)
        self.wait_event("rolling back to deployment", 120)
        told = self.stable()
        self.assertEqual(told["taskDefinition"], better)
        self.assertEqual(told["runningCount"], 8)
        self.assertEqual(self.versions(), {better})
        rollouts = server.call("ListServiceDeployments", {
            "service": self.name}).json()["serviceDeployments"]
        self.assertEqual([one["status"] for one in rollouts],
                         ["ROLLBACK_SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"])

        # Drain.
        drained = self.running()[0]["containerInstanceArn"]
        self.ecs.update_container_instances_state(containerInstances=[drained], status="DRAINING")
        wait_for(lambda: len(self.running()) == 8 and all(
            task["containerInstanceArn"] != drained and task["lastStatus"] == "RUNNING"
            for task in self.running()), "the tasks have left the host", 120)
        self.ecs.update_container_instances_state(containerInstances=[drained], status="ACTIVE")

        # Scale out and in.
        self.ecs.update_service(service=self.name, desiredCount=14)
        self.assertEqual(self.stable()["runningCount"], 14)
        self.ecs.update_service(service=self.name, desiredCount=3)
        self.assertEqual(self.stable()["runningCount"], 3)
        wait_for(lambda: len(server.containers(running_only=True)) == 3, "three containers", 60)

    def test_full_gpus_roll_one_after_the_other(self):
        four = {"resourceRequirements": gpus(4)}
        self.good = tasks.register(self.name, worker("good", **four))
        self.create(4)
        self.assertEqual(self.stable()["runningCount"], 4)
        better = tasks.register(self.name, worker("better", **four))
        self.ecs.update_service(service=self.name, taskDefinition=better)
        self.wait_event("no GPU is free")
        self.assertEqual(self.versions(), {self.good})
        self.ecs.tag_resource(resourceArn=self.describe()["serviceArn"],
                              tags=[{"key": "berth:gpu-rolling", "value": "replace"}])
        fewest = 4

        def rolled():
            nonlocal fewest
            fewest = min(fewest, self.describe()["runningCount"])
            return self.versions() == {better} and fewest
        wait_for(rolled, "all tasks are replaced", 300)
        self.stable()
        self.assertGreaterEqual(fewest, 2)  # One stops and one starts at a time.

    def test_a_service_that_crashes_at_once_backs_off(self):
        self.good = tasks.register(self.name, worker("crash", **shell("exit 1")))
        self.create(1)
        self.wait_event("unable to consistently start tasks")
        told = self.describe()
        self.assertGreaterEqual(told["deployments"][0]["failedTasks"], 1)
        self.assertLessEqual(told["deployments"][0]["failedTasks"], 12)

    def test_a_service_outlives_its_server(self):
        self.create(2)
        before = {task["taskArn"] for task in self.running()} and self.stable()
        self.assertEqual(before["runningCount"], 2)
        kept = {task["taskArn"] for task in self.running()}
        server.kill()
        server.start()
        server.wait_connected(2)
        self.assertEqual({task["taskArn"] for task in self.running()}, kept)
        self.assertEqual(self.describe()["events"], before["events"])
        self.ecs.stop_task(task=sorted(kept)[0])
        wait_for(lambda: len(self.running()) == 2 and
                 {task["taskArn"] for task in self.running()} != kept, "a replacement", 60)
        self.assertEqual(self.stable()["runningCount"], 2)


if __name__ == "__main__":
    unittest.main()
