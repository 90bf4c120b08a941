"""What machines do to their programs: full and read-only disks, clocks, too few descriptors."""

import datetime
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from harness import (BERTH, Agent, Server, SmallDisk, Tasks, container_of, shell, wait_for)

FAKETIME = (glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1") or ["faketime is missing"])[0]


class FullDisk(unittest.TestCase):
    def setUp(self):
        self.disk = SmallDisk(6)
        self.addCleanup(self.disk.close)

    def test_under_the_server_calls_fail_with_the_cause_and_work_again_once_there_is_room(self):
        server = Server(command="server", data=os.path.join(self.disk.path, "data"))
        self.addCleanup(server.close)
        acknowledged = []
        def create(name):
            reply = server.call("CreateCluster", {"clusterName": name})
            if reply.status == 200:
                acknowledged.append(name)
            return reply
        for number in range(20):
            self.assertEqual(200, create(f"before-{number}").status)
        for turn in range(3):
            self.disk.fill()
            refused = None
            for number in range(2000):
                reply = create(f"full-{turn}-{number}")
                if reply.status != 200:
                    refused = reply
                    break
            self.assertIsNotNone(refused, "the disk was never full")
            self.assertEqual(500, refused.status, refused)
            self.assertEqual("ServerException", refused.error())
            self.assertRegex(refused.json()["message"].lower(), "full|no space")
            self.assertTrue(server.process.alive(), server.output()[-3000:])
            self.disk.free()
            wait_for(lambda: create(f"after-{turn}").status == 200, "calls work again", 30)
        self.assertRegex(server.output(), "state.db.*full|full.*state.db")
        def there():
            arns = server.client("ecs").get_paginator("list_clusters").paginate()
            return {arn.rsplit("/", 1)[1] for page in arns for arn in page["clusterArns"]}
        self.assertLessEqual(set(acknowledged), there())
        server.kill()
        server.start()
        self.assertLessEqual(set(acknowledged), there())

    def test_a_server_does_not_start_on_it_and_says_so(self):
        self.disk.fill()
        done = subprocess.run([BERTH, "server", "--data", os.path.join(self.disk.path, "data"),
                               "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                              timeout=30)
        self.assertEqual(1, done.returncode, done)
        self.assertIn(self.disk.path, done.stderr)
        self.assertRegex(done.stderr.lower(), "full|no space")

    def test_a_backup_onto_it_fails_and_leaves_nothing(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        self.disk.fill()
        file = os.path.join(self.disk.path, "backup")
        done = subprocess.run([BERTH, "backup", file, "--data", server.data], capture_output=True,
                              text=True, timeout=30)
        self.assertEqual(1, done.returncode, done)
        self.assertRegex(done.stderr.lower(), "full|no space")
        self.assertEqual(["filler"], os.listdir(self.disk.path))

    def test_a_restore_onto_it_changes_nothing(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        self.assertEqual(0, server.stop())
        folder = tempfile.mkdtemp(prefix="berth-backup-")
        self.addCleanup(shutil.rmtree, folder)
        file = os.path.join(folder, "b")
        subprocess.run([BERTH, "backup", file, "--data", server.data], check=True,
                       capture_output=True, timeout=30)
        data = os.path.join(self.disk.path, "data")
        shutil.copytree(server.data, data)
        before = {name: os.path.getsize(os.path.join(data, name)) for name in os.listdir(data)
                  if not name.endswith(".lock")}
        self.disk.fill()
        done = subprocess.run([BERTH, "restore", file, "--data", data], capture_output=True,
                              text=True, timeout=30)
        self.assertEqual(1, done.returncode, done)
        self.assertRegex(done.stderr.lower(), "full|no space")
        self.assertEqual(before, {name: os.path.getsize(os.path.join(data, name))
                                  for name in os.listdir(data) if not name.endswith(".lock")})

    def test_under_the_agent_no_task_is_lost(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        agent = Agent(server, "--emulate", "c5.large", data=os.path.join(self.disk.path, "agent"))
        self.addCleanup(agent.close)
        server.wait_connected(1)
        tasks = Tasks(server)
        definition = tasks.register("short", {"memory": 8, **shell("sleep 0.2")})
        tasks.wait(tasks.run(definition), "STOPPED")
        self.disk.fill()
        arns = [tasks.run(definition) for _ in range(10)]
        # Either its journal has still room for them, or it says what is wrong.
        def ended_or_told():
            said = agent.output().lower()
            ended = all(tasks.describe(arn)["lastStatus"] == "STOPPED" for arn in arns)
            return ended or "full" in said or "no space" in said
        wait_for(ended_or_told, "the tasks end, or the agent says why not", 60)
        self.disk.free()
        if "The agent ends" in agent.output():  # It says so before it is gone.
            wait_for(lambda: not agent.process.alive(), "the agent has ended", 60)
            agent.start()
        for arn in arns:
            task = tasks.wait(arn, "STOPPED", 120)
            self.assertEqual(0, container_of(task)["exitCode"], task)
        self.assertEqual(11, len(server.containers()))


class ReadOnlyDisk(unittest.TestCase):
    def test_neither_server_nor_agent_starts_on_it_and_both_say_so(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        self.assertEqual(0, server.stop())
        disk = SmallDisk(16)
        self.addCleanup(disk.close)
        data = os.path.join(disk.path, "data")
        shutil.copytree(server.data, data)
        os.mkdir(os.path.join(disk.path, "agent"), 0o700)
        subprocess.run(["mount", "-o", "remount,ro", disk.path], check=True)
        for command in (["server", "--data", data, "--listen", "127.0.0.1:0"],
                        ["agent", "--server", "http://127.0.0.1:9", "--data",
                         os.path.join(disk.path, "agent"), "--emulate", "c5.large"]):
            with self.subTest(command[0]):
                done = subprocess.run([BERTH, *command], capture_output=True, text=True, timeout=30,
                                      env={**os.environ, "AWS_ACCESS_KEY_ID": "a",
                                           "AWS_SECRET_ACCESS_KEY": "b"})
                self.assertEqual(1, done.returncode, done)
                self.assertIn(disk.path, done.stderr)
                self.assertRegex(done.stderr.lower(), "read-only|readonly")


class ClockSetBack(unittest.TestCase):
    def test_by_an_hour_what_runs_goes_on_and_new_tasks_run(self):
        folder = tempfile.mkdtemp(prefix="berth-clock-")
        self.addCleanup(shutil.rmtree, folder)
        offset = os.path.join(folder, "offset")
        def set_clock(text):
            with open(offset + ".new", "w") as file:
                file.write(text)
            os.replace(offset + ".new", offset)
        set_clock("+0\n")
        server = Server("--agent-timeout", "6", command="server", environment={
            "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": offset, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"})
        self.addCleanup(server.close)
        agent = Agent(server, "--emulate", "p3.8xlarge")
        self.addCleanup(agent.close)
        server.wait_connected(1)
        tasks = Tasks(server)
        definition = tasks.register("short", {"memory": 8, **shell("sleep 0.2")})
        lasting = tasks.run_containers("lasting", {"memory": 8, "stopTimeout": 2,
                                                   **shell("exec sleep 900")})
        tasks.wait(lasting, "RUNNING")
        set_clock("-3600\n")

        def call(operation, body):
            when = datetime.datetime.utcnow() - datetime.timedelta(hours=1)
            return server.call(operation, body, when=when)
        def told():
            reply = call("ListClusters", {})
            return reply.status == 200
        wait_for(told, "the server sees the new time", 20)
        # Somebody whose clock was not set back is told what is wrong.
        wrong = server.call("ListClusters", {})
        self.assertEqual("InvalidSignatureException", wrong.error(), wrong)
        self.assertIn("not yet current", wrong.json()["message"])
        arns = []
        for _ in range(5):
            reply = call("RunTask", {"taskDefinition": definition})
            self.assertEqual(200, reply.status, reply)
            self.assertEqual([], reply.json()["failures"], reply)
            arns.append(reply.json()["tasks"][0]["taskArn"])
        def described(arns):
            return call("DescribeTasks", {"tasks": arns}).json()["tasks"]
        wait_for(lambda: all(one["lastStatus"] == "STOPPED" for one in described(arns)),
                 "the new tasks have run", 60)
        self.assertEqual([0] * 5, [one["containers"][0]["exitCode"] for one in described(arns)])
        self.assertEqual("RUNNING", described([lasting])[0]["lastStatus"])
        # Timers go on: a silent agent is noticed within its time-out, not an hour later.
        def connected():
            arn, = call("ListContainerInstances", {}).json()["containerInstanceArns"]
            instance, = call("DescribeContainerInstances",
                             {"containerInstances": [arn]}).json()["containerInstances"]
            return instance["agentConnected"]
        end = time.monotonic() + 8
        while time.monotonic() < end:
            self.assertTrue(connected())
            time.sleep(0.5)
        os.kill(agent.process.child.pid, signal.SIGSTOP)
        try:
            wait_for(lambda: not connected(), "the silent agent is noticed", 40)
        finally:
            os.kill(agent.process.child.pid, signal.SIGCONT)
        wait_for(connected, "it comes back", 40)
        # And after a restart in the past.
        server.kill()
        server.start()
        self.assertEqual("RUNNING", described([lasting])[0]["lastStatus"])
        self.assertEqual(200, call("StopTask", {"task": lasting}).status)
        wait_for(lambda: described([lasting])[0]["lastStatus"] == "STOPPED", "it stops", 60)


class FewDescriptors(unittest.TestCase):
    LIMIT = 48

    def test_of_the_server_are_used_up_and_given_back(self):
        server = Server(command="server", prefix=["prlimit", f"--nofile={self.LIMIT}"])
        self.addCleanup(server.close)
        self.assertEqual(200, server.call("CreateCluster", {"clusterName": "kept"}).status)
        taken = []
        try:
            for _ in range(self.LIMIT + 20):
                one = socket.create_connection(("127.0.0.1", server.port), timeout=10)
                one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n")
                taken.append(one)
            wait_for(lambda: "cannot accept a connection" in server.output(), "it says so", 20)
            self.assertIn("Too many open files", server.output())
            self.assertTrue(server.process.alive())
        finally:
            for one in taken:
                one.close()
        def works():
            try:
                return server.call("CreateCluster", {"clusterName": "after"}).status == 200
            except (OSError, http.client.HTTPException):
                return False
        wait_for(works, "calls work again", 30)
        self.assertLess(server.output().count("cannot accept"), 300, "the log is not flooded")
        server.kill()
        server.start()
        self.assertEqual({"default", "kept", "after"}, {
            arn.rsplit("/", 1)[1]
            for arn in server.client("ecs").list_clusters()["clusterArns"]})

    def test_of_the_server_are_as_many_as_its_user_may_have(self):
        server = Server(command="server", prefix=["prlimit", "--nofile=64:2000"])
        self.addCleanup(server.close)
        taken = []
        try:
            for _ in range(300):
                taken.append(socket.create_connection(("127.0.0.1", server.port), timeout=10))
            self.assertEqual(200, server.call("ListClusters", {}).status)
            self.assertNotIn("cannot accept", server.output())
        finally:
            for one in taken:
                one.close()

    def test_of_the_agent_are_few_and_tasks_run_nevertheless(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        agent = Agent(server, "--emulate", "c5.9xlarge", prefix=["prlimit", "--nofile=40"])
        self.addCleanup(agent.close)
        server.wait_connected(1)
        tasks = Tasks(server)
        definition = tasks.register("logs", {"memory": 8, **shell("echo out; sleep 0.5"),
                                             "logConfiguration": {"logDriver": "awslogs", "options": {
                                                 "awslogs-group": "few", "awslogs-region": "us-east-1",
                                                 "awslogs-stream-prefix": "t",
                                                 "awslogs-create-group": "true"}}})
        told = [tasks.run(definition) for _ in range(25)]
        ended = [tasks.wait(arn, "STOPPED", 120) for arn in told]
        # Whoever could not be started says why; nobody hangs, and the agent is still there.
        for task in ended:
            if container_of(task).get("exitCode") != 0:
                self.assertRegex(json.dumps(task, default=str), "Too many open files|descriptor")
        self.assertTrue(agent.process.alive(), agent.output()[-3000:])
        task = tasks.wait(tasks.run(definition), "STOPPED")
        self.assertEqual(0, container_of(task)["exitCode"], task)
