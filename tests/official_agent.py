"""A peer that speaks as the official ECS agent 1.105 does, its traps included.

It runs no containers: a test says what becomes of them. What it has of the real agent are the bytes on
the wire, the rules by which messages are acknowledged, dropped or answered, and what is kept over a
restart. Source: github.com/aws/amazon-ecs-agent at 1.105.1; the places are named where they matter.
"""

import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import threading
import time
import urllib.parse
import uuid

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials

VERSION = "1.105.1"
ECS_TARGET = "AmazonEC2ContainerServiceV20141113"

# agent/app/agent_capability.go: what an agent with Docker 20.10 registers on an external instance.
CAPABILITIES = [
    *(f"com.amazonaws.ecs.capability.docker-remote-api.1.{minor}" for minor in range(17, 33)),
    "com.amazonaws.ecs.capability.logging-driver.json-file",
    "com.amazonaws.ecs.capability.logging-driver.awslogs",
    "com.amazonaws.ecs.capability.logging-driver.none",
    "com.amazonaws.ecs.capability.logging-driver.splunk",
    "com.amazonaws.ecs.capability.privileged-container",
    "com.amazonaws.ecs.capability.task-iam-role",
    "com.amazonaws.ecs.capability.task-iam-role-network-host",
    "com.amazonaws.ecs.capability.ecr-auth",
    "ecs.capability.execution-role-ecr-pull", "ecs.capability.execution-role-awslogs",
    "ecs.capability.container-health-check", "ecs.capability.container-ordering",
    "ecs.capability.container-restart-policy", "ecs.capability.full-sync",
    "ecs.capability.pid-ipc-namespace-sharing", "ecs.capability.docker-plugin.local",
    "ecs.capability.secrets.ssm.environment-variables",
    "ecs.capability.secrets.asm.environment-variables",
    "ecs.capability.secrets.ssm.bootstrap.log-driver",
    "ecs.capability.secrets.asm.bootstrap.log-driver",
    "ecs.capability.private-registry-authentication.secretsmanager",
    "ecs.capability.network.container-port-range", "ecs.capability.env-files.s3",
]

# Fields of Docker's container.Config and container.HostConfig: a name that is none would be lost.
DOCKER_CONFIG = {"Hostname", "Domainname", "User", "AttachStdin", "AttachStdout", "AttachStderr",
                 "ExposedPorts", "Tty", "OpenStdin", "StdinOnce", "Env", "Cmd", "Healthcheck",
                 "ArgsEscaped", "Image", "Volumes", "WorkingDir", "Entrypoint", "NetworkDisabled",
                 "MacAddress", "OnBuild", "Labels", "StopSignal", "StopTimeout", "Shell"}
DOCKER_HOST_CONFIG = {
    "Binds", "ContainerIDFile", "LogConfig", "NetworkMode", "PortBindings", "RestartPolicy",
    "AutoRemove", "VolumeDriver", "VolumesFrom", "CapAdd", "CapDrop", "CgroupnsMode", "Dns",
    "DnsOptions", "DnsSearch", "ExtraHosts", "GroupAdd", "IpcMode", "Cgroup", "Links",
    "OomScoreAdj", "PidMode", "Privileged", "PublishAllPorts", "ReadonlyRootfs", "SecurityOpt",
    "StorageOpt", "Tmpfs", "UTSMode", "UsernsMode", "ShmSize", "Sysctls", "Runtime", "Isolation",
    "CpuShares", "Memory", "NanoCpus", "CgroupParent", "BlkioWeight", "CpuPeriod", "CpuQuota",
    "CpusetCpus", "CpusetMems", "Devices", "DeviceCgroupRules", "DeviceRequests", "KernelMemory",
    "MemoryReservation", "MemorySwap", "MemorySwappiness", "OomKillDisable", "PidsLimit",
    "Ulimits", "Mounts", "MaskedPaths", "ReadonlyPaths", "Init"}


