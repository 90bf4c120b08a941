"""What becomes of a task definition in Docker: networks, limits, volumes, ends, output."""

import os
import shutil
import socket
import tempfile
import time
import unittest
import urllib.request

from harness import (TASK_LABEL, Server, Tasks, awslogs, brief, container_of, free_port,
                     shell, task_id, wait_for)

server = None
tasks = None


def setUpModule():
    global server, tasks
    server = Server("--emulate", "c5.large")
    server.wait_connected(1)
    tasks = Tasks(server)


def tearDownModule():
    server.close()


class Docker(unittest.TestCase):
    def running(self, family, *containers, **members):
        """The task, running, and its first container as `docker inspect` shows it."""
        arn = tasks.run_containers(family, *containers, **members)
        task = tasks.wait(arn, "RUNNING")
        self.addCleanup(tasks.stop, arn)
        name = containers[0].get("name", "main")
        return task, server.docker.inspect(container_of(task, name)["runtimeId"])

    def stopped(self, family, *containers, seconds=60, overrides=None, **members):
        arn = tasks.register(family, *containers, **members)
        return tasks.wait(tasks.run(arn, **({"overrides": overrides} if overrides else {})),
                          "STOPPED", seconds)

    def output(self, task, container="main"):
        return tasks.output(task["taskArn"], task["group"].split(":", 1)[1], container)


def sleeper(**members):
    return {"stopTimeout": 2, **shell("exec sleep 600"), **members}


def talker(group, text, **members):
    return {**shell(text), "logConfiguration": awslogs(group), **members}


class Commands(Docker):
    def test_entry_point_command_environment_and_exit_code(self):
        task = self.stopped("told", talker("told", "", entryPoint=["sh", "-c"], command=[
            "echo $GREETING; pwd; id -u; hostname; exit 7"], workingDirectory="/tmp", user="12",
            hostname="berth", environment=[{"name": "GREETING", "value": "good day = 'x'"}]))
        self.assertEqual(["good day = 'x'", "/tmp", "12", "berth"], self.output(task))
        self.assertEqual(7, container_of(task)["exitCode"])
        self.assertEqual("EssentialContainerExited", task["stopCode"])
        self.assertIn("Essential container in task exited", task["stoppedReason"])

    def test_overrides_of_command_and_environment(self):
        definition = talker("over", "echo $A $B; echo $0", environment=[
            {"name": "A", "value": "1"}, {"name": "B", "value": "2"}])
        task = self.stopped("over", definition, overrides={"containerOverrides": [
            {"name": "main", "command": ["echo $A $B $C"], "environment": [
                {"name": "B", "value": "two"}, {"name": "C", "value": "three"}]}]})
        self.assertEqual(["1 two three"], self.output(task))

    def test_the_labels_that_ecs_agents_set(self):
        task, seen = self.running("labelled", sleeper(dockerLabels={"mine": "yes"}))
        labels = seen["Config"]["Labels"]
        self.assertEqual(task["taskArn"], labels[TASK_LABEL])
        self.assertEqual("main", labels["com.amazonaws.ecs.container-name"])
        self.assertEqual("default", labels["com.amazonaws.ecs.cluster"])
        self.assertEqual("labelled", labels["com.amazonaws.ecs.task-definition-family"])
        self.assertEqual("1", labels["com.amazonaws.ecs.task-definition-version"])
        self.assertEqual("yes", labels["mine"])
        self.assertTrue(labels["berth.agent"])
        self.assertTrue(seen["Name"].startswith("/ecs-labelled-1-main-"), seen["Name"])

    def test_limits_of_cpu_and_memory(self):
        _, seen = self.running("limited", sleeper(
            cpu=256, memory=100, memoryReservation=50, privileged=False,
            readonlyRootFilesystem=True, ulimits=[{"name": "nofile", "softLimit": 99,
                                                   "hardLimit": 100}]))
        host = seen["HostConfig"]
        self.assertEqual(100 << 20, host["Memory"])
        self.assertEqual(50 << 20, host["MemoryReservation"])
        self.assertEqual(256, host["CpuShares"])
        self.assertTrue(host["ReadonlyRootfs"])
        self.assertIn({"Name": "nofile", "Soft": 99, "Hard": 100}, host["Ulimits"])


