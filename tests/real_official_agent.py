"""The official ECS agent itself, as a process of a test, from the binary that BERTH_OFFICIAL_AGENT names.

What ecs-init does around it is done here: the file that tells it of GPUs, in a mount namespace of its
own. GPUs are made up, so that no driver is needed: Docker's own runtime stands in for NVIDIA's, and
the agent has to think itself on EC2, whose instance metadata is a few answers of this process.
"""

import http.server
import json
import os
import re
import shutil
import tempfile
import threading

from harness import Process

# Where the agent looks for GPUs; ecs-init writes it when a machine starts.
GPU_FILE = "/var/lib/ecs/gpu/nvidia-gpu-info.json"


class InstanceMetadata:
    """Of an EC2 instance in a VPC, as much of it as the agent asks for when it starts."""

    MAC = "0e:00:00:00:00:01"
    IDENTITY = {"instanceId": "i-0123456789abcdef0", "instanceType": "p3.8xlarge",
                "region": "us-east-1", "availabilityZone": "us-east-1a", "accountId": "123456789012"}

    def __init__(self):
        answers = {
            "meta-data/instance-id": self.IDENTITY["instanceId"], "meta-data/mac": self.MAC,
            f"meta-data/network/interfaces/macs/{self.MAC}/vpc-id": "vpc-1",
            f"meta-data/network/interfaces/macs/{self.MAC}/subnet-id": "subnet-1",
            "meta-data/placement/availability-zone": "us-east-1a",
            "meta-data/placement/availability-zone-id": "use1-az1",
            "meta-data/placement/region": "us-east-1",
            "dynamic/instance-identity/document": json.dumps(self.IDENTITY),
            "dynamic/instance-identity/signature": "none"}

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, text):
                body = (text or "").encode()
                self.send_response(404 if text is None else 200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("X-aws-ec2-metadata-token-ttl-seconds", "21600")
                try:
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:
                    pass  # The agent did not wait for it; it asks again.

            def do_PUT(self):
                self.answer("token")

            def do_GET(self):
                self.answer(answers.get(self.path.removeprefix("/latest/")))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class RealOfficialAgent:
    """One machine with the agent on it. `environment` is what `berth token create --official` printed;
    with `gpus` it is an EC2 instance with these."""

    def __init__(self, environment, docker, gpus=()):
        self.folder = tempfile.mkdtemp(prefix="berth-official-")
        self.metadata = InstanceMetadata() if gpus else None
        self.log = os.path.join(self.folder, "agent.log")
        settings = {
            # Those of the machine's user are none of the agent's.
            **{name: "" for name in os.environ if name.startswith("AWS_")}, **environment, **docker.environment(), "ECS_DATADIR": self.folder, "ECS_CHECKPOINT": "true",
            "ECS_LOGFILE": self.log, "ECS_LOGLEVEL": "debug",
            "ECS_AUDIT_LOGFILE": os.path.join(self.folder, "audit.log"),
            # What a test's machine lacks: cgroups of the agent's own, and an image of a registry.
            "ECS_ENABLE_TASK_CPU_MEM_LIMIT": "false", "ECS_IMAGE_PULL_BEHAVIOR": "prefer-cached",
            "ECS_CONTAINER_STOP_TIMEOUT": "2s"}
        command = [os.environ["BERTH_OFFICIAL_AGENT"]]
        if gpus:
            settings |= {"ECS_EXTERNAL": "false", "ECS_ENABLE_GPU_SUPPORT": "true",
                         "ECS_NVIDIA_RUNTIME": "runc",
                         "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.metadata.url}
            told = os.path.join(self.folder, "gpus.json")
            with open(told, "w") as file:
                json.dump({"DriverVersion": "535.129.03", "GPUIDs": list(gpus)}, file)
            command = ["unshare", "--mount", "sh", "-c",
                       f"mount -t tmpfs none /var/lib && mkdir -p {os.path.dirname(GPU_FILE)} && "
                       f"cp {told} {GPU_FILE} && exec {command[0]}"]
        self.command, self.settings, self.process = command, settings, None
        self.start()

    def start(self):
        self.process = Process("official-agent", self.command, self.settings)

    def said(self, pattern):
        """The lines of its log in which the pattern is found."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, errors="replace") as file:
            return [line for line in file if re.search(pattern, line)]

    def output(self):
        return self.process.output() + "".join(self.said(""))[-6000:]

    def close(self):
        self.process.close()
        if self.metadata:
            self.metadata.close()
        shutil.rmtree(self.folder, ignore_errors=True)
