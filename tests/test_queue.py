"""BERTH_QUEUE with real containers: waiting in line, tags, gangs for multi-node training, and what
`berth explain` and boto3 tell of those who wait."""

import datetime
import json
import socket
import subprocess
import unittest

from harness import BERTH, Server, Tasks, gpus, wait_for

QUEUE = [{"capacityProvider": "BERTH_QUEUE"}]
ENVIRONMENT = ("echo $BERTH_GANG_RANK of $BERTH_GANG_SIZE at $BERTH_GANG_ADDRESS "
               "$MASTER_ADDR:$MASTER_PORT $RANK/$WORLD_SIZE; sleep 600")

server = None
ecs = None
tasks = None


def setUpModule():
    global server, ecs, tasks
    server = Server("--emulate", "p3.8xlarge,p3.8xlarge")
    server.wait_connected(2)
    ecs = server.client("ecs", parameter_validation=False)
    tasks = Tasks(server)
    for count in (1, 2, 4):
        tasks.register(f"gpu{count}", {"resourceRequirements": gpus(count), "stopTimeout": 2,
                                       "command": ["sleep", "600"]}, networkMode="host")
    tasks.register("train", {
        "resourceRequirements": gpus(4), "stopTimeout": 2, "command": ["sh", "-c", ENVIRONMENT],
        "environment": [{"name": "MASTER_PORT", "value": "4711"}]}, networkMode="host")


def tearDownModule():
    server.close()


def run(definition, count=1, **tags):
    response = ecs.run_task(
        taskDefinition=definition, count=count, capacityProviderStrategy=QUEUE,
        tags=[{"key": "berth:" + key.replace("_", "-"), "value": str(value)}
              for key, value in tags.items()])
    assert not response["failures"], response["failures"]
    return [task["taskArn"] for task in response["tasks"]]


def queued(arn):
    """Its place in the queue, once a pass has given it one; boto3 leaves out what AWS does not
    have."""
    def look():
        task = server.call("DescribeTasks", {"tasks": [arn]}).json()["tasks"][0]
        told = task.get("berthQueue", {})
        return told if "length" in told else None
    return wait_for(look, f"{arn} is in the queue")


def status(arn):
    return tasks.describe(arn)["lastStatus"]


def own_address():
    """This machine's towards other networks, where it has a route there: nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return one.getsockname()[0]


class Queue(unittest.TestCase):
    def setUp(self):
        self.running = []

    def tearDown(self):
        arns = ecs.list_tasks()["taskArns"]
        for arn in arns:
            ecs.stop_task(task=arn)
        for arn in arns:  # A GPU is free again only then.
            tasks.wait(arn, "STOPPED")

    def fill(self, **tags):
        """Both instances, four GPUs each."""
        self.running = run("gpu4", 2, **tags)
        for arn in self.running:
            tasks.wait(arn, "RUNNING")

    def test_waiting_in_line_and_what_is_told_of_it(self):
        self.fill(max_seconds=3600)
        first = run("gpu4", max_seconds=60)[0]
        later = run("gpu2", priority=1, queue_seconds=3000)[0]
        self.assertEqual("PROVISIONING", status(first))
        wait_for(lambda: queued(first)["position"] == 2, "the other one goes first")
        told = queued(later)
        self.assertEqual((1, 2, 1, "RESOURCE:GPU"),
                         (told["position"], told["length"], told["priority"], told["reason"]))
        self.assertEqual("by berth:max-seconds of 1 task", told["estimateBasis"])
        hour = datetime.timedelta(seconds=3600)
        started = min(tasks.describe(arn)["startedAt"] for arn in self.running)
        estimate = datetime.datetime.fromtimestamp(told["estimatedStartAt"],
                                                   datetime.timezone.utc)
        self.assertLess(abs(estimate - started - hour), datetime.timedelta(seconds=2))
        text = self.explain(later)
        self.assertIn("at position 1 of 2.", text)
        self.assertIn("by berth:max-seconds of 1 task.", text)
        self.assertIn("then it ends without having started.", text)
        document = json.loads(self.explain(first, "--json"))
        self.assertEqual(2, document["queue"]["position"])
        ecs.stop_task(task=self.running[0])
        tasks.wait(later, "RUNNING")
        self.assertEqual("PROVISIONING", status(first))
        ecs.stop_task(task=self.running[1])
        tasks.wait(first, "RUNNING")

    def explain(self, arn, *options):
        done = subprocess.run([BERTH, "explain", "--data", server.data, *options, arn],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_where_nobody_knows_the_task_in_the_way_is_named(self):
        self.fill()
        told = queued(run("gpu1")[0])
        self.assertNotIn("estimatedStartAt", told)
        self.assertIn("has no berth:max-seconds", told["estimateBasis"])

    def test_a_deadline(self):
        self.fill()
        arn = run("gpu1", queue_seconds=1)[0]
        stopped = tasks.wait(arn, "STOPPED")
        self.assertEqual("TaskFailedToStart", stopped["stopCode"])
        self.assertIn("it waited 1 s in the queue", stopped["stoppedReason"])

    def test_a_gang_starts_whole_and_its_members_find_each_other(self):
        blocker = run("gpu1")[0]
        tasks.wait(blocker, "RUNNING")
        gang = run("train", 2, gang="all")
        told = queued(gang[0])
        self.assertEqual((2, 2), (told["gangSize"], told["gangPresent"]))
        self.assertEqual({"PROVISIONING"}, {status(arn) for arn in gang})
        ecs.stop_task(task=blocker)
        lines = set()
        for arn in gang:
            container = tasks.wait(arn, "RUNNING")["containers"][0]["runtimeId"]
            lines.add(wait_for(lambda one=container: server.docker.run("logs", one).strip(),
                               "it has printed its line"))
        address = own_address()
        self.assertEqual({f"{rank} of 2 at {address} {address}:4711 {rank}/2" for rank in (0, 1)},
                         lines)

    def test_a_named_gang_gathers_over_calls(self):
        first = run("gpu4", gang="x", gang_size=2)[0]
        told = queued(first)
        self.assertEqual(("GANG", "x", 1), (told["reason"], told["gang"], told["gangPresent"]))
        second = run("gpu4", gang="x", gang_size=2)[0]
        for arn in (first, second):
            tasks.wait(arn, "RUNNING")

    def test_a_gang_whose_members_could_not_meet(self):
        tasks.register("apart", {"resourceRequirements": gpus(1), "command": ["sleep", "600"]})
        with self.assertRaisesRegex(ecs.exceptions.InvalidParameterException,
                                    "no container of apart:1 can be reached there: its network "
                                    "mode is bridge.*networkMode host, or publish the port"):
            run("apart", 2, gang="all")

    def test_without_the_queue_a_gang_starts_whole_or_not_at_all(self):
        tags = [{"key": "berth:gang", "value": "all"}]
        refused = ecs.run_task(taskDefinition="gpu4", count=3, tags=tags)
        self.assertEqual(([], 3), (refused["tasks"], len(refused["failures"])))
        started = ecs.run_task(taskDefinition="gpu4", count=2, tags=tags)
        self.assertEqual(([], 2), (started["failures"], len(started["tasks"])), started["failures"])

    def test_a_wrong_tag(self):
        with self.assertRaisesRegex(ecs.exceptions.InvalidParameterException,
                                    "berth:max-seconds is \"soon\""):
            run("gpu1", max_seconds="soon")


if __name__ == "__main__":
    unittest.main()