class Networks(Docker):
    def server_container(self, port, **members):
        return sleeper(**shell(f"mkdir /tmp/w; echo hello > /tmp/w/index.html; "
                               f"exec httpd -f -p {port} -h /tmp/w"), **members)

    def reachable(self, port):
        def get():
            try:
                url = f"http://127.0.0.1:{port}/index.html"
                with urllib.request.urlopen(url, timeout=5) as told:
                    return told.read().decode()
            except OSError:
                return None
        return wait_for(get, f"port {port} answers", 20)

    def test_a_dynamic_port_in_bridge_mode(self):
        task, seen = self.running("dynamic", self.server_container(
            80, portMappings=[{"containerPort": 80}]))
        binding = container_of(task)["networkBindings"][0]
        self.assertEqual((80, "tcp"), (binding["containerPort"], binding["protocol"]))
        self.assertGreaterEqual(binding["hostPort"], 32768)
        self.assertEqual("hello\n", self.reachable(binding["hostPort"]))

    def test_a_fixed_port_is_held_by_one_task(self):
        port = free_port()
        definition = tasks.register("fixed", self.server_container(
            80, portMappings=[{"containerPort": 80, "hostPort": port}]))
        arn = tasks.run(definition)
        self.addCleanup(tasks.stop, arn)
        task = tasks.wait(arn, "RUNNING")
        self.assertEqual(port, container_of(task)["networkBindings"][0]["hostPort"])
        self.assertEqual("hello\n", self.reachable(port))
        told = tasks.ecs.run_task(taskDefinition=definition)
        self.assertEqual([], told["tasks"])
        self.assertEqual("RESOURCE:PORTS", told["failures"][0]["reason"])
        tasks.finish(arn)
        again = tasks.run(definition)
        tasks.wait(again, "RUNNING")
        tasks.finish(again)

    def test_host_mode_uses_the_port_itself(self):
        port = free_port()
        task, seen = self.running("hosted", self.server_container(
            port, portMappings=[{"containerPort": port}]), networkMode="host")
        self.assertEqual("host", seen["HostConfig"]["NetworkMode"])
        self.assertEqual(port, container_of(task)["networkBindings"][0]["hostPort"])
        self.assertEqual("hello\n", self.reachable(port))

    def test_no_network_at_all(self):
        _, seen = self.running("lonely", sleeper(), networkMode="none")
        self.assertEqual("none", seen["HostConfig"]["NetworkMode"])

    def test_a_host_port_that_the_machine_uses_fails_the_task_with_the_reason(self):
        with socket.socket() as taken:
            taken.bind(("0.0.0.0", 0))
            taken.listen()
            task = self.stopped("taken", sleeper(portMappings=[
                {"containerPort": 80, "hostPort": taken.getsockname()[1]}]))
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertIn("CannotStartContainerError", container_of(task)["reason"])


