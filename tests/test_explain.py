"""`berth explain`, berthExplain over the wire, and the details of failures: against a live server."""

import json
import subprocess
import unittest

from harness import BERTH, Server, Tasks, gpus

server = None
ecs = None
tasks = None


def setUpModule():
    global server, ecs, tasks
    server = Server("--emulate", "p3.8xlarge,p3.8xlarge")
    server.wait_connected(2)
    ecs = server.client("ecs", parameter_validation=False)
    tasks = Tasks(server)
    for count in (2, 3, 4, 16):
        tasks.register(f"gpu{count}", {"resourceRequirements": gpus(count),
                                       "command": ["sleep", "600"], "stopTimeout": 2})


def tearDownModule():
    server.close()


def explain(*options):
    return subprocess.run([BERTH, "explain", "--data", server.data, *options],
                          capture_output=True, text=True, timeout=60)


def explained(*options):
    done = explain("--json", *options)
    return done.returncode, json.loads(done.stdout)


class Explain(unittest.TestCase):
    def test_where_a_task_would_go(self):
        done = explain("gpu2")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("2 GPUs", done.stdout)
        self.assertIn("2 container instances in the cluster.", done.stdout)
        self.assertIn("The task would be placed on instance", done.stdout)
        code, told = explained("gpu2:1")
        self.assertEqual(0, code)
        self.assertEqual(2, len(told["placement"]["gpus"]))
        self.assertEqual([], ecs.list_tasks()["taskArns"])

    def test_more_than_there_is(self):
        code, told = explained("gpu16")
        self.assertEqual(1, code)
        self.assertFalse(told["placeable"])
        self.assertIn("no instance has more than 4", told["summary"])
        self.assertEqual("ASK_LESS", told["changes"][0]["change"])
        self.assertEqual([("RESOURCE:GPU", 2, 0)],
                         [(one["reason"], one["fallen"], one["left"]) for one in told["steps"]])

    def test_constraints_and_strategies(self):
        code, told = explained("gpu2", "--constraint", "attribute:ecs.instance-type == c5.large")
        self.assertEqual(1, code)
        self.assertEqual("MemberOf placement constraint unsatisfied", told["steps"][-1]["reason"])
        self.assertIn("drop the constraint", told["changes"][0]["sentence"])
        code, _ = explained("gpu2", "--constraint", "distinctInstance", "--strategy",
                            "spread:instanceId", "--strategy", "binpack:gpu")
        self.assertEqual(0, code)
        done = explain("gpu2", "--constraint", "attribute:a ==")
        self.assertEqual(1, done.returncode)
        self.assertIn("character", done.stderr)
        done = explain("gpu2", "--strategy", "tidy")
        self.assertIn("binpack:FIELD", done.stderr)

    def test_a_count_is_explained_task_by_task(self):
        code, told = explained("gpu3", "--count", "3")
        self.assertEqual(1, code)
        self.assertEqual([True, True, False],
                         [one["placeable"] for one in told["explanations"]])
        used = {one["placement"]["containerInstanceArn"] for one in told["explanations"][:2]}
        self.assertEqual(2, len(used))
        self.assertIn("Task 3 of 3", explain("gpu3", "--count", "3").stdout)
        self.assertEqual([], ecs.list_tasks()["taskArns"])

    def test_a_task_and_what_is_left_beside_it(self):
        first = tasks.run("gpu3")
        second = tasks.run("gpu3")
        try:
            done = explain(first)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("holds all of GPU", done.stdout)
            code, told = explained(first.rsplit("/", 1)[1])
            self.assertEqual(first, told["task"]["taskArn"])
            self.assertEqual(3, len(told["task"]["gpus"]))
            code, told = explained("gpu4")
            self.assertEqual(1, code)
            self.assertIn("2 free, but as 1+1", told["summary"])
            self.assertTrue(any("wait for task" in one["sentence"] for one in told["changes"]))
            failed = ecs.run_task(taskDefinition="gpu4")["failures"][0]
            self.assertEqual("RESOURCE:GPU", failed["reason"])
            self.assertIn("2 free, but as 1+1", failed["detail"])
            self.assertIn("To place it: ask for 1 GPU instead of 4", failed["detail"])
        finally:
            tasks.finish(first)
            tasks.finish(second)
        code, told = explained(first)
        self.assertEqual("STOPPED", told["task"]["lastStatus"])

    def test_over_the_wire_by_any_client(self):
        told = server.call("RunTask", {"taskDefinition": "gpu2", "berthExplain": True}).json()
        self.assertEqual([], told["tasks"])
        self.assertTrue(json.loads(told["berthExplanation"][0]["document"])["placeable"])
        self.assertIn("GPU", told["berthExplanation"][0]["text"])

    def test_what_is_not_there(self):
        done = explain("absent")
        self.assertEqual(1, done.returncode)
        self.assertIn("TaskDefinition not found.", done.stderr)
        done = explain("0123456789abcdef0123456789abcdef")
        self.assertEqual(1, done.returncode)
        self.assertIn("there is no task", done.stderr)
        done = explain("gpu2", "--cluster", "absent")
        self.assertIn("ClusterNotFoundException", done.stderr)
        self.assertEqual(2, explain().returncode)
        self.assertEqual(2, explain("gpu2", "--count", "11").returncode)


class PolicyTag(unittest.TestCase):
    def test_tags_of_a_cluster_switch_its_placement_and_last(self):
        arn = ecs.create_cluster(clusterName="tagged", tags=[
            {"key": "berth:placement-policy", "value": "fgd"}])["cluster"]["clusterArn"]
        ecs.tag_resource(resourceArn=arn, tags=[{"key": "team", "value": "vision"}])
        with self.assertRaises(ecs.exceptions.InvalidParameterException) as refused:
            ecs.tag_resource(resourceArn=arn, tags=[
                {"key": "berth:placement-policy", "value": "tetris"}])
        self.assertIn("berth, fgd, bestfit and random", str(refused.exception))
        ecs.untag_resource(resourceArn=arn, tagKeys=["absent"])
        server.stop()
        server.start()
        told = ecs.list_tags_for_resource(resourceArn=arn)["tags"]
        self.assertEqual([("berth:placement-policy", "fgd"), ("team", "vision")],
                         [(one["key"], one["value"]) for one in told])
        server.wait_connected(2)


if __name__ == "__main__":
    unittest.main()
