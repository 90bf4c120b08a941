"""Commands in running containers: `berth exec`, and a peer that speaks as the plugin behind
`aws ecs execute-command` does.

The plugin itself is not to be had here. Source of what the peer does:
github.com/aws/session-manager-plugin, src/message and src/datachannel.
"""

import hashlib
import json
import struct
import subprocess
import time
import unittest
import uuid

import botocore.exceptions

import harness
from harness import BERTH, Server, Tasks
from official_agent import WebSocket, Wire


def frame_of(kind, sequence, payload, payload_type, flags=0, identity=None):
    """SerializeClientMessage of clientmessage.go."""
    identity = (identity or uuid.uuid4()).bytes
    return (struct.pack("!I32sIQqQ", 116, kind.encode().ljust(32), 1, int(time.time() * 1000),
                        sequence, flags) + identity[8:] + identity[:8]
            + hashlib.sha256(payload).digest() + struct.pack("!II", payload_type, len(payload))
            + payload)


def message_of(frame):
    length, kind, version, _, sequence, flags = struct.unpack("!I32sIQqQ", frame[:64])
    assert length == 116 and version == 1, frame[:64]
    payload_type, size = struct.unpack("!II", frame[112:120])
    payload = frame[120:]
    assert size == len(payload) and hashlib.sha256(payload).digest() == frame[80:112]
    return (kind.decode().rstrip(), sequence, flags, payload_type, payload,
            uuid.UUID(bytes=frame[72:80] + frame[64:72]))


class Plugin:
    """One session of session-manager-plugin."""

    def __init__(self, server, session):
        wire = Wire(server.url, server.key, server.secret, server.region)
        self.socket = WebSocket(wire, session["streamUrl"])
        self.socket.send(json.dumps({
            "MessageSchemaVersion": "1.0", "RequestId": str(uuid.uuid4()),
            "TokenValue": session["tokenValue"], "ClientId": str(uuid.uuid4()),
            "ClientVersion": "1.2.650.0"}))
        self.sequence = 0
        self.expected = 0
        self.output = b""
        self.acknowledged = set()
        self.closed = None
        self.ready = False

    def send(self, payload, payload_type=1, times=1):
        """SendInputDataMessage; a message that is not acknowledged is sent again."""
        frame = frame_of("input_stream_data", self.sequence, payload, payload_type)
        self.sequence += 1
        for _ in range(times):
            self.socket.send_binary(frame)

    def step(self):
        """Takes one message in. False: the session is over."""
        frame = self.socket.receive_bytes()
        if frame is None:
            return False
        kind, sequence, flags, payload_type, payload, identity = message_of(frame)
        if kind == "acknowledge":
            self.acknowledged.add(json.loads(payload)["AcknowledgedMessageSequenceNumber"])
        elif kind == "channel_closed":
            self.closed = json.loads(payload)
            assert self.closed["MessageType"] == "channel_closed"
        elif kind == "output_stream_data":
            assert sequence == self.expected, (sequence, self.expected)
            assert bool(flags & 1) == (sequence == 0)
            self.expected += 1
            self.socket.send_binary(frame_of("acknowledge", 0, json.dumps({
                "AcknowledgedMessageType": kind, "AcknowledgedMessageId": str(identity),
                "AcknowledgedMessageSequenceNumber": sequence,
                "IsSequentialMessage": True}).encode(), 0, flags=3))
            if payload_type == 5:
                actions = json.loads(payload)["RequestedClientActions"]
                assert actions[0]["ActionType"] == "SessionType"
                self.send(json.dumps({
                    "ClientVersion": "1.2.650.0", "Errors": [], "ProcessedClientActions": [
                        {"ActionType": "SessionType", "ActionStatus": 1, "ActionResult": None,
                         "Error": ""}]}).encode(), 6)
            elif payload_type == 7:
                self.ready = True
            elif payload_type == 1:
                self.output += payload
        return True

    def until(self, ask, what):
        end = time.monotonic() + 30
        while not ask():
            if time.monotonic() > end or not self.step():
                raise AssertionError(f"{what}: {self.output!r} {self.closed}")