class Ends(Docker):
    def test_out_of_memory(self):
        # Docker may not tell what a main process was killed for; of its child it does, in its time,
        # where that child was not killed in the moment of the start, before its shim looks.
        task = self.stopped("hungry", {"memory": 8, **shell(
            "sleep 1; (x=a; while true; do x=$x$x; done); code=$?; sleep 1; exit $code")})
        self.assertEqual(137, container_of(task)["exitCode"], brief(task))
        self.assertTrue(container_of(task)["reason"].startswith("OutOfMemoryError"), brief(task))

    def test_an_essential_container_takes_the_others_along(self):
        task = self.stopped("pair", {"name": "lead", "stopTimeout": 2, **shell("sleep 1; exit 3")},
                            sleeper(name="helper", essential=False))
        self.assertEqual(3, container_of(task, "lead")["exitCode"])
        self.assertIn("exitCode", container_of(task, "helper"))
        self.assertEqual("EssentialContainerExited", task["stopCode"])

    def test_a_container_that_is_not_essential_may_end(self):
        task, _ = self.running("uneven", sleeper(name="lead"),
                               {"name": "helper", "essential": False, **shell("exit 4")})
        def ended():
            helper = container_of(tasks.describe(task["taskArn"]), "helper")
            return helper["lastStatus"] == "STOPPED" and helper
        self.assertEqual(4, wait_for(ended, "the helper has ended")["exitCode"])
        self.assertEqual("RUNNING", tasks.describe(task["taskArn"])["lastStatus"])

    def test_depends_on_orders_the_containers(self):
        def part(name, text, *depends, **members):
            return talker("ordered", text, name=name, dependsOn=[
                {"containerName": other, "condition": condition} for other, condition in depends],
                **members)
        task = self.stopped("ordered", part(
            "last", "exit 0", ("second", "SUCCESS")), part(
            "second", "exit 0", ("first", "COMPLETE"), essential=False), part(
            "first", "sleep 1; exit 5", essential=False))
        self.assertEqual([5, 0, 0], [container_of(task, name)["exitCode"]
                                     for name in ("first", "second", "last")])
        state = {name: server.docker.inspect(container_of(task, name)["runtimeId"])["State"]
                 for name in ("first", "second", "last")}
        self.assertLess(state["first"]["FinishedAt"], state["second"]["StartedAt"])
        self.assertLess(state["second"]["FinishedAt"], state["last"]["StartedAt"])

    def test_a_dependency_that_fails_stops_the_task(self):
        task = self.stopped("broken", {"name": "last", "dependsOn": [
            {"containerName": "first", "condition": "SUCCESS"}], **shell("exit 0")}, {
            "name": "first", "essential": False, **shell("exit 5")})
        self.assertEqual(5, container_of(task, "first")["exitCode"], brief(task))
        self.assertNotIn("exitCode", container_of(task, "last"), brief(task))

    def test_a_program_that_handles_sigterm_ends_as_it_likes(self):
        task, _ = self.running("polite", talker(
            "polite", "trap 'echo bye; exit 9' TERM; echo up; while true; do sleep 0.1; done",
            stopTimeout=20))
        wait_for(lambda: "up" in self.peek(task), "it is up")
        began = time.monotonic()
        task = tasks.finish(task["taskArn"])
        self.assertEqual(9, container_of(task)["exitCode"])
        self.assertLess(time.monotonic() - began, 15)
        self.assertEqual(["up", "bye"], self.output(task))

    def peek(self, task):
        try:
            return self.output(task)
        except tasks.logs.exceptions.ResourceNotFoundException:
            return []

    def test_a_program_that_ignores_sigterm_is_killed_after_stop_timeout(self):
        task, seen = self.running("stubborn", shell(
            "trap '' TERM; while true; do sleep 0.1; done") | {"stopTimeout": 3})
        began = time.monotonic()
        task = tasks.finish(task["taskArn"])
        took = time.monotonic() - began
        self.assertEqual(137, container_of(task)["exitCode"])
        self.assertGreaterEqual(took, 2.5)
        self.assertLess(took, 15)


class NotStarted(Docker):
    def test_an_image_that_is_nowhere(self):
        image = f"127.0.0.1:{free_port()}/absent:1"
        arn = tasks.run_containers("nowhere", {"image": image})
        # Another task is not held up meanwhile.
        self.assertEqual(0, container_of(self.stopped("meanwhile", shell("sleep 1")))["exitCode"])
        task = tasks.wait(arn, "STOPPED", 90)
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertTrue(container_of(task)["reason"].startswith("CannotPullContainerError"),
                        brief(task))
        self.assertIn("CannotPullContainerError", task["stoppedReason"])
        self.assertIn("docker import", task["stoppedReason"], "what to do without a registry")
        self.assertNotIn("startedAt", task)

    def test_a_command_that_is_not_in_the_image(self):
        task = self.stopped("mistyped", {"command": ["nvidia-smyi"]})
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertIn("CannotStartContainerError", container_of(task)["reason"], brief(task))
        self.assertIn("nvidia-smyi", container_of(task)["reason"])

    def test_the_agent_goes_on(self):
        self.test_a_command_that_is_not_in_the_image()
        task = self.stopped("after", shell("exit 0"))
        self.assertEqual(0, container_of(task)["exitCode"])


