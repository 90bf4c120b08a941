"""Fields of a task definition that need more of the agent than a Docker option: shared networks and
namespaces, files and secrets, ranges of ports, joint limits, metadata and role keys."""

import http.server
import json
import os
import shutil
import tempfile
import threading
import time
import unittest
import urllib.request

import boto3

from harness import (IMAGE, Server, Tasks, awslogs, brief, container_of, shell, task_id, wait_for)

server = None
tasks = None
VPC = {"awsvpcConfiguration": {"subnets": ["subnet-local"]}}


class Objects(http.server.BaseHTTPRequestHandler):
    """An object store with one object; it takes any key whose request is signed for S3."""

    def do_GET(self):
        signed = "/s3/aws4_request" in self.headers.get("Authorization", "")
        found = self.path == "/settings/app.env"
        good = found and signed
        body = b"COLOUR=blue\nSIZE=large\n" if good else b"<Error><Code>NoSuchKey</Code></Error>"
        self.send_response(200 if good else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def setUpModule():
    global server, tasks, objects
    objects = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Objects)
    threading.Thread(target=objects.serve_forever, daemon=True).start()
    server = Server("--emulate", "p3.2xlarge", "--s3-endpoint",
                    f"http://127.0.0.1:{objects.server_port}", "--task-cleanup-wait", "2s")
    server.wait_connected(1)
    tasks = Tasks(server)


def tearDownModule():
    server.close()
    objects.shutdown()


class Fields(unittest.TestCase):
    def running(self, family, *containers, run=None, **members):
        arn = tasks.register(family, *containers, **members)
        task = tasks.run(arn, **(run or {}))
        self.addCleanup(tasks.stop, task)
        return tasks.wait(task, "RUNNING")

    def stopped(self, family, *containers, run=None, seconds=60, **members):
        arn = tasks.register(family, *containers, **members)
        return tasks.wait(tasks.run(arn, **(run or {})), "STOPPED", seconds)

    def inspect(self, task, name="main"):
        return server.docker.inspect(container_of(task, name)["runtimeId"])

    def inside(self, task, command, name="main"):
        return server.docker.run("exec", container_of(task, name)["runtimeId"], "sh", "-c", command)


def register(family, *containers):
    """Also with members that this machine's boto3 does not know yet."""
    filled = [{"name": "main", "image": IMAGE, "memory": 64, **one} for one in containers]
    reply = server.call("RegisterTaskDefinition", {
        "family": family, "containerDefinitions": filled})
    assert reply.status == 200, reply
    return reply.json()["taskDefinition"]["taskDefinitionArn"]


def sleeper(**members):
    return {"stopTimeout": 2, **shell("exec sleep 600"), **members}


def web(port, text="hello"):
    return shell(f"mkdir /tmp/w; echo {text} > /tmp/w/index.html; "
                 f"exec httpd -f -p {port} -h /tmp/w")


def detail(task, name):
    return {one["name"]: one["value"] for one in task["attachments"][0]["details"]}.get(name)


