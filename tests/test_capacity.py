"""Capacity providers through boto3, and the queue of a cluster's own machines with real containers.
"""

import unittest

import botocore.exceptions

from harness import Server, Tasks, gpus, shell, wait_for

QUEUE = [{"capacityProvider": "BERTH_QUEUE", "weight": 1}]

server = None
tasks = None


def setUpModule():
    global server, tasks
    server = Server("--emulate", "g3.8xlarge")  # Two GPUs.
    server.wait_connected()
    tasks = Tasks(server)


def tearDownModule():
    server.close()


def sleeper(count=1, **members):
    return {"resourceRequirements": gpus(count), "stopTimeout": 2, "memory": 16,
            **shell("trap 'exit 0' TERM; sleep 600 & wait"), **members}


class Queue(unittest.TestCase):
    def setUp(self):
        self.ecs = tasks.ecs
        self.started = []
        self.services = []

    def tearDown(self):
        for name in self.services:
            self.delete_service(name)
        for arn in self.started:
            tasks.stop(arn)
        wait_for(lambda: not server.containers(running_only=True), "all containers are gone", 60)

    def run_queued(self, definition, **members):
        told = self.ecs.run_task(taskDefinition=definition, capacityProviderStrategy=QUEUE,
                                 **members)
        self.assertEqual(told["failures"], [])
        arns = [task["taskArn"] for task in told["tasks"]]
        self.started += arns
        return told["tasks"]

    def test_a_third_task_waits_for_one_of_two_gpus(self):
        definition = tasks.register("queued", sleeper())
        made = self.run_queued(definition, count=3)
        self.assertEqual([task["lastStatus"] for task in made],
                         ["PENDING", "PENDING", "PROVISIONING"])
        self.assertEqual({task["capacityProviderName"] for task in made}, {"BERTH_QUEUE"})
        self.assertNotIn("containerInstanceArn", made[2])
        first, second, third = (task["taskArn"] for task in made)
        waiter = self.ecs.get_waiter("tasks_running")
        waiter.wait(tasks=[first, second], WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        self.assertEqual(tasks.describe(third)["lastStatus"], "PROVISIONING")
        self.assertEqual(len(server.containers(running_only=True)), 2)
        self.assertIn(third, self.ecs.list_tasks()["taskArns"])
        cluster = self.ecs.describe_clusters(clusters=["default"])["clusters"][0]
        self.assertEqual((cluster["runningTasksCount"], cluster["pendingTasksCount"]), (2, 1))
        gpu = {gpu for arn in (first, second)
               for gpu in tasks.describe(arn)["containers"][0]["gpuIds"]}
        self.assertEqual(len(gpu), 2)

        freed = tasks.describe(first)["containers"][0]["gpuIds"]
        tasks.finish(first)
        waiter.wait(tasks=[third], WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        placed = tasks.describe(third)
        self.assertEqual(placed["containers"][0]["gpuIds"], freed)
        self.assertEqual(placed["capacityProviderName"], "BERTH_QUEUE")
        self.assertIn("containerInstanceArn", placed)

    def test_a_waiting_task_is_stopped_without_an_agent(self):
        definition = tasks.register("impatient", sleeper(2))
        running, waiting = (self.run_queued(definition)[0]["taskArn"] for _ in range(2))
        tasks.wait(running, "RUNNING")
        stopped = self.ecs.stop_task(task=waiting, reason="changed my mind")["task"]
        self.assertEqual(stopped["lastStatus"], "STOPPED")
        self.assertEqual(stopped["stopCode"], "UserInitiated")
        self.assertEqual(stopped["stoppedReason"], "changed my mind")
        self.ecs.get_waiter("tasks_stopped").wait(
            tasks=[waiting], WaiterConfig={"Delay": 1, "MaxAttempts": 5})
        self.assertEqual(tasks.describe(running)["lastStatus"], "RUNNING")

    def test_what_waits_outlives_the_server(self):
        definition = tasks.register("lasting", sleeper(2))
        running, waiting = (self.run_queued(definition)[0]["taskArn"] for _ in range(2))
        tasks.wait(running, "RUNNING")
        server.kill()
        server.start()
        server.wait_connected()
        self.assertEqual(tasks.describe(waiting)["lastStatus"], "PROVISIONING")
        tasks.stop(running)
        tasks.wait(waiting, "RUNNING")

    def test_a_service_scales_beyond_its_gpus_and_back(self):
        definition = tasks.register("crowd", sleeper())
        made = self.ecs.create_service(serviceName="crowd", taskDefinition=definition,
                                       desiredCount=2, capacityProviderStrategy=QUEUE)["service"]
        self.services.append("crowd")
        self.assertNotIn("launchType", made)
        self.assertEqual(made["capacityProviderStrategy"],
                         [{"capacityProvider": "BERTH_QUEUE", "weight": 1, "base": 0}])
        stable = self.ecs.get_waiter("services_stable")
        stable.wait(services=["crowd"], WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        self.ecs.update_service(service="crowd", desiredCount=3)
        self.wait_counts(running=2, pending=1)
        wait_for(lambda: any("waits for capacity" in event["message"]
                             for event in self.describe()["events"]), "the event", 30)
        one = self.ecs.list_tasks(serviceName="crowd", desiredStatus="RUNNING")["taskArns"]
        self.assertEqual(len(one), 3)
        self.ecs.update_service(service="crowd", desiredCount=2)
        stable.wait(services=["crowd"], WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        self.assertEqual(len(server.containers(running_only=True)), 2)

    def describe(self):
        return self.ecs.describe_services(services=["crowd"])["services"][0]

    def wait_counts(self, running, pending):
        def look():
            told = self.describe()
            return (told["runningCount"], told["pendingCount"]) == (running, pending)
        wait_for(look, f"{running} running and {pending} pending", 60)

    def delete_service(self, name):
        self.ecs.delete_service(service=name, force=True)
        self.ecs.get_waiter("services_inactive").wait(
            services=[name], WaiterConfig={"Delay": 1, "MaxAttempts": 60})


class Providers(unittest.TestCase):
    """What clients see of capacity providers, without machines behind them."""

    def setUp(self):
        self.ecs = tasks.ecs

    def test_the_built_in_ones_are_described(self):
        told = self.ecs.describe_capacity_providers()
        names = {one["name"]: one["status"] for one in told["capacityProviders"]}
        for name in ("BERTH_QUEUE", "FARGATE", "FARGATE_SPOT"):
            self.assertEqual(names[name], "ACTIVE")
        told = self.ecs.describe_capacity_providers(capacityProviders=["none"])
        self.assertEqual(told["failures"][0]["reason"], "MISSING")

    def test_what_is_not_offered_is_refused_by_name(self):
        with self.assertRaises(self.ecs.exceptions.ClientException) as caught:
            self.ecs.put_cluster_capacity_providers(
                cluster="default", capacityProviders=["FARGATE"],
                defaultCapacityProviderStrategy=[])
        self.assertIn("FARGATE runs tasks on machines of AWS", str(caught.exception))
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            self.ecs.create_capacity_provider(
                name="mine", autoScalingGroupProvider={"autoScalingGroupArn": "none"})
        self.assertIn("no Auto Scaling group none", str(caught.exception))
        with self.assertRaises(self.ecs.exceptions.InvalidParameterException):
            self.ecs.run_task(taskDefinition=tasks.register("both", {"memory": 16}),
                              launchType="EC2", capacityProviderStrategy=QUEUE)

    def test_a_clusters_default_strategy(self):
        told = self.ecs.put_cluster_capacity_providers(
            cluster="default", capacityProviders=["BERTH_QUEUE"],
            defaultCapacityProviderStrategy=QUEUE)["cluster"]
        self.addCleanup(self.ecs.put_cluster_capacity_providers, cluster="default",
                        capacityProviders=[], defaultCapacityProviderStrategy=[])
        self.assertEqual(told["capacityProviders"], ["BERTH_QUEUE"])
        told = self.ecs.describe_clusters(clusters=["default"])["clusters"][0]
        self.assertEqual(told["defaultCapacityProviderStrategy"],
                         [{"capacityProvider": "BERTH_QUEUE", "weight": 1, "base": 0}])
        task = self.ecs.run_task(
            taskDefinition=tasks.register("default", {"memory": 16, "command": ["true"]}))
        self.assertEqual(task["tasks"][0]["capacityProviderName"], "BERTH_QUEUE")
        tasks.wait(task["tasks"][0]["taskArn"], "STOPPED")


if __name__ == "__main__":
    unittest.main()
