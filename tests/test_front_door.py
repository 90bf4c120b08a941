"""What somebody without a key can do to those who have one: nothing that they notice.

Everything here is done by one thread, from the same address as the calls that must succeed."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import harness
from harness import Server, wait_for
from official_agent import OfficialAgent, Refused
from overload import resident_mib

BODY = 6 << 20  # As much as the service takes that takes the most.
TARGET = "Logs_20140328.PutLogEvents"
CALLS = 40
MOST_MIB = 150  # Of the server while it goes on, idle ones and the program included.


def connect(server):
    one = socket.create_connection(("127.0.0.1", server.port), 10)
    one.setblocking(False)
    return one


class Flood:
    """Connections that each send the same, as much as the server takes, and are made anew when they
    are closed."""

    def __init__(self, server, count, payload):
        self.server, self.count, self.payload = server, count, payload
        self.open = {}
        self.sent = 0

    def fill(self):
        """Until the server takes no more; for some seconds where it always does."""
        end = time.monotonic() + 8
        quiet = 0
        while quiet < 5 and time.monotonic() < end:
            before = self.sent
            self.step()
            quiet = quiet + 1 if self.sent == before else 0
            if quiet:
                time.sleep(0.05)

    def step(self):
        for one, left in list(self.open.items()):
            try:
                if left:
                    sent = one.send(left[:1 << 20])
                    self.open[one] = left[sent:]
                    self.sent += sent
                elif not one.recv(4096):
                    raise ConnectionError
            except BlockingIOError:
                pass
            except OSError:
                one.close()
                del self.open[one]
        for _ in range(min(self.count - len(self.open), 100)):
            try:
                self.open[connect(self.server)] = memoryview(self.payload)
            except OSError:
                break

    def close(self):
        for one in self.open:
            one.close()


class FrontDoor(unittest.TestCase):
    def calls_go_on(self, count, payload):
        """Root's calls during the flood, and how long the slowest took."""
        server = Server("--rate-limit", "0", command="server")
        self.addCleanup(server.close)
        flood = Flood(server, count, payload)
        self.addCleanup(flood.close)
        flood.fill()
        slowest = 0.0
        for _ in range(CALLS):
            flood.step()
            start = time.monotonic()
            reply = server.call("ListClusters", {})
            slowest = max(slowest, time.monotonic() - start)
            self.assertEqual(200, reply.status, reply.body[:300])
        self.assertLess(slowest, 5)
        self.assertLess(resident_mib(server.process), MOST_MIB)

    def test_large_bodies_that_are_half_sent(self):
        head = (f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: {TARGET}\r\n"
                f"Content-Length: {BODY}\r\n\r\n").encode()
        self.calls_go_on(74, head + b"x" * (BODY - 100_000))

    def test_large_bodies_of_a_key_that_is_not_there(self):
        day = time.strftime("%Y%m%d", time.gmtime())
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        head = (f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Date: {now}\r\nAuthorization: "
                f"AWS4-HMAC-SHA256 Credential=AKIDNOBODY/{day}/us-east-1/logs/aws4_request, "
                f"SignedHeaders=host;x-amz-date;x-amz-target, Signature={'0' * 64}\r\n"
                f"X-Amz-Target: {TARGET}\r\n"
                f"Content-Length: {BODY}\r\n\r\n").encode()
        self.calls_go_on(74, head + b"x" * (BODY - 100_000))

    def test_heads_that_do_not_end(self):
        self.calls_go_on(2500, b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 60_000)

    def test_websockets_to_sessions_that_are_not_there(self):
        upgrade = (b"GET /exec/session/x HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
                   b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n")
        frame = b"\x82\xff" + (900_000).to_bytes(8, "big") + b"abcd" + b"x" * 800_000
        self.calls_go_on(300, upgrade + frame)

    def test_a_session_that_is_not_there_is_refused_before_its_websocket_is_open(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        with socket.create_connection(("127.0.0.1", server.port), 10) as one:
            one.sendall(b"GET /exec/session/x HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
                        b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n")
            self.assertIn(b"HTTP/1.1 400", one.recv(4096).split(b"\r\n")[0])


class AgentKeys(unittest.TestCase):
    def setUp(self):
        self.server = Server(command="server")
        self.addCleanup(self.server.close)

    def key(self):
        made = self.server.call("CreateAgentKey", {}, service="berth",
                                target="BerthV20260101.CreateAgentKey").json()
        return made["accessKeyId"], made["secretAccessKey"]

    def agent(self, **more):
        agent = OfficialAgent(self.server.url, *self.key(), **more)
        self.addCleanup(agent.close)
        return agent

    def revoke(self, agent):
        subprocess.run([harness.BERTH, "token", "revoke", agent.wire.credentials.access_key,
                        "--data", self.server.data], check=True, timeout=30)

    def test_the_opening_of_a_websocket_cannot_be_used_again(self):
        agent = self.agent()
        agent.start()
        target = agent.tcs_url.split(f":{self.server.port}", 1)[1]
        url = f"{self.server.url}{target}"

        def opening(signed):
            lines = [f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{self.server.port}",
                     "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                     "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
                     *(f"{name}: {value}" for name, value in signed.items())]
            with socket.create_connection(("127.0.0.1", self.server.port), 10) as one:
                one.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
                return one.recv(4096)
        time.sleep(1.1)  # Not in the second in which the agent opened its own.
        signed = agent.wire.signature("GET", url)
        self.assertIn(b" 101 ", opening(signed).split(b"\r\n")[0])
        self.assertIn(b"has opened a websocket already", opening(signed))
        self.server.stop()
        time.sleep(1.1)  # Signatures tell seconds.
        self.server.start()
        self.assertIn(b"older than the server", opening(signed))

    def test_a_key_that_is_taken_back_ends_what_it_has_opened(self):
        agent = self.agent()
        agent.start()
        acs, tcs = agent.acs, agent.tcs
        other = self.agent()
        other.start()
        self.revoke(agent)
        wait_for(lambda: 1006 not in (acs.close_code, tcs.close_code),
                 "both streams are closed", 5)
        with self.assertRaises(Refused):
            agent.wire.call("DiscoverPollEndpoint", {"containerInstance": agent.arn})
        self.assertEqual((1006, 1006), (other.acs.close_code, other.tcs.close_code))

    def test_a_token_from_a_file_or_standard_input_is_in_no_list_of_processes(self):
        made = self.server.call("CreateJoinToken", {"uses": 2}, service="berth",
                                target="BerthV20260101.CreateJoinToken").json()["token"]
        folder = tempfile.mkdtemp(prefix="berth-token-")
        self.addCleanup(shutil.rmtree, folder)
        with open(f"{folder}/token", "w") as file:
            file.write(made + "\n")
        for number, source in enumerate((["--token-file", f"{folder}/token"], ["--token", "-"])):
            data = f"{folder}/agent{number}"
            with open(f"{folder}/token") as token:
                agent = subprocess.Popen(
                    [harness.BERTH, "agent", "--server", self.server.url, "--data", data,
                     "--emulate", "c5.large", *source], stdin=token, stderr=subprocess.PIPE,
                    stdout=subprocess.PIPE, text=True, env={
                        **os.environ, **self.server.docker.environment()})
            self.addCleanup(agent.communicate)
            self.addCleanup(agent.terminate)
            wait_for(lambda: os.path.exists(f"{data}/agent-key.json") and
                     "accessKeyId" in open(f"{data}/agent-key.json").read(), "it has joined")
            with open(f"/proc/{agent.pid}/cmdline") as line:
                self.assertNotIn(made, line.read())

    def test_a_gpu_of_another_is_refused_and_told_until_the_operator_says_it_is_the_same_machine(self):
        first = self.agent(gpus=["GPU-one"])
        first.register()
        second = self.agent(gpus=["GPU-one"])
        with self.assertRaises(Refused) as refused:
            second.register()
        self.assertEqual("ClientException", refused.exception.code)
        key = second.wire.credentials.access_key
        told = wait_for(lambda: [line for line in self.server.output().splitlines()
                                 if "was refused" in line], "the log says so", 5)
        self.assertIn("127.0.0.1", told[0])
        self.assertIn(key, told[0])
        instance = first.arn.rsplit("/", 1)[1]

        def said(*words):
            done = subprocess.run([harness.BERTH, *words, "--data", self.server.data],
                                  capture_output=True, text=True, timeout=60)
            return " ".join(done.stdout.split())
        claim = f"GPU GPU-one claimed by 127.0.0.1 with the key {key}"
        self.assertIn(claim, said("nodes"))
        self.assertIn(f"berth token rebind {instance} KEY",
                      said("doctor", "--docker-host", "tcp://127.0.0.1:1"))
        subprocess.run([harness.BERTH, "token", "rebind", instance[:8], key, "--data", self.server.data],
                       check=True, timeout=30)
        self.assertNotIn("claimed by", said("nodes"))
        second.register()
        with self.assertRaises(Refused):
            first.register()


if __name__ == "__main__":
    unittest.main()