class Refused(Exception):
    """An answer other than 2xx or 101."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body[:400]!r}")
        self.status = status
        self.body = body
        try:
            self.code = json.loads(body).get("__type", "").rsplit("#", 1)[-1]
        except ValueError:
            self.code = ""


class Wire:
    """Signed requests and websockets to one server."""

    def __init__(self, url, key, secret, region, ca_file=None):
        self.url = urllib.parse.urlsplit(url)
        self.credentials = botocore.credentials.Credentials(key, secret)
        self.region = region
        self.ca_file = ca_file

    def signature(self, method, url, body=b"", headers=None):
        request = botocore.awsrequest.AWSRequest(method=method, url=url, data=body,
                                                 headers=dict(headers or {}))
        botocore.auth.SigV4Auth(self.credentials, "ecs", self.region).add_auth(request)
        return dict(request.headers.items())

    def connect(self, url):
        parts = urllib.parse.urlsplit(url)
        secure = parts.scheme in ("https", "wss")
        connection = socket.create_connection((parts.hostname, parts.port or (443 if secure else 80)),
                                              timeout=30)
        if not secure:
            return connection
        context = ssl.create_default_context(cafile=self.ca_file)
        return context.wrap_socket(connection, server_hostname=parts.hostname)

    def call(self, operation, body):
        """One ECS call; a member that is null stays null, as Go's client leaves none out."""
        data = json.dumps(body).encode()
        url = self.url.geturl() + "/"
        headers = self.signature("POST", url, data, {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"{ECS_TARGET}.{operation}"})
        with self.connect(url) as connection:
            lines = [f"POST / HTTP/1.1", f"Host: {self.url.netloc}", "Connection: close",
                     f"Content-Length: {len(data)}", *(f"{k}: {v}" for k, v in headers.items())]
            connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
        head, _, text = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status != 200:
            raise Refused(status, text)
        return json.loads(text)


