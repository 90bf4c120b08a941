"""What the system tests share: servers, clients of every kind, Docker, bounded waits, cleanup.

Every process is ended by its own id. Each server has an account number of its own, so that the
containers of its tasks are told from everybody else's by their label task-arn.
"""

import atexit
import http.client
import io
import itertools
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.parse
import datetime

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials

BERTH = os.environ.get("BERTH_BINARY", "")
IMAGE = "busybox:berth"
ECS_TARGET = "AmazonEC2ContainerServiceV20141113"
LOGS_TARGET = "Logs_20140328"
TASK_LABEL = "com.amazonaws.ecs.task-arn"

_live = []  # Whatever has to be ended when the run ends, the last first.


def end_all():
    while _live:
        _live[-1].close()


atexit.register(end_all)


def begin_process(first_port, ports, offset):
    """In a forked process of a test run: what the parent holds is not ours to end, and our ports are
    these, from `offset` on."""
    global _ports
    _live.clear()
    random.seed()
    _ports = itertools.cycle(range(first_port, first_port + ports))
    for _ in range(offset):
        next(_ports)


def wait_for(ask, what, seconds=30.0):
    """Asks until the answer is true, and returns it. Fails after `seconds`, saying `what`."""
    end = time.monotonic() + seconds
    pause = 0.02
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what}; the last answer: {answer!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)


_ports = itertools.cycle(range(8000, 32000))


def free_port():
    """One that nobody listens on, that no other test is given meanwhile and that Linux does not give
    out by itself: it can be closed and opened again."""
    while True:
        port = next(_ports)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("0.0.0.0", port))
                return port
            except OSError:
                pass


class Process:
    """A child in a process group of its own, its output kept in a file."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.command = [str(part) for part in command]
        self.environment = {**os.environ, **(environment or {})}
        descriptor, self.output_path = tempfile.mkstemp(prefix=f"berth-{name}-", suffix=".log")
        os.close(descriptor)
        self.spawn()
        _live.append(self)

    def spawn(self):
        with open(self.output_path, "ab") as output:
            self.child = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=self.environment)

    def output(self):
        with open(self.output_path, "r", errors="replace") as file:
            return file.read()

    def alive(self):
        return self.child.poll() is None

    def wait_line(self, start, seconds=30):
        def look():
            for line in self.output().splitlines():
                if line.startswith(start):
                    return line
            if not self.alive():
                raise AssertionError(f"{self.name} ended with {self.child.returncode}: "
                                     f"{' '.join(self.command)}\n{self.output()}")
            return None
        try:
            return wait_for(look, f"{self.name} prints {start!r}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output()[-8000:]}") from None

    def kill(self):
        """kill -9."""
        if self.alive():
            self.child.kill()
        self.child.wait()

    def terminate(self, seconds=30):
        """SIGTERM; the exit code. A process that does not end by itself fails the test."""
        if self.alive():
            self.child.send_signal(signal.SIGTERM)
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {seconds} s of SIGTERM:\n"
                                 f"{self.output()[-8000:]}") from None

    def close(self):
        if self in _live:
            _live.remove(self)
        self.kill()
        if os.path.exists(self.output_path):
            os.unlink(self.output_path)


class Docker:
    """One dockerd, through the docker command. `host` None: the one of DOCKER_HOST."""

    def __init__(self, host=None):
        self.host = host or os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")

    def environment(self):
        return {"DOCKER_HOST": self.host}

    def run(self, *arguments, check=True, input_bytes=None):
        done = subprocess.run(["docker", *arguments], input=input_bytes, capture_output=True,
                              env={**os.environ, **self.environment()}, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"docker {' '.join(arguments)}: {done.stderr.decode()}")
        return done.stdout.decode(errors="replace").strip()

    def answers(self):
        """Not where it takes connections and does not serve them yet, either."""
        try:
            done = subprocess.run(["docker", "version"], capture_output=True,
                                  env={**os.environ, **self.environment()}, timeout=30)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def inspect(self, container):
        return json.loads(self.run("inspect", container))[0]

    def containers(self, label, running_only=False):
        """[(id, labels)] of the containers that have the label, `name=value` or only `name`."""
        arguments = ["ps", "-q", "--no-trunc", "--filter", f"label={label}"]
        ids = self.run(*arguments, *([] if running_only else ["-a"])).split()
        if not ids:
            return []
        told = self.run("inspect", "-f", "{{.Id}} {{json .Config.Labels}}", *ids, check=False)
        lines = [line.split(" ", 1) for line in told.splitlines()]
        return [(identifier, json.loads(labels)) for identifier, labels in lines]

    def remove(self, containers):
        if containers:
            self.run("rm", "-f", "-v", *containers, check=False)

    def make_image(self):
        """The test image, made on the machine: a static busybox and its applets' names."""
        if self.run("images", "-q", IMAGE):
            return
        archive = io.BytesIO()
        applets = subprocess.run(["/bin/busybox", "--list"], capture_output=True, check=True)
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for folder in ("bin", "usr", "usr/bin", "tmp", "etc", "proc", "sys", "dev", "root"):
                entry = tarfile.TarInfo(folder)
                entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
                tar.addfile(entry)
            tar.add(os.path.realpath("/bin/busybox"), "bin/busybox")
            for applet in applets.stdout.decode().split():
                if applet == "busybox":
                    continue
                entry = tarfile.TarInfo(f"bin/{applet}")
                entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(entry)
            users = b"root:x:0:0:root:/root:/bin/sh\n"
            entry = tarfile.TarInfo("etc/passwd")
            entry.size = len(users)
            tar.addfile(entry, io.BytesIO(users))
        self.run("import", "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin", "-", IMAGE,
                 input_bytes=archive.getvalue())


    def make_image_that_asks_for_gpus(self):
        """As those of CUDA do, in their own environment; its name."""
        name = "busybox:asks-for-gpus"
        if not self.run("images", "-q", name):
            made = self.run("create", IMAGE, "true")
            self.run("commit", "--change", "ENV NVIDIA_VISIBLE_DEVICES=all", made, name)
            self.remove([made])
        return name