class Exec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--emulate", "c5.large")
        cls.server.wait_connected()
        cls.tasks = Tasks(cls.server)
        cls.tasks.register("idle", {"memory": 32, **harness.shell("trap exit TERM; sleep 600 & wait")})
        cls.task = cls.tasks.run("idle", enableExecuteCommand=True)
        cls.tasks.wait(cls.task, "RUNNING")

    @classmethod
    def tearDownClass(cls):
        cls.tasks.finish(cls.task)
        cls.server.close()

    def exec(self, *command, given=b""):
        return subprocess.run([BERTH, "exec", self.task, "--data", self.server.data, "--",
                               *command], input=given, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)

    def session(self, command):
        return self.tasks.ecs.execute_command(task=self.task, command=command, interactive=True)

    def test_a_command_runs_in_the_container_and_its_exit_code_comes_back(self):
        told = self.exec("sh", "-c", "echo \"it's $((6 * 7))\"; exit 3")
        self.assertIn(b"it's 42", told.stdout, told)
        self.assertEqual(3, told.returncode)

    def test_input_reaches_the_command(self):
        told = self.exec("sh", "-c", "read line; echo got:$line", given=b"hello\n")
        self.assertIn(b"got:hello", told.stdout, told)
        self.assertEqual(0, told.returncode)

    def test_a_command_that_is_not_there_says_so(self):
        told = self.exec("/no/such/program")
        self.assertNotEqual(0, told.returncode)
        self.assertIn(b"no such", (told.stdout + told.stderr).lower())

    def test_the_plugin_has_an_interactive_shell(self):
        answer = self.session("sh")
        self.assertEqual("main", answer["containerName"])
        plugin = Plugin(self.server, answer["session"])
        plugin.until(lambda: plugin.ready, "the handshake")
        plugin.send(json.dumps({"cols": 91, "rows": 33}).encode(), 3)
        plugin.send(b"stty size; echo A$((1+1))B\n", times=2)  # Repeated, and taken once.
        plugin.until(lambda: b"A2B" in plugin.output, "the shell's answer")
        plugin.until(lambda: plugin.sequence - 1 in plugin.acknowledged, "an acknowledgement")
        self.assertIn(b"33 91", plugin.output)
        self.assertEqual(1, plugin.output.count(b"\nA2B"), plugin.output)
        plugin.send(b"exit 5\n")
        plugin.until(lambda: plugin.closed, "the end")
        self.assertIn("exit code 5", plugin.closed["Output"])
        plugin.socket.cut()

    def test_a_plugin_that_goes_away_takes_its_process_with_it(self):
        plugin = Plugin(self.server, self.session("sleep 321")["session"])
        plugin.until(lambda: plugin.ready, "the handshake")
        seen = lambda: b"sleep 321" in self.exec("ps").stdout
        harness.wait_for(seen, "the process")
        plugin.socket.cut()
        harness.wait_for(lambda: not seen(), "the process is gone")

    def test_a_session_needs_its_token_and_is_good_once(self):
        session = self.session("sh")["session"]
        wrong = Plugin(self.server, {**session, "tokenValue": "0" * 64})
        self.assertFalse(wrong.step())
        with self.assertRaises(AssertionError):
            Plugin(self.server, session).until(lambda: False, "a session that has ended")

    def test_a_task_without_it_and_a_container_that_is_not_there_are_refused(self):
        other = self.tasks.run("idle")
        self.tasks.wait(other, "RUNNING")
        for members, word in (({"task": other}, "enableExecuteCommand"),
                              ({"task": "0" * 32}, "not found"),
                              ({"task": self.task, "container": "none"}, "none")):
            with self.subTest(word), \
                    self.assertRaises(botocore.exceptions.ClientError) as caught:
                self.tasks.ecs.execute_command(command="sh", interactive=True, **members)
            self.assertEqual("InvalidParameterException",
                             caught.exception.response["Error"]["Code"])
            self.assertIn(word, caught.exception.response["Error"]["Message"])
        self.tasks.finish(other)


if __name__ == "__main__":
    unittest.main()
