"""Too many calls, too many connections, too much to keep: told as AWS tells it, and over when it is
over."""

import os
import select
import signal
import socket
import time
import unittest

from harness import (ECS_TARGET, Agent, Server, Tasks, container_of, shell, wait_for)
from overload import Flood, Rude, descriptors, resident_mib


class Overload(unittest.TestCase):
    def test_a_key_that_calls_too_often_is_throttled_and_its_agents_are_not(self):
        server = Server("--rate-limit", "200", command="server")
        self.addCleanup(server.close)
        agent = Agent(server, "--emulate", "c5.large")
        self.addCleanup(agent.close)
        server.wait_connected(1)
        tasks = Tasks(server)
        definition = tasks.register("short", {"memory": 8, **shell("sleep 0.5")})
        arns = [tasks.run(definition) for _ in range(5)]
        start = time.monotonic()
        with Flood(server, [("ListTasks", {}), ("ListClusters", {})]) as flood:
            wait_for(lambda: flood.throttled > 500, "the flood is throttled", 30)
            wait_for(server.containers, "the agent makes containers in the flood", 60)
            wait_for(lambda: time.monotonic() - start > 6, "some time")
        seconds = time.monotonic() - start
        self.assertEqual({}, flood.other)
        # Twice the rate at once, and then the rate.
        self.assertLess(flood.answered, 200 * (seconds + 2) * 1.2 + 100)
        self.assertGreater(flood.answered, 200 * (seconds - 1) * 0.8)
        # It is over with the flood: SDKs are served again within a second or two.
        def works():
            return server.call("ListClusters", {}).status == 200
        wait_for(works, "calls are answered again", 15)
        # What the flood had sent before it ended is still being refused.
        tasks.ecs = server.client("ecs", retries={"max_attempts": 10, "mode": "standard"})
        for arn in arns:
            self.assertEqual(0, container_of(tasks.wait(arn, "STOPPED"))["exitCode"])
        self.assertNotIn("Throttling", agent.output())

    def test_the_error_is_one_that_sdks_know(self):
        server = Server("--rate-limit", "1", command="server")
        self.addCleanup(server.close)
        replies = [server.call("ListClusters", {}) for _ in range(10)]
        throttled = [one for one in replies if one.status != 200]
        self.assertTrue(throttled)
        for reply in throttled:
            self.assertEqual(400, reply.status, reply)
            self.assertEqual("ThrottlingException", reply.error())
            self.assertEqual("ThrottlingException", reply.headers["x-amzn-errortype"])
            self.assertIn("--rate-limit", reply.json()["message"])
        # botocore tries again by itself, and gets through.
        patient = server.client("ecs", retries={"max_attempts": 10, "mode": "standard"})
        for _ in range(3):
            patient.list_clusters()

    def test_rude_connections_hold_up_nobody_and_go(self):
        server = Server("--rate-limit", "0", command="server")
        self.addCleanup(server.close)
        for number in range(60):
            body = {"family": f"family-{number}", "containerDefinitions": [
                {"name": "a", "image": "b", "memory": 8}]}
            self.assertEqual(200, server.call("RegisterTaskDefinition", body).status)
        before = descriptors(server.process)
        rude = Rude(server, 400)
        try:
            slowest = 0.0
            for _ in range(50):
                start = time.monotonic()
                self.assertEqual(200, server.call("ListClusters", {}).status)
                slowest = max(slowest, time.monotonic() - start)
            self.assertLess(slowest, 5)  # A connection that is held up is dropped after 10 s.
            self.assertLess(resident_mib(server.process), 600)
        finally:
            rude.close()
        wait_for(lambda: descriptors(server.process) <= before + 5, "their descriptors are free", 30)

    def test_bodies_that_do_not_end_are_bounded_together(self):
        """More unfinished bodies of one key than it may have: the rest is refused, and memory stays."""
        server = Server(command="server")
        self.addCleanup(server.close)
        connections, waiting, refused = [], set(), 0
        # The head says that it is by a key that is there; the signature is looked at with the body.
        head = server.signed(b"x" * 1_000_000, target=f"{ECS_TARGET}.ListClusters")
        lines = ["POST / HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Content-Length: 1000000",
                 *(f"{name}: {value}" for name, value in head.headers.items())]
        start = "\r\n".join(lines).encode() + b"\r\n\r\n"
        try:
            for _ in range(400):
                one = socket.create_connection(("127.0.0.1", server.port), 10)
                connections.append(one)
                one.settimeout(10)
                try:
                    one.sendall(start + b"x" * 990_000)
                    waiting.add(one)
                except OSError:
                    refused += 1  # Refused and closed in the middle.

            def answered():
                """How many were refused so far: the server answers when it has come to them."""
                nonlocal refused
                for one in select.select(waiting, [], [], 0)[0]:
                    waiting.remove(one)
                    try:
                        refused += b"ThrottlingException" in one.recv(2000)
                    except OSError:
                        refused += 1  # Closed before the answer was read.
                return refused > 50
            wait_for(answered, "what is over the limit is refused", 30)
            self.assertLess(resident_mib(server.process), 1000)
            small = server.call("ListClusters", {})
            self.assertIn(small.status, (200, 400))
        finally:
            for one in connections:
                one.close()
        wait_for(lambda: server.call("ListClusters", {}).status == 200, "it is over", 15)