class Dockerd(Process):
    """A dockerd of a test's own, in a network namespace of its own: a second daemon in that of the
    machine would take away the first one's bridge. Its tasks use network mode host or none. With
    `machine_network` it is the machine's one daemon. `config` is its daemon.json."""

    def __init__(self, runtimes=None, machine_network=False, folder=None, config=None):
        self.folder = folder or tempfile.mkdtemp(prefix="berth-dk-", dir="/tmp")
        self.docker = Docker(f"unix://{self.folder}/docker.sock")
        command = ["dockerd", "--data-root", f"{self.folder}/data", "--exec-root",
                   f"{self.folder}/exec", "--pidfile", f"{self.folder}/pid", "-H", self.docker.host,
                   "--config-file", f"{self.folder}/daemon.json"]
        if not machine_network:
            command = ["unshare", "--net", *command, "--bridge", "none", "--iptables=false"]
        for name, path in (runtimes or {}).items():
            command += ["--add-runtime", f"{name}={path}"]
        with open(f"{self.folder}/daemon.json", "w") as file:
            json.dump(config or {}, file)
        super().__init__("dockerd", command)
        self.wait_answers()

    def kill_and_start(self):
        """kill -9 and a new daemon on the same data."""
        with open(f"{self.folder}/exec/containerd/containerd.pid") as file:
            containerd = int(file.read())
        self.kill()
        # Its containerd dies with it, a moment later, and a new daemon would still talk to it.
        wait_for(lambda: not os.path.exists(f"/proc/{containerd}"), "its containerd is gone")
        self.spawn()
        self.wait_answers()

    def restart(self):
        """As an administrator does it: SIGTERM and start."""
        self.terminate(60)
        self.spawn()
        self.wait_answers()

    def wait_answers(self):
        try:
            wait_for(self.docker.answers, "the private dockerd answers", 60)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output()[-4000:]}") from None

    def close(self):
        if self.alive():
            for container, _ in self.docker.containers(TASK_LABEL):
                self.docker.remove([container])
            self.terminate(60)
        super().close()
        self.end_shims()
        # Mounts of containers that ended together with the daemon.
        with open("/proc/mounts") as mounts:
            under = [line.split()[1] for line in mounts if f" {self.folder}/" in line]
        for mount in sorted(under, reverse=True):
            subprocess.run(["umount", "-l", mount], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_shims(self):
        """containerd's, of containers that it forgot when it was killed: nobody else ends them."""
        socket_path = f"{self.folder}/exec/containerd/containerd.sock".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    arguments = file.read().split(b"\0")
                if socket_path in arguments:
                    os.kill(int(pid), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                pass  # It has ended meanwhile.


class At(botocore.auth.SigV4Auth):
    """Signs as if it were another time."""

    def __init__(self, credentials, service, region, when):
        super().__init__(credentials, service, region)
        self.when = when

    def add_auth(self, request):
        request.context["timestamp"] = self.when.strftime("%Y%m%dT%H%M%SZ")
        self._modify_request_before_signing(request)
        text = self.string_to_sign(request, self.canonical_request(request))
        self._inject_signature_to_request(request, self.signature(text, request))


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    def json(self):
        return json.loads(self.body)

    def error(self):
        """The error code: the part behind '#' of __type."""
        return self.json()["__type"].rsplit("#", 1)[-1]

    def __repr__(self):
        return f"Reply({self.status}, {self.headers}, {self.body[:600]!r})"


class Server:
    """A control plane: `berth up`, or `berth server` alone."""

    def __init__(self, *options, command="up", docker=None, environment=None, start=True,
                 data=None, prefix=()):
        """`prefix`: a command that runs the binary, such as prlimit with its options."""
        self.docker = docker or Docker()
        self.account = str(random.SystemRandom().randrange(10**11, 10**12))
        self.region = "us-east-1"
        self.data = data or tempfile.mkdtemp(prefix="berth-data-")
        self.prefix = list(prefix)
        self.command = command
        self.options = options
        self.environment = {**self.docker.environment(), **(environment or {})}
        self.port = free_port()
        self.process = None
        _live.append(self)
        if start:
            self.start()

    def start(self):
        """Also after kill() or stop(): the same data, the same port."""
        if self.process:
            self.process.close()
        kept = os.path.join(self.data, "credentials.json")
        if os.path.exists(kept):  # A restored one has the account that it was made with.
            with open(kept) as file:
                self.account = json.load(file)["account"]
        self.process = Process(self.command, [
            *self.prefix, BERTH, self.command, "--data", self.data, "--listen", f"127.0.0.1:{self.port}",
            "--account", self.account, *self.options], self.environment)
        self.url = self.process.wait_line("ready: ", 60).split(" ", 1)[1].strip()
        self.port = urllib.parse.urlsplit(self.url).port
        with open(os.path.join(self.data, "credentials.json")) as file:
            self.credentials = json.load(file)
        self.key = self.credentials["accessKeyId"]
        self.secret = self.credentials["secretAccessKey"]
        return self

    def kill(self):
        self.process.kill()

    def stop(self):
        return self.process.terminate()

    def output(self):
        return self.process.output() if self.process else ""

    def close(self):
        if self in _live:
            _live.remove(self)
        if self.process:
            self.process.close()
        if self.docker.answers():
            self.docker.remove([one for one, _ in self.containers()])
        shutil.rmtree(self.data, ignore_errors=True)

    def containers(self, running_only=False):
        """[(id, labels)] of the containers of this server's tasks."""
        found = self.docker.containers(TASK_LABEL, running_only)
        return [one for one in found if f":{self.account}:" in one[1][TASK_LABEL]]

    def client(self, service, **config):
        config = {"retries": {"total_max_attempts": 1}, "read_timeout": 60, **config}
        return boto3.session.Session(
            aws_access_key_id=self.key, aws_secret_access_key=self.secret,
            region_name=self.region).client(
                service, endpoint_url=self.url, config=botocore.config.Config(**config))

    def wait_connected(self, count=1, seconds=60):
        ecs = self.client("ecs")

        def connected():
            arns = ecs.list_container_instances()["containerInstanceArns"]
            if not arns:
                return None
            told = ecs.describe_container_instances(containerInstances=arns)
            found = [one for one in told["containerInstances"] if one["agentConnected"]]
            return found if len(found) >= count else None
        try:
            return wait_for(connected, f"{count} connected container instances", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output()[-8000:]}") from None

    def signed(self, body, target=None, service="ecs", method="POST", path="/", headers=None,
               key=None, secret=None, region=None, when=None):
        """A signed request, not yet sent: botocore's own AWSRequest."""
        request = botocore.awsrequest.AWSRequest(
            method=method, url=self.url + path, data=body, headers={
                "Content-Type": "application/x-amz-json-1.1",
                **({"X-Amz-Target": target} if target else {}), **(headers or {})})
        credentials = botocore.credentials.Credentials(key or self.key, secret or self.secret)
        when = when or datetime.datetime.utcnow()
        At(credentials, service, region or self.region, when).add_auth(request)
        return request

    def send(self, request, body=None, seconds=30):
        """Sends what signed() made, with another body when one is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            target = request.url[len(self.url):]
            connection.request(request.method, target, body=request.data if body is None else body,
                               headers=dict(request.headers.items()))
            response = connection.getresponse()
            return Reply(response.status, response.getheaders(), response.read())
        finally:
            connection.close()

    def call(self, operation, body, **signing):
        """One ECS call with any body: a dict, or bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        signing.setdefault("target", f"{ECS_TARGET}.{operation}")
        return self.send(self.signed(data, **signing))

    def send_raw(self, data, seconds=15):
        """Bytes as they are; everything that comes back until the server closes or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.settimeout(seconds)
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # The server had seen enough; its answer is still to be read.
            answer = b""
            try:
                while chunk := connection.recv(65536):
                    answer += chunk
            except (ConnectionResetError, socket.timeout):
                pass
            return answer


class Agent:
    """A `berth agent` of its own process."""

    def __init__(self, server, *options, data=None, prefix=()):
        self.server = server
        self.options = options
        self.prefix = list(prefix)
        self.data = data or tempfile.mkdtemp(prefix="berth-agent-")
        self.process = None
        _live.append(self)
        self.start()

    def start(self):
        """Also after kill(): the same data."""
        if self.process:
            self.process.close()
        self.process = Process("agent", [
            *self.prefix, BERTH, "agent", "--server", self.server.url, "--data", self.data, *self.options], {
                **self.server.environment, "AWS_ACCESS_KEY_ID": self.server.key,
                "AWS_SECRET_ACCESS_KEY": self.server.secret, "AWS_REGION": self.server.region})
        return self

    def kill(self):
        self.process.kill()

    def output(self):
        return self.process.output()

    def close(self):
        if self in _live:
            _live.remove(self)
        self.process.close()
        shutil.rmtree(self.data, ignore_errors=True)


class SmallDisk:
    """A file system of a few MiB in memory, to be filled and freed."""

    def __init__(self, mebibytes, options=""):
        self.path = tempfile.mkdtemp(prefix="berth-disk-")
        self.filler = os.path.join(self.path, "filler")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=700{options}",
                        "berth-test", self.path], check=True)
        _live.append(self)

    def fill(self):
        """Until nothing more fits."""
        with open(self.filler, "ab", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    def free(self):
        os.unlink(self.filler)

    def close(self):
        if self in _live:
            _live.remove(self)
            subprocess.run(["umount", "-l", self.path], check=True)
            os.rmdir(self.path)


class Tasks:
    """What people do with tasks, in few words."""

    def __init__(self, server):
        self.server = server
        self.ecs = server.client("ecs")
        self.logs = server.client("logs")

    def register(self, family, *containers, **members):
        """Each container: a dict over the defaults name main, image, memory 64, essential."""
        told = self.ecs.register_task_definition(
            family=family, containerDefinitions=self.filled(containers), **members)
        return told["taskDefinition"]["taskDefinitionArn"]

    @staticmethod
    def filled(containers):
        return [{"name": "main", "image": IMAGE, "memory": 64, "essential": True, **one}
                for one in containers]

    def run(self, definition, **members):
        told = self.ecs.run_task(taskDefinition=definition, **members)
        if told["failures"]:
            raise AssertionError(f"run_task: {told['failures']}")
        return told["tasks"][0]["taskArn"]

    def run_containers(self, family, *containers, **members):
        return self.run(self.register(family, *containers, **members))

    def describe(self, arn):
        told = self.ecs.describe_tasks(tasks=[arn])
        if told["failures"]:
            raise AssertionError(f"describe_tasks: {told['failures']}")
        return told["tasks"][0]

    def wait(self, arn, status, seconds=60):
        """The task once its lastStatus is `status`. STOPPED instead of RUNNING fails at once."""
        def look():
            task = self.describe(arn)
            if task["lastStatus"] == status:
                return task
            if task["lastStatus"] == "STOPPED":
                raise AssertionError(f"the task stopped and was to be {status}: {brief(task)}")
            return None
        try:
            return wait_for(look, f"task {arn} is {status}", seconds)
        except AssertionError as error:
            agents = [one for one in _live if isinstance(one, Agent) and one.server is self.server]
            said = [one.output()[-4000:] for one in (self.server, *agents)]
            raise AssertionError("\n".join([str(error), brief(self.describe(arn)), *said])) from None

    def stop(self, arn, reason="the test is over"):
        self.ecs.stop_task(task=arn, reason=reason)

    def finish(self, arn, seconds=60):
        self.stop(arn)
        return self.wait(arn, "STOPPED", seconds)

    def lines(self, group, stream):
        """All messages of a log stream, in order."""
        messages, token = [], None
        while True:
            page = self.logs.get_log_events(
                logGroupName=group, logStreamName=stream, startFromHead=True,
                **({"nextToken": token} if token else {}))
            messages += [event["message"] for event in page["events"]]
            if page["nextForwardToken"] == token:
                return messages
            token = page["nextForwardToken"]

    def output(self, arn, group, container="main", prefix="t"):
        """The container's lines, once no more have come for a second: agents ship in batches, the
        last of them perhaps after STOPPED."""
        stream = f"{prefix}/{container}/{task_id(arn)}"
        found, since = self.lines(group, stream), time.monotonic()
        while time.monotonic() - since < 1:
            time.sleep(0.1)
            now = self.lines(group, stream)
            if now != found:
                found, since = now, time.monotonic()
        return found


def brief(task):
    shown = {name: task.get(name) for name in
             ("lastStatus", "desiredStatus", "stopCode", "stoppedReason")}
    shown["containers"] = [
        {name: one.get(name) for name in ("name", "lastStatus", "exitCode", "reason")}
        for one in task["containers"]]
    return json.dumps(shown)


def task_id(arn):
    return arn.rsplit("/", 1)[1]


def container_of(task, name="main"):
    return next(one for one in task["containers"] if one["name"] == name)


def awslogs(group, prefix="t"):
    return {"logDriver": "awslogs", "options": {
        "awslogs-group": group, "awslogs-region": "us-east-1", "awslogs-stream-prefix": prefix,
        "awslogs-create-group": "true"}}


def gpus(count):
    return [{"type": "GPU", "value": str(count)}]


def shell(text):
    return {"entryPoint": ["sh", "-c"], "command": [text]}