class WebSocket:
    """RFC 6455 from the client's side: text frames, pings answered, closing handshake."""

    def __init__(self, wire, url):
        parts = urllib.parse.urlsplit(url)
        # Go's url.Values writes a blank as "+", and its signer signs "%20" for it.
        signed = wire.signature("GET", url.replace("+", "%20"))
        self.connection = wire.connect(url)
        self.lock = threading.Lock()
        nonce = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {parts.path}?{parts.query} HTTP/1.1", f"Host: {parts.netloc}",
                 "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {nonce}",
                 "Sec-WebSocket-Version: 13", *(f"{k}: {v}" for k, v in signed.items())]
        self.connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        self.buffer = b""
        self.close_code, self.close_reason = 1006, ""  # Until it is closed in good order.
        while b"\r\n\r\n" not in self.buffer:
            self._fill()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status != 101:
            length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                           if line.lower().startswith(b"content-length:")), 0)
            while len(self.buffer) < length:
                self._fill()
            raise Refused(status, self.buffer)
        guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1((nonce + guid).encode()).digest())
        assert accept in head, head
        self.connection.settimeout(180)  # The agent's read deadline: 3 minutes.

    def _fill(self):
        chunk = self.connection.recv(65536)
        if not chunk:
            raise ConnectionError("closed")
        self.buffer += chunk

    def _take(self, count):
        while len(self.buffer) < count:
            self._fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def _send(self, opcode, data):
        mask = os.urandom(4)
        length = len(data)
        if length < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
        elif length < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, length)
        with self.lock:
            self.connection.sendall(
                head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def send(self, text):
        self._send(1, text.encode())

    def send_binary(self, data):
        self._send(2, data)

    def receive(self):
        """The next text; None when the server has closed."""
        data = self.receive_bytes()
        return None if data is None else data.decode()

    def receive_bytes(self):
        """The next message, whether text or binary; None when the server has closed."""
        text = b""
        while True:
            first, second = self._take(2)
            length = second & 127
            if length == 126:
                length = struct.unpack("!H", self._take(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", self._take(8))[0]
            data = self._take(length)
            opcode = first & 15
            if opcode == 9:
                self._send(10, data)
            elif opcode == 8:
                self.close_code = struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005
                self.close_reason = data[2:].decode()
                return None
            elif opcode in (0, 1, 2):
                text += data
                if first & 0x80:
                    return text

    def close(self):
        try:
            self._send(8, struct.pack("!H", 1000))
        except OSError:
            pass
        self.cut()

    def cut(self):
        """Breaks the connection. Who reads from it closes it: a poll of a closed one waits for ever."""
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Task:
    def __init__(self, payload):
        self.arn = payload["arn"]
        self.payload = payload
        self.desired = payload["desiredStatus"]
        self.status = "NONE"  # As it was last told: RUNNING, STOPPED.
        self.admitted = False  # It has left the queue of the host's resources.
        self.containers = {one["name"]: {"status": "NONE"} for one in payload.get("containers", [])}


def problem_of(task):
    """Why TaskFromACS would not take the task; None: it would. agent/api/task/task.go."""
    for container in task.get("containers", []):
        if set(json.loads(container.get("overrides", "{}"))) - {"command"}:
            return f"container overrides: {container['overrides']}"
        docker = container.get("dockerConfig", {})
        for member, known in (("config", DOCKER_CONFIG), ("hostConfig", DOCKER_HOST_CONFIG)):
            unknown = set(json.loads(docker.get(member) or "{}")) - known
            if unknown:
                return f"dockerConfig.{member} has {sorted(unknown)}"
        if container.get("healthCheckType") not in (None, "", "docker"):
            return f"healthCheckType {container['healthCheckType']}"
        if container.get("healthCheckType") == "docker" and \
                "Healthcheck" not in json.loads(docker.get("config", "{}")):
            return "healthCheckType without a Healthcheck"
    return None


def gpus_of(payload):
    return [one["name"] for one in payload.get("associations") or [] if one["type"] == "gpu"]


def resource_problem_of(task):
    """Why PostUnmarshalTask fails, whatever the agent knows of the task; None: it does not.

    addGPUResource of agent/api/task/task.go: the containers are those of this very payload.
    """
    names = {one["name"] for one in task.get("containers") or []}
    for one in task.get("associations") or []:
        if one["type"] != "gpu":
            continue
        if len(one["containers"]) != 1:
            return f"could not associate multiple containers to GPU {one['name']}"
        if one["containers"][0] not in names:
            return (f"could not find container with name {one['containers'][0]} for associating "
                    f"GPU {one['name']}")
    return None


class OfficialAgent:
    """One machine. start() and kill() are the life of its process; the rest of it is its disk."""

    def __init__(self, url, key, secret, region="us-east-1", cluster="default", gpus=(),
                 external=True, cpu=4096, memory=7800, ca_file=None, identity=""):
        self.wire = Wire(url, key, secret, region, ca_file)
        self.cluster = cluster
        self.external = external
        self.gpus = list(gpus)
        self.cpu = cpu
        self.memory = memory
        self.identity = identity
        # agent.db: kept over a restart.
        self.arn = None
        self.highest = 0  # task-manifest-seq-num
        self.tasks = {}
        # agent/engine/host_resource_manager.go: who has which GPU, and one queue for all tasks.
        self.gpu_owners = {}
        self.queue = []
        # Of the process.
        self.messages = []  # (type, message) of the control stream, in order.
        self.sent = []
        self.credentials = {}  # By credentialsId. Memory only.
        self.manifest_id = None
        self.protocol_version = "2"
        self.send_credentials = True
        self.acs = None
        self.tcs = None
        self.tcs_messages = []
        self.polite = True  # False: stops answering heartbeats.
        self.lazy = False  # True: does not acknowledge payloads.
        self.refuse = None  # A word; tasks of that family are not understood.
        self.changed = threading.Condition()
        self.threads = []
        self.sockets = []  # All that were opened.
        self.opened = 0  # Attempts of keep_connected().

    # ---- the API

    def attributes(self):
        named = [{"name": name} for name in CAPABILITIES]
        named += [{"name": "ecs.os-type", "value": "linux"},
                  {"name": "ecs.os-family", "value": "LINUX"}]
        if self.external:
            named += [{"name": "ecs.capability.external"},
                      {"name": "ecs.cpu-architecture", "value": "x86_64"}]
        if self.gpus:
            named += [{"name": "ecs.capability.nvidia-driver-version.535.129.03"},
                      {"name": "ecs.capability.gpu-driver-version", "value": "535.129.03"}]
        return named

    def register(self):
        """registerContainerInstance and validateRegisteredAttributes of ecs_client.go."""
        ports = ["22", "2375", "2376", "51678", "51679"]
        sent = self.attributes()
        body = {
            "cluster": self.cluster, "attributes": sent, "clientToken": str(uuid.uuid4()),
            "instanceIdentityDocument": self.identity, "instanceIdentityDocumentSignature": "",
            "totalResources": [
                {"name": "CPU", "type": "INTEGER", "integerValue": self.cpu},
                {"name": "MEMORY", "type": "INTEGER", "integerValue": self.memory},
                {"name": "PORTS", "type": "STRINGSET", "stringSetValue": ports},
                {"name": "PORTS_UDP", "type": "STRINGSET", "stringSetValue": []}],
            "platformDevices": [{"id": one, "type": "GPU"} for one in self.gpus]}
        if self.arn:
            body["containerInstanceArn"] = self.arn
        answer = self.wire.call("RegisterContainerInstance", body)["containerInstance"]
        told = {one["name"]: one.get("value") for one in answer["attributes"]}
        for one in sent:
            assert one["name"] in told and told[one["name"]] == one.get("value"), \
                f"the agent would exit: {one} is not echoed"
        assert told.get("ecs.availability-zone"), "no ecs.availability-zone"
        self.arn = answer["containerInstanceArn"]
        return answer

    def submit(self, arn, status, containers, reason=None, **more):
        """SubmitTaskStateChange; null members are sent, as the agent does."""
        answer = self.wire.call("SubmitTaskStateChange", {
            "cluster": self.cluster, "task": arn, "status": status, "reason": reason,
            "containers": containers, **more})
        assert "acknowledgment" in answer, answer
        return answer

    # ---- the process

    def start(self):
        self.gpu_owners = {gpu: one.arn for one in self.tasks.values()
                           if one.admitted and one.status != "STOPPED"
                           for gpu in gpus_of(one.payload)}
        self.register()
        found = self.wire.call("DiscoverPollEndpoint", {
            "cluster": self.cluster, "containerInstance": self.arn, "zoneId": ""})
        self.endpoint = found["endpoint"]
        self.telemetry_endpoint = found["telemetryEndpoint"]
        self.connect()
        self.connect_telemetry()
        return self

    def socket_url(self, endpoint, query):
        scheme = {"http": "ws", "https": "wss"}[urllib.parse.urlsplit(endpoint).scheme]
        rest = endpoint.split("://", 1)[1]
        return f"{scheme}://{rest}/ws?{urllib.parse.urlencode(sorted(query.items()))}"

    def open_socket(self, url):
        """Two openings within one second have one signature, which is good once: the agent backs off
        and tries again."""
        try:
            return WebSocket(self.wire, url)
        except Refused as refused:
            if refused.code != "InvalidSignatureException":
                raise
        time.sleep(1.1)
        return WebSocket(self.wire, url)

    def acs_url(self):
        return self.socket_url(self.endpoint, {
            "clusterArn": self.cluster, "containerInstanceArn": self.arn, "agentHash": "8dfceca6",
            "agentVersion": VERSION, "dockerVersion": "DockerVersion: 20.10.24",
            "protocolVersion": self.protocol_version,
            "sendCredentials": str(self.send_credentials).lower(), "seqNum": "1"})

    def connect(self):
        """Opens a control stream; the one before stays open, as when the agent renews it."""
        before = self.acs
        self.acs = self.open_socket(self.acs_url())
        self.send_credentials = False  # After the first success of the process.
        self._follow(self.acs, self._on_acs)
        return before

    def keep_connected(self, attempts=100):
        """ecs-agent/acs/session/session.go, Start and reconnectDelay, instead of connect().

        Gives the time that it waits then, in seconds, once there is one; at once comes back who was
        sent away in good order, at most `attempts` times.
        """
        for _ in range(attempts):
            self.opened += 1
            try:
                self.connect()
            except Refused as refused:
                return self._delay_after(0, str(refused))
            self.threads[-1].join()
            delay = self._delay_after(self.acs.close_code, self.acs.close_reason)
            if delay:
                return delay
        return 0

    @staticmethod
    def _delay_after(code, reason):
        if code in (1000, 1001, 1006, 1011):  # permissibleCloseCode of wsclient/client.go
            return 0
        return 3600 if "InactiveInstanceException" in reason else 0.25

    def connect_telemetry(self):
        url = self.socket_url(self.telemetry_endpoint, {
            "cluster": self.cluster, "containerInstance": self.arn, "agentVersion": VERSION,
            "agentHash": "8dfceca6", "dockerVersion": "20.10.24"})
        self.tcs_url = url
        self.tcs = self.open_socket(url)
        self._follow(self.tcs, lambda _, kind, message: self._note(
            lambda: self.tcs_messages.append((kind, message))))

    def use_key(self, key, secret):
        """Another one stands in its environment when it starts next."""
        self.wire.credentials = botocore.credentials.Credentials(key, secret)

    def kill(self):
        """kill -9: the streams break, what is only in memory is gone, the disk stays."""
        for one in self.sockets:
            one.cut()
        self.sockets = []
        self.acs = self.tcs = None
        self.credentials = {}
        self.manifest_id = None
        self.send_credentials = True
        self.messages = []
        self.tcs_messages = []

    def close(self):
        self.kill()
        for thread in self.threads:
            thread.join(10)

    def _follow(self, web_socket, handle):
        self.sockets.append(web_socket)

        def work():
            try:
                while (text := web_socket.receive()) is not None:
                    # ecs-agent/wsclient/decode.go
                    envelope = json.loads(text)
                    handle(web_socket, envelope["type"], envelope.get("message"))
            except (OSError, ConnectionError):
                pass
            web_socket.connection.close()
            self._note(lambda: self.messages.append(("closed", None))
                       if web_socket is self.acs else None)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.threads.append(thread)

    def _note(self, do):
        with self.changed:
            do()
            self.changed.notify_all()

    def wait(self, ask, what, seconds=20):
        end = time.monotonic() + seconds
        with self.changed:
            while not (answer := ask()):
                if time.monotonic() > end:
                    raise AssertionError(f"not within {seconds} s: {what}; heard "
                                         f"{[kind for kind, _ in self.messages]}")
                self.changed.wait(0.2)
            return answer

    def of(self, kind):
        return [message for one, message in list(self.messages) if one == kind]

    # ---- the control stream

    def _answer(self, web_socket, kind, message):
        self.sent.append((kind, message))
        web_socket.send(json.dumps({"type": kind, "message": message}))

    def _ack(self, web_socket, message_id):
        self._answer(web_socket, "AckRequest", {
            "cluster": self.cluster, "containerInstance": self.arn, "messageId": message_id})

    def _on_acs(self, web_socket, kind, message):
        handler = {"HeartbeatMessage": self._on_heartbeat, "PayloadMessage": self._on_payload,
                   "TaskManifestMessage": self._on_manifest,
                   "TaskStopVerificationAck": self._on_stop_ack,
                   "IAMRoleCredentialsMessage": self._on_credentials}.get(kind)

        def take():
            # What a message did and that it came are seen together.
            if handler:
                handler(web_socket, message)
            self.messages.append((kind, message))
        self._note(take)

    def _on_heartbeat(self, web_socket, message):
        if self.polite:
            self._answer(web_socket, "HeartbeatAckRequest", {"messageId": message["messageId"]})

    def _keep(self, credentials, message_id, web_socket):
        if not credentials:
            return
        self.credentials[credentials["credentialsId"]] = credentials
        self._answer(web_socket, "IAMRoleCredentialsAckRequest", {
            "credentialsId": credentials["credentialsId"],
            "expiration": credentials["expiration"], "messageId": message_id})

    def _on_credentials(self, web_socket, message):
        assert message["roleType"] in ("TaskApplication", "TaskExecution"), message
        self._keep(message["roleCredentials"], message["messageId"], web_socket)

    def _on_payload(self, web_socket, message):
        """payload_responder.go: acknowledged as a whole or not at all; stops come first."""
        if not all(message.get(one) for one in ("clusterArn", "containerInstanceArn", "messageId")):
            return
        self.highest = max(self.highest, message["seqNum"])
        understood = True
        failed = []
        for task in sorted(message["tasks"], key=lambda one: one["desiredStatus"] != "STOPPED"):
            problem = problem_of(task)
            if self.refuse and task["family"] == self.refuse:
                problem = "this test does not understand it"
            if problem:
                understood = False
                self.submit(task["arn"], "STOPPED", [], reason=f"UnrecogniedTaskError: {problem}")
                continue
            self._keep(task.get("roleCredentials"), message["messageId"], web_socket)
            self._keep(task.get("executionRoleCredentials"), message["messageId"], web_socket)
            problem = self.gpus and resource_problem_of(task)
            if problem:
                failed.append((task["arn"], problem))
                continue
            known = self.tasks.get(task["arn"])
            if known is None:
                known = self.tasks[task["arn"]] = Task(task)
                self.queue.append(known)
            else:
                known.desired = task["desiredStatus"]  # An upsert: only this matters.
            self._admit()
        for arn, problem in failed:
            self._fail_resources(arn, problem)
        if understood and not self.lazy:
            self._ack(web_socket, message["messageId"])

    def _fail_resources(self, arn, problem):
        """AddTask of agent/engine/docker_task_engine.go: what the task has started goes on.

        Its resources are given back by what this payload says, which is nothing, and its name is
        taken off them: they stay consumed until the agent starts anew.
        """
        for gpu, owner in self.gpu_owners.items():
            if owner == arn:
                self.gpu_owners[gpu] = "nobody"
        self.submit(arn, "STOPPED", [],
                    reason=f"resource cannot be initialized for task {arn}: {problem}")

    def _admit(self):
        """One queue: who waits for a GPU holds up all that is behind it."""
        while self.queue:
            task = self.queue[0]
            wanted = gpus_of(task.payload)
            if task.desired == "RUNNING":
                if any(gpu in self.gpu_owners for gpu in wanted):
                    return
                self.gpu_owners.update(dict.fromkeys(wanted, task.arn))
            task.admitted = True
            del self.queue[0]

    def _on_manifest(self, web_socket, message):
        """task_manifest_responder.go: one that is not newer than all is dropped without an ack."""
        if message["timeline"] <= self.highest:
            return
        self.highest = message["timeline"]
        self.manifest_id = message["messageId"]
        self._ack(web_socket, message["messageId"])
        wanted = {one["taskArn"] for one in message.get("tasks") or [] if one["desiredStatus"] == "RUNNING"}
        extra = [one for one in self.tasks.values() if one.status != "STOPPED"
                 and one.arn not in wanted]
        if extra:
            self._answer(web_socket, "TaskStopVerificationMessage", {
                "messageId": self.manifest_id, "stopCandidates": [
                    {"taskArn": one.arn, "taskClusterArn": one.payload.get("taskClusterArn", ""),
                     "desiredStatus": "STOPPED"} for one in extra]})

    def _on_stop_ack(self, _, message):
        if message["messageId"] != self.manifest_id:
            return
        self.manifest_id = None
        for one in message["stopTasks"]:
            if one["taskArn"] in self.tasks:
                self.tasks[one["taskArn"]].desired = "STOPPED"

    # ---- what a test makes of it

    def wait_task(self, arn, desired="RUNNING", seconds=20):
        return self.wait(lambda: self.tasks.get(arn) if self.tasks.get(arn) and
                         self.tasks[arn].desired == desired else None,
                         f"a payload of {arn} with {desired}", seconds)

    def change_of(self, task, name, status, **more):
        one = task.containers[name]
        one.update(status=status, **more)
        return {"containerName": name, "runtimeId": f"docker-{name}", "exitCode": None,
                "networkBindings": [], "reason": None, **one}

    def run(self, task, image_digest="sha256:" + "a" * 64):
        """All containers have reached their steady state."""
        self.wait(lambda: task.admitted, f"the host's resources for {task.arn}")
        now = time.time()
        task.status = "RUNNING"
        self.submit(task.arn, "RUNNING", [
            self.change_of(task, name, "RUNNING", imageDigest=image_digest)
            for name in task.containers], pullStartedAt=now - 2, pullStoppedAt=now - 1)

    def flush(self, task):
        """A batch of container events: the task's present status is repeated with them."""
        self.submit(task.arn, task.status, [
            self.change_of(task, name, one["status"]) for name, one in task.containers.items()])

    def finish(self, task, exit_code=0, reason=None):
        task.status = "STOPPED"
        self.submit(task.arn, "STOPPED", [
            self.change_of(task, name, "STOPPED", exitCode=exit_code)
            for name in task.containers], reason=reason, executionStoppedAt=time.time())
        with self.changed:
            self.gpu_owners = {gpu: owner for gpu, owner in self.gpu_owners.items()
                               if owner != task.arn}
            self._admit()
            self.changed.notify_all()

    def secrets_of(self, task, container):
        """(environment, options of the log driver) that its secrets become.

        agent/taskresource/ssmsecret: answers are found again under the name that was asked for, and
        what is not found is empty. populateContainerSecrets of agent/api/task/task.go sorts them.
        """
        keys = task.payload["executionRoleCredentials"]
        asked = next(one for one in task.payload["containers"] if one["name"] == container)["secrets"]

        def client(service):
            return boto3.session.Session(
                keys["accessKeyId"], keys["secretAccessKey"], keys["sessionToken"],
                self.wire.region).client(service, endpoint_url=self.wire.url.geturl())
        environment, options = {}, {}
        for one in asked:
            if one["provider"] == "ssm":
                told = client("ssm").get_parameters(Names=[one["valueFrom"]], WithDecryption=True)
                value = {each["Name"]: each["Value"] for each in told["Parameters"]}.get(
                    one["valueFrom"], "")
            else:
                value = client("secretsmanager").get_secret_value(
                    SecretId=one["valueFrom"])["SecretString"]
            if one["type"] == "ENVIRONMENT_VARIABLE":
                environment[one["name"]] = value
            elif one["target"] == "LOG_DRIVER":
                options[one["name"]] = value
        return environment, options

    # ---- the telemetry stream

    def publish(self, kind, message):
        """A frame is a block of signed headers, a blank line, and the envelope."""
        signed = self.wire.signature("GET", self.tcs_url.replace("+", "%20"))
        block = {"Host": self.wire.url.netloc, **signed}
        text = "".join(f"{name}: {value}\r\n" for name, value in sorted(block.items()))
        self.tcs.send(text + "\r\n" + json.dumps({"type": kind, "message": message}))

    def publish_idle_metrics(self):
        self.publish("PublishMetricsRequest", {
            "metadata": {"cluster": self.cluster, "containerInstance": self.arn, "idle": True,
                         "fin": True, "messageId": str(uuid.uuid4())},
            "taskMetrics": [], "timestamp": time.time()})

    def publish_health(self, task, **health):
        self.publish("PublishHealthRequest", {
            "metadata": {"cluster": self.cluster, "containerInstance": self.arn, "fin": True,
                         "messageId": str(uuid.uuid4())},
            "tasks": [{"taskArn": task.arn, "taskDefinitionFamily": task.payload["family"],
                       "taskDefinitionVersion": task.payload["version"],
                       "containers": [{"containerName": name, "healthStatus": status,
                                       "statusSince": time.time()}
                                      for name, status in health.items()]}],
            "timestamp": time.time()})

    def publish_status(self, status):
        self.publish("PublishInstanceStatusRequest", {
            "metadata": {"cluster": self.cluster, "containerInstance": self.arn,
                         "requestId": str(uuid.uuid4())},
            "statuses": [{"type": "ContainerRuntime", "status": status,
                          "lastStatusChange": time.time(), "lastUpdated": time.time()}],
            "timestamp": time.time()})