class TaskNetworks(Fields):
    def test_a_task_has_an_address_of_its_own_that_its_containers_share(self):
        parts = [sleeper(**web(80), portMappings=[{"containerPort": 80}]),
                 sleeper(name="side", essential=False)]
        one = self.running("vpc", *parts, networkMode="awsvpc", run={"networkConfiguration": VPC})
        two = self.running("vpc", *parts, networkMode="awsvpc", run={"networkConfiguration": VPC})
        addresses = [detail(task, "privateIPv4Address") for task in (one, two)]
        self.assertNotEqual(*addresses, "the same port, no conflict")
        self.assertEqual("ATTACHED", one["attachments"][0]["status"])
        self.assertEqual("subnet-local", detail(one, "subnetId"))
        for container in one["containers"]:
            self.assertEqual(addresses[0], container["networkInterfaces"][0]["privateIpv4Address"])
            self.assertEqual([], container["networkBindings"])
        for task in (one, two):
            wait_for(lambda task=task: "hello" == self.inside(
                task, "wget -q -O - http://127.0.0.1/ || true", "side"), "its server listens")
        # A server at port 80 of all addresses is not in the way of the metadata endpoint there.
        self.assertIn("DockerId", self.inside(
            one, "wget -q -O - $ECS_CONTAINER_METADATA_URI_V4", "side"))
        self.assertEqual("hello", self.inside(two, f"wget -q -O - http://{addresses[0]}/", "side"))
        mac = self.inside(one, "cat /sys/class/net/eth0/address || ip link")
        self.assertIn(detail(one, "macAddress"), mac)

    def test_nothing_of_the_network_is_left_behind(self):
        task = self.running("vpcgone", sleeper(), networkMode="awsvpc",
                            run={"networkConfiguration": VPC})
        tasks.finish(task["taskArn"])
        self.assertEqual("DELETED", tasks.describe(task["taskArn"])["attachments"][0]["status"])
        label = f"com.amazonaws.ecs.task-arn={task['taskArn']}"
        wait_for(lambda: not server.docker.containers(label), "all its containers are removed", 30)

    def test_the_holder_killed_by_somebody_ends_the_task_with_the_reason(self):
        task = self.running("vpckill", sleeper(), networkMode="awsvpc",
                            run={"networkConfiguration": VPC})
        label = f"com.amazonaws.ecs.task-arn={task['taskArn']}"
        holder = [one for one, labels in server.docker.containers(label)
                  if labels["com.amazonaws.ecs.container-name"].startswith("~internal")]
        server.docker.run("kill", *holder)
        task = tasks.wait(task["taskArn"], "STOPPED", 60)
        self.assertIn("ContainerNetworkingError", task["stoppedReason"], brief(task))

    def test_processes_and_ipc_of_a_task_are_shared(self):
        task = self.running("shared", sleeper(**shell("exec sleep 601")),
                            sleeper(name="side", essential=False), pidMode="task", ipcMode="task")
        self.assertIn("sleep 601", self.inside(task, "ps", "side"))
        ipc = [self.inside(task, "readlink /proc/self/ns/ipc", name) for name in ("main", "side")]
        self.assertEqual(*ipc)
        self.assertIn("/pause", self.inside(task, "ps"), "the first process is the holder")


