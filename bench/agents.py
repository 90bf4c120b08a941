#!/usr/bin/env python3
"""Many agents on one server: bench/agents.py BERTH_BINARY [AGENTS]. Called by bench/run.py.

The agents are this process, the server is another one; each agent has its two websockets, over
loopback, speaks as the ECS agent does and answers heartbeats. Figures: growth of the server's resident
memory for each agent, its CPU while nothing happens but heartbeats, and how long after a kill -9 and
a start of the server all agents are back.
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

IDLE_SECONDS = 32  # One round of heartbeats on both streams.
RETRY_SECONDS = 0.25  # The first pause of the agent's own backoff.
AT_ONCE = 200  # Connections that this process opens at the same time.


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Signer:
    """SigV4 with its key derived once."""

    def __init__(self, credentials, host):
        self.id, self.host = credentials["accessKeyId"], host
        self.date = datetime.datetime.utcnow().strftime("%Y%m%d")
        self.scope = f"{self.date}/{credentials['region']}/ecs/aws4_request"
        key = digest(b"AWS4" + credentials["secretAccessKey"].encode(), self.date)
        for part in (credentials["region"], "ecs", "aws4_request"):
            key = digest(key, part)
        self.key = key

    def headers(self, method, path, query="", body=b"", target=""):
        now = datetime.datetime.utcnow().strftime("%Y%m%dT%H%M%SZ")
        names = "host;x-amz-date" + (";x-amz-target" if target else "")
        signed = f"host:{self.host}\nx-amz-date:{now}\n"
        signed += f"x-amz-target:{target}\n" if target else ""
        canonical = (f"{method}\n{path}\n{query}\n{signed}\n{names}\n"
                     + hashlib.sha256(body).hexdigest())
        text = (f"AWS4-HMAC-SHA256\n{now}\n{self.scope}\n"
                + hashlib.sha256(canonical.encode()).hexdigest())
        return (f"Host: {self.host}\r\nX-Amz-Date: {now}\r\nAuthorization: AWS4-HMAC-SHA256 "
                f"Credential={self.id}/{self.scope}, SignedHeaders={names}, "
                f"Signature={digest(self.key, text).hex()}\r\n"
                + (f"X-Amz-Target: {target}\r\n" if target else ""))


class Server:
    def __init__(self, berth):
        self.berth, self.data, self.port = berth, tempfile.mkdtemp(prefix="berth-bench-"), 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.berth, "server", "--data", self.data, "--listen", f"127.0.0.1:{self.port}",
             "--log-level", "error", "--rate-limit", "0"], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        url = self.process.stdout.readline().split()[-1]
        self.port = urllib.parse.urlsplit(url).port
        self.credentials = json.loads((pathlib.Path(self.data) / "credentials.json").read_text())
        self.signer = Signer(self.credentials, f"127.0.0.1:{self.port}")

    def rss_kib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.data, ignore_errors=True)


def register(server, count):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    target = "AmazonEC2ContainerServiceV20141113.RegisterContainerInstance"
    arns = []
    for index in range(count):
        body = json.dumps({"cluster": "default", "totalResources": [
            {"name": "CPU", "type": "INTEGER", "integerValue": 8192},
            {"name": "MEMORY", "type": "INTEGER", "integerValue": 32000}],
            "attributes": [{"name": "ecs.capability.external"},
                           {"name": "bench.index", "value": str(index)}]}).encode()
        connection.putrequest("POST", "/", skip_host=True, skip_accept_encoding=True)
        for line in server.signer.headers("POST", "/", "", body, target).strip().split("\r\n"):
            connection.putheader(*line.split(": ", 1))
        connection.putheader("Content-Type", "application/x-amz-json-1.1")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        if answer.status != 200:
            sys.exit(f"RegisterContainerInstance: {told}")
        arns.append(told["containerInstance"]["containerInstanceArn"])
    return arns


class Stream:
    """One websocket of one agent; ready once the server has said its first word."""

    def __init__(self, arn, path, names):
        query = {names[0]: "default", names[1]: arn}
        if path.startswith("/acs"):
            query |= {"protocolVersion": "2", "sendCredentials": "true", "seqNum": "1"}
        self.path = path
        self.query = "&".join(f"{name}={urllib.parse.quote(value, safe='')}"
                              for name, value in sorted(query.items()))
        self.socket, self.buffer, self.open, self.ready = None, b"", False, False
        self.retry_at = 0.0


class Fleet:
    def __init__(self, server, arns):
        self.server = server
        self.selector = selectors.DefaultSelector()
        self.streams = []
        for arn in arns:
            self.streams.append(Stream(arn, "/acs/ws", ("clusterArn", "containerInstanceArn")))
            self.streams.append(Stream(arn, "/tcs/ws", ("cluster", "containerInstance")))
        self.waiting = list(self.streams)
        self.opening = 0

    def connect(self, stream):
        stream.socket = socket.socket()
        try:
            stream.socket.connect(("127.0.0.1", self.server.port))
        except OSError:
            return self.lost(stream, counted=False)
        nonce = base64.b64encode(os.urandom(16)).decode()
        stream.socket.sendall((
            f"GET {stream.path}?{stream.query} HTTP/1.1\r\n"
            + self.server.signer.headers("GET", stream.path, stream.query)
            + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + f"Sec-WebSocket-Key: {nonce}\r\n\r\n").encode())
        stream.socket.setblocking(False)
        self.selector.register(stream.socket, selectors.EVENT_READ, stream)
        self.opening += 1

    def lost(self, stream, counted=True):
        if counted:
            self.selector.unregister(stream.socket)
            self.opening -= not stream.open
        stream.socket.close()
        stream.buffer, stream.open, stream.ready = b"", False, False
        stream.retry_at = time.monotonic() + RETRY_SECONDS
        self.waiting.append(stream)

    def send(self, stream, message, opcode=1):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        head = (struct.pack("!BB", 0x80 | opcode, 0x80 | len(data)) if len(data) < 126 else
                struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, len(data)))
        stream.socket.sendall(head + b"\0\0\0\0" + data)  # Masked with zeros: as it is.

    def heard(self, stream, text):
        message = json.loads(text)
        stream.ready = True
        if stream.path.startswith("/acs"):
            kind = {"HeartbeatMessage": "HeartbeatAckRequest",
                    "TaskManifestMessage": "AckRequest"}.get(message["type"])
            if kind:
                self.send(stream, {"type": kind, "message": {
                    "messageId": message["message"]["messageId"]}})

    def read(self, stream):
        try:
            chunk = stream.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            return self.lost(stream)
        stream.buffer += chunk
        if not stream.open:
            if b"\r\n\r\n" not in stream.buffer:
                return
            head, stream.buffer = stream.buffer.split(b"\r\n\r\n", 1)
            if b" 101 " not in head.split(b"\r\n", 1)[0]:
                return self.lost(stream)
            stream.open = True
            stream.ready = stream.path.startswith("/tcs")
            self.opening -= 1
        while len(stream.buffer) >= 2:
            length, offset = stream.buffer[1] & 127, 2
            if length == 126:
                if len(stream.buffer) < 4:
                    return
                length, offset = struct.unpack("!H", stream.buffer[2:4])[0], 4
            if len(stream.buffer) < offset + length:
                return
            opcode, data = stream.buffer[0] & 15, stream.buffer[offset:offset + length]
            stream.buffer = stream.buffer[offset + length:]
            if opcode == 1:
                self.heard(stream, data)
            elif opcode == 9:
                self.send(stream, data, 10)
            elif opcode == 8:
                return self.lost(stream)

    def run(self, until, seconds):
        """Works the streams until `until()` or the time is over; True: it was reached."""
        end = time.monotonic() + seconds
        while not until():
            now = time.monotonic()
            if now > end:
                return False
            due, self.waiting = self.waiting, []
            for stream in due:
                if self.opening < AT_ONCE and stream.retry_at <= now:
                    self.connect(stream)  # Back in `waiting` when it fails.
                else:
                    self.waiting.append(stream)
            for key, _ in self.selector.select(0.01 if self.waiting else 0.2):
                self.read(key.data)
        return True

    def all_ready(self):
        return not self.waiting and all(stream.ready for stream in self.streams)


def say(what, value, unit, target):
    print(f"{what:55} {value:>10.2f} {unit}  (target {target})", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print(f"== {count} agents with two websockets each, in another process", flush=True)
    server = Server(sys.argv[1])
    try:
        before = server.rss_kib()
        fleet = Fleet(server, register(server, count))
        registered = server.rss_kib()
        if not fleet.run(fleet.all_ready, 120):
            sys.exit("the agents did not connect")
        fleet.run(lambda: False, 2)
        connected = server.rss_kib()
        say("RSS for each agent: registered and connected", (connected - before) / count, "KiB",
            "under 100")
        say("  of it for its registration", (registered - before) / count, "KiB", "-")
        begin, cpu = time.monotonic(), server.cpu_seconds()
        fleet.run(lambda: False, IDLE_SECONDS)
        used = (server.cpu_seconds() - cpu) / (time.monotonic() - begin) * 100
        say("CPU of one core at idle, heartbeats included", used, "%", "-")
        server.process.kill()
        server.process.wait()
        fleet.run(lambda: len(fleet.waiting) == len(fleet.streams), 5)
        begin = time.monotonic()
        server.start()
        started = time.monotonic() - begin
        if not fleet.run(fleet.all_ready, 120):
            sys.exit("not all agents came back")
        say("All agents back after the server's kill -9 and start", time.monotonic() - begin, "s",
            "under 10")
        say("  of it until the server took requests", started, "s", "-")
    finally:
        server.close()


if __name__ == "__main__":
    main()