class Volumes(Docker):
    def test_a_host_volume(self):
        folder = tempfile.mkdtemp(prefix="berth-volume-")
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "in"), "w") as file:
            file.write("from outside\n")
        task = self.stopped("hostvolume", talker(
            "hostvolume", "cat /v/in; echo inside > /v/out; touch /r/x || echo read-only",
            mountPoints=[{"sourceVolume": "data", "containerPath": "/v"},
                         {"sourceVolume": "data", "containerPath": "/r", "readOnly": True}]),
            volumes=[{"name": "data", "host": {"sourcePath": folder}}])
        self.assertEqual(0, container_of(task)["exitCode"], brief(task))
        with open(os.path.join(folder, "out")) as file:
            self.assertEqual("inside\n", file.read())
        output = self.output(task)
        self.assertIn("from outside", output)
        self.assertIn("read-only", output)

    def test_a_docker_volume_shared_by_two_containers(self):
        mount = [{"sourceVolume": "shared", "containerPath": "/v"}]
        task = self.stopped("taskvolume", {
            "name": "reader", "mountPoints": mount, "dependsOn": [
                {"containerName": "writer", "condition": "SUCCESS"}],
            **shell("grep -q written /v/file")}, {
            "name": "writer", "essential": False, "mountPoints": mount,
            **shell("echo written > /v/file")},
            volumes=[{"name": "shared", "dockerVolumeConfiguration": {"scope": "task",
                                                                      "driver": "local"}}])
        self.assertEqual(0, container_of(task, "reader")["exitCode"], brief(task))

    def test_a_shared_docker_volume_outlives_its_task(self):
        name = f"berth-{server.account}"
        self.addCleanup(server.docker.run, "volume", "rm", "-f", name, check=False)
        volume = [{"name": "kept", "dockerVolumeConfiguration": {
            "scope": "shared", "autoprovision": True, "driver": "local"}}]
        volume[0]["name"] = name
        mount = [{"sourceVolume": name, "containerPath": "/v"}]
        first = self.stopped("keeps", shell("echo kept > /v/file") | {"mountPoints": mount},
                             volumes=volume)
        self.assertEqual(0, container_of(first)["exitCode"], brief(first))
        second = self.stopped("keeps", shell("grep -q kept /v/file") | {"mountPoints": mount},
                              volumes=volume)
        self.assertEqual(0, container_of(second)["exitCode"], brief(second))
        server.docker.remove([container_of(one)["runtimeId"] for one in (first, second)])


class Output(Docker):
    def test_ten_thousand_lines_keep_their_order(self):
        task = self.stopped("lines", talker(
            "lines", "i=0; while [ $i -lt 10000 ]; do echo line $i; i=$((i+1)); done"), seconds=90)
        wait_for(lambda: len(self.output(task)) >= 10_000, "all lines have come", 60)
        self.assertEqual([f"line {i}" for i in range(10_000)], self.output(task))

    def test_standard_error_and_a_last_line_without_its_end(self):
        task = self.stopped("mixed", talker("mixed", "echo one >&2; printf two"))
        self.assertEqual({"one", "two"}, set(self.output(task)))

    def test_the_json_file_driver(self):
        task, seen = self.running("files", sleeper(
            **shell("echo in a file; exec sleep 600"),
            logConfiguration={"logDriver": "json-file", "options": {"max-size": "1m"}}))
        self.assertEqual("json-file", seen["HostConfig"]["LogConfig"]["Type"])
        self.assertEqual("1m", seen["HostConfig"]["LogConfig"]["Config"]["max-size"])
        identifier = container_of(task)["runtimeId"]
        wait_for(lambda: server.docker.run("logs", identifier) == "in a file", "it is written")

    def test_the_stream_is_prefix_container_and_task(self):
        task = self.stopped("streamed", talker("streamed", "echo x"))
        streams = tasks.logs.describe_log_streams(logGroupName="streamed")["logStreams"]
        self.assertEqual([f"t/main/{task_id(task['taskArn'])}"],
                         [one["logStreamName"] for one in streams])