class Sources(Fields):
    def output(self, task):
        return tasks.output(task["taskArn"], task["group"].split(":", 1)[1], "main")

    def test_environment_files_of_the_machine_and_of_an_object_store(self):
        folder = tempfile.mkdtemp(prefix="berth-env-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "host.env")
        with open(path, "w") as file:
            file.write("# a comment\nHOST=yes\nCOLOUR=red\nSHAPE=round\n")
        task = self.stopped("envfiles", {
            **shell("echo $HOST $COLOUR $SIZE $SHAPE"), "logConfiguration": awslogs("envfiles"),
            "environment": [{"name": "SHAPE", "value": "square"}],
            "environmentFiles": [{"type": "s3", "value": "arn:aws:s3:::settings/app.env"},
                                 {"type": "s3", "value": f"file://{path}"}]})
        # The definition's own wins, then the file that stands first.
        self.assertEqual(["yes blue large square"], self.output(task), brief(task))

    def test_an_environment_file_that_is_nowhere_fails_the_task_with_the_reason(self):
        task = self.stopped("envgone", {**shell("exit 0"), "environmentFiles": [
            {"type": "s3", "value": "arn:aws:s3:::settings/gone.env"}]})
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertIn("ResourceInitializationError: failed to download env files",
                      task["stoppedReason"])
        self.assertIn("s3://settings/gone.env", task["stoppedReason"])

    def test_an_environment_file_does_not_give_gpus(self):
        folder = tempfile.mkdtemp(prefix="berth-env-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "gpus.env")
        with open(path, "w") as file:
            file.write("NVIDIA_VISIBLE_DEVICES=all\n")
        task = self.stopped("envgpus", {**shell("exit 0"), "environmentFiles": [
            {"type": "s3", "value": f"file://{path}"}]})
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertIn(f"file://{path} sets NVIDIA_VISIBLE_DEVICES, which only Berth sets",
                      task["stoppedReason"])

    def test_a_link_to_the_machines_devices_does_not_give_gpus(self):
        folder = tempfile.mkdtemp(prefix="berth-devices-")
        self.addCleanup(shutil.rmtree, folder)
        os.symlink("/dev", os.path.join(folder, "devices"))
        task = self.stopped("linkeddevices", {**shell("exit 0"), "linuxParameters": {
            "devices": [{"hostPath": os.path.join(folder, "devices")}]}})
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertIn("devices leads to a GPU of this machine", task["containers"][0]["reason"])


class Relations(Fields):
    def test_a_link_is_a_name_of_the_other_container(self):
        task = self.running("linked", sleeper(links=["base:db"]), sleeper(name="base", **web(80)))
        def get():
            return self.inside(task, "wget -q -O - http://db/ || true") == "hello"
        wait_for(get, "the linked container answers", 20)

    def test_volumes_from_another_container(self):
        task = self.running("lender", sleeper(volumesFrom=[
            {"sourceContainer": "base", "readOnly": True}]), sleeper(
                name="base", **shell("echo lent > /v/file; exec sleep 600"),
                mountPoints=[{"sourceVolume": "scratch", "containerPath": "/v"}]),
            volumes=[{"name": "scratch", "host": {}}])
        wait_for(lambda: self.inside(task, "cat /v/file || true") == "lent", "the file is seen")
        self.assertEqual("read-only", self.inside(task, "touch /v/x || echo read-only"))

    def test_processes_and_ipc_of_the_machine(self):
        task = self.running("hostmodes", sleeper(), pidMode="host", ipcMode="host")
        host = self.inspect(task)["HostConfig"]
        self.assertEqual("host", host["PidMode"])
        self.assertEqual("host", host["IpcMode"])


ROLE = "arn:aws:iam::123456789012:role/app"


class Roles(Fields):
    def output(self, task):
        return tasks.output(task["taskArn"], task["group"].split(":", 1)[1], "main")

    def test_secrets_of_both_services_are_in_the_environment_and_nowhere_else(self):
        parameter = "/app/" + server.account
        server.client("ssm").put_parameter(Name=parameter, Value="from-ssm", Type="SecureString")
        secret = server.client("secretsmanager").create_secret(
            Name="app" + server.account, SecretString=json.dumps({"user": "jane", "n": 1}))["ARN"]
        task = self.stopped("secret", {
            **shell("echo $ONE $TWO"), "logConfiguration": awslogs("secret"), "secrets": [
                {"name": "ONE", "valueFrom": parameter},
                {"name": "TWO", "valueFrom": secret + ":user::"}]}, executionRoleArn=ROLE)
        self.assertEqual(["from-ssm jane"], self.output(task), brief(task))
        self.assertNotIn("from-ssm", server.output())
        self.assertNotIn("from-ssm", json.dumps(task, default=str))

    def test_a_secret_that_is_not_there_fails_the_task_with_the_reason(self):
        task = self.stopped("nosecret", {**shell("exit 0"), "secrets": [
            {"name": "ONE", "valueFrom": "/app/gone"}]}, executionRoleArn=ROLE)
        self.assertEqual("TaskFailedToStart", task["stopCode"], brief(task))
        self.assertIn("ResourceInitializationError", task["stoppedReason"])
        self.assertIn("/app/gone", task["stoppedReason"])

    def test_a_task_role_has_keys_that_only_its_own_containers_get(self):
        for mode, run in (("bridge", {}), ("awsvpc", {"networkConfiguration": VPC}), ("host", {})):
            task = self.running("role" + mode, sleeper(), taskRoleArn=ROLE, networkMode=mode,
                                run=run)
            uri = ("$AWS_CONTAINER_CREDENTIALS_FULL_URI" if mode == "host"
                   else "http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
            keys = json.loads(self.inside(task, f"wget -q -O - {uri}"))
            self.assertEqual(ROLE, keys["RoleArn"])
            sts = boto3.client("sts", endpoint_url=server.url, region_name=server.region,
                               aws_access_key_id=keys["AccessKeyId"],
                               aws_secret_access_key=keys["SecretAccessKey"],
                               aws_session_token=keys["Token"])
            self.assertIn("app", sts.get_caller_identity()["Arn"])
            if mode == "bridge":
                first, path = task, self.inside(
                    task, "echo $AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
            if mode == "awsvpc":
                self.assertIn("400", self.inside(
                    task, f"wget -O - http://169.254.170.2{path} 2>&1 || true"))
        self.assertEqual("RUNNING", tasks.describe(first["taskArn"])["lastStatus"])


class Ports(Fields):
    def test_a_range_is_bound_side_by_side(self):
        task = tasks.run(register("ranged", sleeper(**web(9001), portMappings=[
            {"containerPortRange": "9000-9003"}])))
        self.addCleanup(tasks.stop, task)
        tasks.wait(task, "RUNNING")
        told = server.call("DescribeTasks", {"tasks": [task]}).json()["tasks"][0]
        binding = container_of(told)["networkBindings"][0]
        self.assertEqual("9000-9003", binding["containerPortRange"])
        first, last = (int(part) for part in binding["hostPortRange"].split("-"))
        self.assertEqual(3, last - first)
        def get():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{first + 1}/index.html",
                                            timeout=5) as told:
                    return told.read().decode().strip()
            except OSError:
                return None
        self.assertEqual("hello", wait_for(get, "the second port of the range answers", 20))


class Limits(Fields):
    def group(self, task, controller, name):
        version_2 = f"/sys/fs/cgroup/ecs/{task_id(task['taskArn'])}"
        version_1 = f"/sys/fs/cgroup/{controller}/ecs/{task_id(task['taskArn'])}"
        folder = version_2 if os.path.isdir(version_2) else version_1
        with open(os.path.join(folder, name)) as file:
            return file.read().strip()

    def test_containers_share_what_the_task_may_use(self):
        if not os.path.isdir("/sys/fs/cgroup/memory"):
            self.skipTest("written for cgroup version 1")
        task = self.running("joint", sleeper(memory=48), sleeper(
            name="side", memory=48, essential=False), cpu="512", memory="96")
        self.assertEqual(str(96 << 20), self.group(task, "memory", "memory.limit_in_bytes"))
        self.assertEqual("50000", self.group(task, "cpu", "cpu.cfs_quota_us"))
        parent = f"/ecs/{task_id(task['taskArn'])}"
        for name in ("main", "side"):
            self.assertEqual(parent, self.inspect(task, name)["HostConfig"]["CgroupParent"])
        tasks.finish(task["taskArn"])
        folder = f"/sys/fs/cgroup/memory{parent}"
        wait_for(lambda: not os.path.exists(folder), "the cgroup goes with its task", 30)

    def test_two_containers_together_run_out_of_the_tasks_memory(self):
        # Each may have 60 MiB, both together 64.
        limits = {"memory": 60, "memoryReservation": 30, "stopTimeout": 2}
        hungry = "exec dd if=/dev/zero of=/dev/null bs=45M count=100000"
        task = self.stopped("jointoom", {**shell(hungry), **limits}, {
            **shell(hungry), "name": "side", **limits}, memory="64", seconds=90)
        self.assertIn(137, [one.get("exitCode") for one in task["containers"]], brief(task))


class Metadata(Fields):
    def get(self, task, path, name="main"):
        return self.inside(task, f"wget -q -O - $ECS_CONTAINER_METADATA_URI_V4{path}", name)

    def check(self, task):
        container = json.loads(self.get(task, ""))
        self.assertEqual(container_of(task)["runtimeId"], container["DockerId"])
        self.assertEqual("main", container["Name"])
        self.assertEqual("RUNNING", container["KnownStatus"])
        told = json.loads(self.get(task, "/task"))
        self.assertEqual(task["taskArn"], told["TaskARN"])
        stats = json.loads(self.get(task, "/stats"))
        self.assertIn("memory_stats", stats)
        self.assertIn(container["DockerId"], json.loads(self.get(task, "/task/stats")))
        return container

    def test_in_bridge_mode(self):
        task = self.running("metabridge", sleeper())
        container = self.check(task)
        self.assertEqual([self.inspect(task)["NetworkSettings"]["IPAddress"]],
                         container["Networks"][0]["IPv4Addresses"])
        self.assertEqual(task["taskArn"], json.loads(self.inside(
            task, "wget -q -O - http://169.254.170.2/v2/metadata"))["TaskARN"])

    def test_with_the_tags_of_the_task_and_its_instance(self):
        instance = tasks.ecs.list_container_instances()["containerInstanceArns"][0]
        tasks.ecs.tag_resource(resourceArn=instance, tags=[{"key": "rack", "value": "7"}])
        task = self.running("metatags", sleeper(), run={"tags": [{"key": "team", "value": "a"}]})
        told = json.loads(self.get(task, "/taskWithTags"))
        self.assertEqual({"team": "a"}, told["TaskTags"])
        self.assertEqual({"rack": "7"}, told["ContainerInstanceTags"])
        self.assertEqual(task["taskArn"], told["TaskARN"])
        self.assertNotIn("Errors", told)

    def test_in_mode_awsvpc(self):
        task = self.running("metavpc", sleeper(), networkMode="awsvpc",
                            run={"networkConfiguration": VPC})
        container = self.check(task)
        self.assertEqual([detail(task, "privateIPv4Address")],
                         container["Networks"][0]["IPv4Addresses"])

    def test_without_a_network_and_in_the_machines(self):
        self.check(self.running("metanone", sleeper(), networkMode="none"))
        self.check(self.running("metahost", sleeper(), networkMode="host"))

    def test_with_gpus(self):
        task = self.running("metagpu", sleeper(resourceRequirements=[
            {"type": "GPU", "value": "1"}]))
        container = self.check(task)
        self.assertEqual(container_of(task)["gpuIds"], [one["UUID"] for one in container["Gpus"]])
        self.assertIn("V100", container["Gpus"][0]["Model"])
        self.assertEqual(16384, container["Gpus"][0]["MemoryMiB"])
        stats = json.loads(self.get(task, "/stats"))
        self.assertEqual(container_of(task)["gpuIds"], [one["uuid"] for one in stats["gpu_stats"]])

    def test_the_first_request_of_a_container_is_answered(self):
        task = self.stopped("metafirst", {
            **shell("wget -q -O - $ECS_CONTAINER_METADATA_URI_V4 | grep -q DockerId")})
        self.assertEqual(0, container_of(task)["exitCode"], brief(task))

    def test_another_tasks_container_is_not_told_of(self):
        one = self.running("metaone", sleeper())
        two = self.running("metatwo", sleeper())
        uri = self.inside(one, "echo $ECS_CONTAINER_METADATA_URI_V4")
        self.assertIn("404", self.inside(two, f"wget -O - {uri} 2>&1 || true"))

    def test_after_a_restart_of_the_agent(self):
        task = self.running("metaagain", sleeper())
        server.kill()
        server.start()
        server.wait_connected(1)
        def again():
            return "DockerId" in self.inside(
                task, "wget -q -O - $ECS_CONTAINER_METADATA_URI_V4 || true")
        wait_for(again, "the endpoint is there again", 30)
        self.assertEqual("RUNNING", tasks.describe(task["taskArn"])["lastStatus"])


class LogDrivers(Fields):
    def test_drivers_of_docker_are_passed_through(self):
        for driver, options in (("syslog", {"syslog-address": "udp://127.0.0.1:5514"}),
                                ("fluentd", {"fluentd-async": "true"})):
            task = self.running(f"log{driver}", sleeper(logConfiguration={
                "logDriver": driver, "options": options}))
            self.assertEqual(driver, self.inspect(task)["HostConfig"]["LogConfig"]["Type"])


class LinuxParameters(Fields):
    def test_what_docker_is_told(self):
        task = self.running("linux", sleeper(
            memory=64, linuxParameters={
                "capabilities": {"add": ["NET_ADMIN"], "drop": ["MKNOD"]},
                "devices": [{"hostPath": "/dev/zero", "containerPath": "/dev/nought",
                             "permissions": ["read"]}],
                "initProcessEnabled": True, "sharedMemorySize": 32,
                "tmpfs": [{"containerPath": "/scratch", "size": 8, "mountOptions": ["noexec"]}],
                "maxSwap": 0, "swappiness": 10},
            systemControls=[{"namespace": "net.core.somaxconn", "value": "1000"}],
            extraHosts=[{"hostname": "db", "ipAddress": "10.1.2.3"}],
            dnsServers=["10.0.0.53"], dnsSearchDomains=["example.test"],
            pseudoTerminal=True, interactive=True))
        self.assertEqual("1000", self.inside(task, "cat /proc/sys/net/core/somaxconn"))
        self.assertIn("10.1.2.3", self.inside(task, "cat /etc/hosts"))
        self.assertIn("nameserver 10.0.0.53", self.inside(task, "cat /etc/resolv.conf"))
        self.assertIn("example.test", self.inside(task, "cat /etc/resolv.conf"))
        mounts = self.inside(task, "cat /proc/mounts")
        self.assertRegex(mounts, r"/scratch tmpfs [^ ]*noexec")
        self.assertRegex(mounts, r"/dev/shm tmpfs [^ ]*size=32768k")
        self.inside(task, "head -c 1 /dev/nought")
        self.assertIn("init", self.inside(task, "cat /proc/1/cmdline"))
        host = self.inspect(task)["HostConfig"]
        self.assertEqual(64 << 20, host["MemorySwap"])
        self.assertTrue(self.inspect(task)["Config"]["Tty"])


class Health(Fields):
    def test_a_dependent_waits_for_health_and_a_stage_is_shown_meanwhile(self):
        arn = tasks.register("healthy", sleeper(dependsOn=[
            {"containerName": "base", "condition": "HEALTHY"}]), sleeper(
                name="base", **shell("sleep 4; touch /tmp/up; exec sleep 600"), healthCheck={
                    "command": ["CMD-SHELL", "test -f /tmp/up"], "interval": 5, "retries": 3}))
        task = tasks.run(arn)
        self.addCleanup(tasks.stop, task)
        def stage():
            # boto3 leaves out members that are not AWS's.
            told = server.call("DescribeTasks", {"tasks": [task]}).json()["tasks"][0]
            return told.get("berthStage") == "STARTING" and told
        self.assertEqual("PENDING", wait_for(stage, "the stage is shown")["lastStatus"])
        tasks.wait(task, "RUNNING", 60)
        self.assertNotIn("berthStage", server.call(
            "DescribeTasks", {"tasks": [task]}).json()["tasks"][0])

    def test_a_start_timeout_fails_the_dependent(self):
        task = self.stopped("slowhealth", sleeper(dependsOn=[
            {"containerName": "base", "condition": "HEALTHY"}]), sleeper(
                name="base", startTimeout=3, healthCheck={
                    "command": ["CMD-SHELL", "exit 1"], "interval": 5, "retries": 10}))
        self.assertIn("startTimeout of 3 s", task["stoppedReason"], brief(task))

    def test_a_restart_policy_starts_the_container_again_but_not_after_an_ignored_code(self):
        policy = {"enabled": True, "ignoredExitCodes": [7], "restartAttemptPeriod": 60}
        for code in (7, 8):  # Within the period after its start it is not started again either.
            definition = register("restarts", {**shell(f"exit {code}"), "restartPolicy": policy})
            task = tasks.wait(tasks.run(definition), "STOPPED")
            self.assertEqual(code, container_of(task)["exitCode"])


class Stops(Fields):
    def test_containers_that_do_not_depend_on_each_other_stop_at_the_same_time(self):
        stubborn = shell("trap '' TERM; while true; do sleep 0.1; done") | {"stopTimeout": 7}
        task = self.running("parallel", {"name": "main", **stubborn}, {"name": "b", **stubborn},
                            {"name": "c", **stubborn})
        began = time.monotonic()
        tasks.finish(task["taskArn"])
        self.assertLess(time.monotonic() - began, 20, "three of seven seconds each, not in turn")