class StuckAgent(unittest.TestCase):
    def test_one_that_does_not_read_or_answer_harms_no_other(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        stuck = Agent(server, "--emulate", "c5.large")
        self.addCleanup(stuck.close)
        server.wait_connected(1)
        other = Agent(server, "--emulate", "c5.xlarge")
        self.addCleanup(other.close)
        server.wait_connected(2)
        tasks = Tasks(server)
        definition = tasks.register("short", {"memory": 8, **shell("sleep 0.2")})
        os.kill(stuck.process.child.pid, signal.SIGSTOP)
        try:
            constraint = [{"type": "memberOf",
                           "expression": "attribute:ecs.instance-type == c5.xlarge"}]
            for _ in range(5):
                arn = tasks.run(definition, placementConstraints=constraint)
                self.assertEqual(0, container_of(tasks.wait(arn, "STOPPED"))["exitCode"])
            arns = [tasks.run(definition, placementConstraints=[
                {"type": "memberOf", "expression": "attribute:ecs.instance-type == c5.large"}])
                for _ in range(3)]
        finally:
            os.kill(stuck.process.child.pid, signal.SIGCONT)
        for arn in arns:
            self.assertEqual(0, container_of(tasks.wait(arn, "STOPPED", 90))["exitCode"])


class StuckContainer(unittest.TestCase):
    def test_one_that_floods_its_output_harms_no_other(self):
        server = Server("--emulate", "c5.large")
        self.addCleanup(server.close)
        server.wait_connected(1)
        tasks = Tasks(server)
        log = {"logConfiguration": {"logDriver": "awslogs", "options": {
            "awslogs-group": "flood", "awslogs-region": "us-east-1", "awslogs-stream-prefix": "t",
            "awslogs-create-group": "true"}}}
        flood = tasks.run_containers("floods", {"memory": 16, "stopTimeout": 2,
                                                **shell("exec yes $(seq -s x 200)"), **log})
        tasks.wait(flood, "RUNNING")
        short = tasks.register("short", {"memory": 8, **shell("echo said; sleep 0.2"), **log})
        for _ in range(3):
            arn = tasks.run(short)
            self.assertEqual(0, container_of(tasks.wait(arn, "STOPPED", 60))["exitCode"])
            wait_for(lambda: tasks.output(arn, "flood") == ["said"], "its line is there", 60)
        self.assertLess(resident_mib(server.process), 1500)
        tasks.finish(flood, 90)
