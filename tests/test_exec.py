"""Commands in running containers: `berth exec`, also over a line that breaks, and a peer that speaks
as the plugin behind `aws ecs execute-command` does.

The plugin itself is not to be had here. Source of what the peer does:
github.com/aws/session-manager-plugin, src/message and src/datachannel.
"""

import fcntl
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import types
import unittest
import uuid

import boto3
import botocore.exceptions

import harness
from harness import BERTH, Server, Tasks
from official_agent import WebSocket, Wire


TESTS = os.path.dirname(os.path.abspath(__file__))


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
        self.server = server
        self.session = session
        self.sequence = 0
        self.expected = 0
        self.later = {}
        self.output = b""
        self.acknowledged = set()
        self.closed = None
        self.ready = False
        self.handler_ready = True
        self.mute = False  # Its acknowledgements are lost.
        self.received = []
        self.open(session["tokenValue"])

    def open(self, token):
        wire = Wire(self.server.url, self.server.key, self.server.secret, self.server.region)
        self.socket = WebSocket(wire, self.session["streamUrl"])
        self.socket.send(json.dumps({
            "MessageSchemaVersion": "1.0", "RequestId": str(uuid.uuid4()), "TokenValue": token,
            "ClientId": str(uuid.uuid4()), "ClientVersion": "1.2.650.0"}))

    def resume(self, ssm):
        """ResumeSessionHandler of sessionhandler.go. False: the session has timed out."""
        told = ssm.resume_session(SessionId=self.session["sessionId"])
        if not told.get("TokenValue"):
            return False
        self.open(told["TokenValue"])
        return True

    def send(self, payload, payload_type=1, times=1):
        """SendInputDataMessage; a message that is not acknowledged is sent again."""
        frame = frame_of("input_stream_data", self.sequence, payload, payload_type)
        self.sequence += 1
        for _ in range(times):
            self.socket.send_binary(frame)

    def step(self):
        """Takes one message in. False: the connection is over."""
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
            assert bool(flags & 1) == (sequence == 0)
            self.received.append(sequence)
            self.take(sequence, payload_type, payload, identity)
        return True

    def take(self, sequence, payload_type, payload, identity):
        """HandleOutputMessage of streaming.go."""
        if sequence < self.expected:
            return  # Without a word.
        if sequence == self.expected and payload_type == 1 and not self.handler_ready:
            return
        if not self.mute:
            self.socket.send_binary(frame_of("acknowledge", 0, json.dumps({
                "AcknowledgedMessageType": "output_stream_data",
                "AcknowledgedMessageId": str(identity),
                "AcknowledgedMessageSequenceNumber": sequence,
                "IsSequentialMessage": True}).encode(), 0, flags=3))
        self.later[sequence] = (payload_type, payload)
        while self.expected in self.later:
            self.process(*self.later.pop(self.expected))
            self.expected += 1

    def process(self, payload_type, payload):
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

    def until(self, ask, what):
        end = time.monotonic() + 60
        while not ask():
            if time.monotonic() > end or not self.step():
                raise AssertionError(f"{what}: {self.output[-2000:]!r} {self.closed}")


def as_program(arguments):
    """session-manager-plugin as the AWS CLI calls it: nothing, or the session, the region, the
    operation, the profile, its parameters and the endpoint."""
    if not arguments:
        return
    session, region, operation, _, parameters, endpoint = arguments
    assert operation == "StartSession" and json.loads(parameters)["Target"].startswith("ecs:")
    session = json.loads(session)
    caller = types.SimpleNamespace(url=endpoint, key=os.environ["AWS_ACCESS_KEY_ID"], region=region,
                                   secret=os.environ["AWS_SECRET_ACCESS_KEY"])
    plugin = Plugin(caller, session)
    plugin.until(lambda: plugin.ready, "the handshake")
    plugin.socket.cut()
    assert plugin.resume(boto3.client("ssm", region_name=region, endpoint_url=endpoint))
    plugin.until(lambda: plugin.closed, "the end")
    sys.stdout.buffer.write(plugin.output)
    print(f"SessionId: {session['sessionId']} : {plugin.closed['Output']}")


class Terminal:
    """`berth exec` with a terminal of its own."""

    def __init__(self, *command, rows=24, columns=80):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True)
        os.close(slave)
        self.shown = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text)

    def until(self, pattern):
        """Reads until the pattern has come, and forgets all up to its end."""
        end = time.monotonic() + 30
        while not (found := re.search(pattern, self.shown)):
            ready, _, _ = select.select([self.master], [], [], 1)
            if time.monotonic() > end:
                raise AssertionError(f"{pattern} was not shown: {self.shown!r}")
            try:
                chunk = os.read(self.master, 65536) if ready else b""
            except OSError:
                raise AssertionError(f"{pattern} was not shown: {self.shown!r}") from None
            self.shown += chunk
        self.shown = self.shown[found.end():]
        return found

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class Exec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--emulate", "c5.large")
        cls.server.wait_connected()
        cls.tasks = Tasks(cls.server)
        cls.tasks.register("idle", {"memory": 32, **harness.shell(
            "trap exit TERM; sleep 600 & wait")})
        cls.task = cls.tasks.run("idle", enableExecuteCommand=True)
        cls.tasks.wait(cls.task, "RUNNING")

    @classmethod
    def tearDownClass(cls):
        cls.tasks.finish(cls.task)
        cls.server.close()

    def command(self, *command, options=()):
        return [BERTH, "exec", self.task, "--data", self.server.data, *options, "--", *command]

    def exec(self, *command, given=b"", options=()):
        return subprocess.run(self.command(*command, options=options), input=given,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    def processes(self):
        return self.exec("ps").stdout

    def session(self, command):
        return self.tasks.ecs.execute_command(task=self.task, command=command, interactive=True)

    def test_a_command_runs_in_the_container_and_its_exit_code_comes_back(self):
        told = self.exec("sh", "-c", "echo \"it's $((6 * 7))\"; exit 3")
        self.assertEqual(b"it's 42\n", told.stdout, told)
        self.assertEqual(3, told.returncode)
        for code in (0, 1, 137, 255):
            self.assertEqual(code, self.exec("sh", "-c", f"exit {code}").returncode)

    def test_output_and_standard_error_stay_apart(self):
        told = self.exec("sh", "-c", "printf out; printf err >&2; printf more; exit 4")
        self.assertEqual((b"outmore", b"err", 4), (told.stdout, told.stderr, told.returncode))

    def test_input_reaches_the_command_and_so_does_its_end(self):
        told = self.exec("sh", "-c", "read line; echo got:$line; wc -c", given=b"hello\n12345")
        self.assertEqual((b"got:hello\n5\n", 0), (told.stdout, told.returncode), told)
        told = self.exec("cat", given=b"", options=["-n"])
        self.assertEqual((b"", 0), (told.stdout, told.returncode), told)

    def test_without_input_what_the_command_line_was_given_is_left_alone(self):
        with tempfile.TemporaryFile() as file:
            file.write(b"first\nsecond\n")
            file.seek(0)
            done = subprocess.run(self.command("cat", options=["-n"]), stdin=file, timeout=60)
            self.assertEqual(0, done.returncode)
            self.assertEqual(0, os.lseek(file.fileno(), 0, os.SEEK_CUR))

    def test_there_is_a_terminal_only_where_this_end_is_one_or_wants_one(self):
        ask = ("sh", "-c", "test -t 0 && test -t 1 && echo yes || echo no")
        self.assertEqual(b"no\n", self.exec(*ask).stdout)
        self.assertEqual(b"yes\r\n", self.exec(*ask, options=["--tty"]).stdout)
        terminal = Terminal(*self.command(*ask, options=["-T"]))
        self.addCleanup(terminal.close)
        terminal.until(rb"no\r\n")
        refused = self.exec("true", options=["-t", "-T"])
        self.assertIn(b"excludes", refused.stderr)

    def test_fifty_megabytes_of_any_bytes_come_back_as_they_went(self):
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
            sent, received = hashlib.sha256(), hashlib.sha256()
            for _ in range(50):
                piece = os.urandom(1 << 20)
                sent.update(piece)
                given.write(piece)
            given.seek(0)
            begun = time.monotonic()
            done = subprocess.run(self.command("cat"), stdin=given, stdout=taken,
                                  stderr=subprocess.PIPE, timeout=300)
            print(f"50 MiB both ways in {time.monotonic() - begun:.1f} s")
            self.assertEqual((0, b""), (done.returncode, done.stderr))
            taken.seek(0)
            while chunk := taken.read(1 << 20):
                received.update(chunk)
            self.assertEqual(50 << 20, taken.tell())
            self.assertEqual(sent.hexdigest(), received.hexdigest())

    def test_a_command_that_does_not_read_its_input_ends_all_the_same(self):
        with tempfile.TemporaryFile() as given:
            given.truncate(20 << 20)
            given.seek(0)
            done = subprocess.run(self.command("sh", "-c", "head -c 3 >/dev/null; exit 6"),
                                  stdin=given, timeout=60)
            self.assertEqual(6, done.returncode)

    def test_output_waits_for_a_slow_reader_and_is_whole(self):
        process = subprocess.Popen(self.command("seq", "3000000"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.kill)
        first = os.read(process.stdout.fileno(), 100)
        # The writer comes to a halt once the window is full: it is not to be done.
        harness.wait_for(self.seq_stands_still, "the command waits")
        self.assertIsNone(process.poll())
        rest = process.stdout.read()
        process.stdout.close()
        self.assertEqual(0, process.wait(60))
        expected = b"".join(b"%d\n" % i for i in range(1, 3000001))
        self.assertEqual(hashlib.sha256(expected).hexdigest(),
                         hashlib.sha256(first + rest).hexdigest())

    def seq_stands_still(self):
        """Whether the process has spent no time for half a second."""
        ask = ("sh", "-c", "for p in /proc/[0-9]*; do grep -qs '(seq)' $p/stat && "
               "cut -d' ' -f14,15 $p/stat; done; true")
        before = self.exec(*ask).stdout
        time.sleep(0.5)  # What is looked at is whether anything happens meanwhile.
        return before and before == self.exec(*ask).stdout

    def test_whose_reader_goes_away_ends_and_takes_the_process_along(self):
        process = subprocess.Popen(self.command("sh", "-c", "while echo yyyy; do :; done #431"),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(process.kill)
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        self.assertEqual(141, process.wait(30))
        harness.wait_for(lambda: b"#431" not in self.processes(), "the process is gone")

    def test_a_terminal_passes_ctrl_c_sizes_and_the_exit_code(self):
        terminal = Terminal(*self.command("sh"), rows=31, columns=97)
        self.addCleanup(terminal.close)
        terminal.until(rb"[#$] ")
        terminal.type(b"stty size\n")
        terminal.until(rb"\r\n31 97\r\n")
        terminal.resize(40, 120)
        terminal.type(b"while [ \"$(stty size)\" != '40 120' ]; do :; done; echo resi''zed\n")
        terminal.until(rb"resized\r\n")
        # Said by the job itself, so that it has the terminal when Ctrl-C comes.
        terminal.type(b"sh -c \"echo st''arted; exec sleep 600\"\n")
        terminal.until(rb"started\r\n")
        terminal.type(b"\x03")
        terminal.type(b"echo code $?\n")
        terminal.until(rb"code 130\r\n")
        terminal.type(b"exit 7\n")
        self.assertEqual(7, terminal.process.wait(30))

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

    def test_the_aws_command_line_finds_its_way_through_the_plugin(self):
        folder = tempfile.mkdtemp(prefix="berth-plugin-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "session-manager-plugin")
        with open(path, "w") as file:
            file.write(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {TESTS!r})\n"
                       "import test_exec\ntest_exec.as_program(sys.argv[1:])\n")
        os.chmod(path, 0o755)
        done = subprocess.run(
            ["aws", "ecs", "execute-command", "--task", self.task, "--interactive", "--command",
             "sh -c 'echo six times seven is $((6 * 7))'", "--endpoint-url", self.server.url],
            capture_output=True, text=True, timeout=120, env={
                **os.environ, "PATH": folder + os.pathsep + os.environ["PATH"],
                "AWS_ACCESS_KEY_ID": self.server.key, "AWS_REGION": self.server.region,
                "AWS_SECRET_ACCESS_KEY": self.server.secret,
                "AWS_DEFAULT_REGION": self.server.region})
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("six times seven is 42", done.stdout)
        self.assertIn("exit code 0", done.stdout)

    def test_a_plugin_that_goes_away_for_good_takes_its_process_with_it(self):
        plugin = Plugin(self.server, self.session("sleep 321")["session"])
        plugin.until(lambda: plugin.ready, "the handshake")
        seen = lambda: b"sleep 321" in self.processes()
        harness.wait_for(seen, "the process")
        plugin.socket.cut()
        harness.wait_for(lambda: not seen(), "the process is gone", 90)
        self.assertFalse(plugin.resume(self.server.client("ssm")))

    def counted(self, until):
        return f"sh -c 'i=0; while [ $i -lt {until} ]; do echo $i; i=$((i+1)); done'"

    def test_a_plugin_that_lost_its_connection_comes_back_and_misses_nothing(self):
        plugin = Plugin(self.server, self.session(self.counted(200000))["session"])
        ssm = self.server.client("ssm")
        for size in (1000, 400000, 800000):
            plugin.until(lambda: len(plugin.output) > size, "output")
            plugin.socket.cut()
            self.assertTrue(plugin.resume(ssm))
        # It has taken what comes now, and its word of that is lost.
        plugin.mute = True
        plugin.until(lambda: len(plugin.output) > 1000000, "output")
        plugin.socket.cut()
        plugin.mute = False
        self.assertTrue(plugin.resume(ssm))
        plugin.until(lambda: plugin.closed, "the end")
        self.assertIn("exit code 0", plugin.closed["Output"])
        expected = b"".join(b"%d\r\n" % i for i in range(200000))
        self.assertEqual(len(expected), len(plugin.output))
        self.assertEqual(expected, plugin.output)

    def test_an_end_that_the_plugin_was_away_for_is_told_when_it_is_back(self):
        plugin = Plugin(self.server, self.session("sh -c 'read x; echo bye; exit 9'")["session"])
        plugin.until(lambda: plugin.ready, "the handshake")
        plugin.send(b"x\n")
        plugin.until(lambda: 1 in plugin.acknowledged, "the input is taken")
        plugin.socket.cut()
        harness.wait_for(lambda: b"echo bye" not in self.processes(), "the command has ended")
        self.assertTrue(plugin.resume(self.server.client("ssm")))
        plugin.until(lambda: plugin.closed, "the end")
        self.assertIn(b"bye", plugin.output)
        self.assertIn("exit code 9", plugin.closed["Output"])

    def test_output_that_the_plugin_is_not_ready_for_comes_again(self):
        plugin = Plugin(self.server, self.session("echo early")["session"])
        plugin.handler_ready = False
        # A command that is done at once does not close the channel over its own output.
        plugin.until(lambda: plugin.received.count(2) == 3, "the output, three times")
        self.assertEqual((b"", None), (plugin.output, plugin.closed))
        plugin.handler_ready = True
        plugin.until(lambda: plugin.closed, "the end")
        self.assertEqual(b"early\r\n", plugin.output)

    def test_a_pasted_flood_waits_for_the_process_and_loses_nothing(self):
        plugin = Plugin(self.server, self.session(
            "sh -c 'stty raw -echo; echo go; sleep 1; head -c 2000000 | md5sum'")["session"])
        plugin.until(lambda: b"go" in plugin.output, "the command's word")
        text = os.urandom(1000000).hex().encode()
        frames = {}
        for at in range(0, len(text), 1024):  # StreamDataPayloadSize
            frames[plugin.sequence] = frame_of("input_stream_data", plugin.sequence,
                                               text[at:at + 1024], 1)
            plugin.sequence += 1
        resender = threading.Thread(target=self.send_until_acknowledged, args=(plugin, frames))
        resender.start()
        self.addCleanup(resender.join)
        plugin.until(lambda: plugin.closed, "the end")
        self.assertIn(hashlib.md5(text).hexdigest().encode(), plugin.output)

    def send_until_acknowledged(self, plugin, frames):
        """As ResendStreamDataMessageScheduler does, in larger helpings."""
        left = sorted(frames)
        while left and not plugin.closed:
            for sequence in left:
                plugin.socket.send_binary(frames[sequence])
            time.sleep(0.1)  # ResendSleepInterval
            left = sorted(set(frames) - plugin.acknowledged)[:200]

    def test_a_session_needs_its_token_which_is_good_once(self):
        session = self.session("sh")["session"]
        wrong = Plugin(self.server, {**session, "tokenValue": "0" * 64})
        self.assertFalse(wrong.step())
        empty = Plugin(self.server, {**session, "tokenValue": ""})
        self.assertFalse(empty.step())
        plugin = Plugin(self.server, session)
        plugin.until(lambda: plugin.ready, "the handshake")
        self.assertFalse(Plugin(self.server, session).step())
        again = self.server.client("ssm").resume_session(SessionId=session["sessionId"])
        self.assertEqual(session["streamUrl"], again["StreamUrl"])
        self.assertFalse(Plugin(self.server, session).step())
        plugin.send(b"exit\n")
        plugin.until(lambda: plugin.closed, "the end")

    def test_a_session_can_be_terminated(self):
        ssm = self.server.client("ssm")
        session = self.session("sleep 654")["session"]
        plugin = Plugin(self.server, session)
        plugin.until(lambda: plugin.ready, "the handshake")
        harness.wait_for(lambda: b"sleep 654" in self.processes(), "the process")
        ssm.terminate_session(SessionId=session["sessionId"])
        plugin.until(lambda: plugin.closed, "the end")
        harness.wait_for(lambda: b"sleep 654" not in self.processes(), "the process is gone")
        self.assertNotIn("TokenValue", ssm.resume_session(SessionId=session["sessionId"]))
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            ssm.terminate_session(SessionId=session["sessionId"])
        self.assertEqual("DoesNotExistException", caught.exception.response["Error"]["Code"])

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


class BadLine:
    """A TCP proxy before the server that cuts the connections of session clients: the first `cuts`
    of them, each when so many bytes have passed."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.server_port = None
        self.cuts = 0
        self.after = 300_000
        self.sessions = 0  # Connections of session clients so far.
        self.refusing = False
        self.live = []  # Of session clients.
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        first = near.recv(65536)
        left = None
        if first.startswith(b"GET /exec/session/"):
            with self.lock:
                if self.refusing:
                    return near.close()
                self.sessions += 1
                self.live.append(near)
                if self.cuts > 0:
                    self.cuts -= 1
                    left = [self.after]
        far = socket.create_connection(("127.0.0.1", self.server_port))
        far.sendall(first)
        back = threading.Thread(target=self.carry, args=(far, near, left), daemon=True)
        back.start()
        self.carry(near, far, left)
        back.join()
        near.close()
        far.close()

    def away(self):
        """Cuts what there is, and lets nobody come until back()."""
        with self.lock:
            self.refusing = True
            for one in self.live:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def back(self):
        with self.lock:
            self.refusing = False

    @staticmethod
    def carry(source, sink, left):
        """Until either end is done, or `left` is: what is on its way then is lost."""
        try:
            while chunk := source.recv(65536):
                if left is not None:
                    left[0] -= len(chunk)
                    if left[0] < 0:
                        break
                sink.sendall(chunk)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


class ExecOverABadLine(unittest.TestCase):
    """`berth exec` comes back to its session when its connection breaks."""

    @classmethod
    def setUpClass(cls):
        cls.line = BadLine()
        cls.server = Server("--emulate", "c5.large", "--advertise", cls.line.url, start=False)
        cls.line.server_port = cls.server.port
        cls.server.start()
        cls.server.wait_connected()
        cls.tasks = Tasks(cls.server)
        cls.tasks.register("idle", {"memory": 64, **harness.shell(
            "trap exit TERM; sleep 600 & wait")})
        cls.task = cls.tasks.run("idle", enableExecuteCommand=True)
        cls.tasks.wait(cls.task, "RUNNING")

    @classmethod
    def tearDownClass(cls):
        cls.tasks.finish(cls.task)
        cls.server.close()
        cls.line.close()

    def setUp(self):
        self.line.cuts, self.line.after, self.line.sessions = 0, 300_000, 0

    def start(self, *command, **more):
        process = subprocess.Popen(
            [BERTH, "exec", self.task, "--data", self.server.data, "--", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def test_output_is_whole_and_comes_once_whatever_breaks(self):
        self.line.cuts = 6
        process = self.start("sh", "-c", "seq 500000; exit 3", stdin=subprocess.DEVNULL)
        told, errors = process.communicate(timeout=120)
        self.assertEqual((3, b""), (process.returncode, errors))
        expected = b"".join(b"%d\n" % i for i in range(1, 500001))
        self.assertEqual(len(expected), len(told))
        self.assertEqual(hashlib.sha256(expected).hexdigest(), hashlib.sha256(told).hexdigest())
        self.assertEqual(7, self.line.sessions)

    def test_input_and_output_at_once_are_whole(self):
        self.line.cuts, self.line.after = 10, 900_000
        given = os.urandom(8 << 20)
        process = self.start("cat", stdin=subprocess.PIPE)
        told, errors = process.communicate(given, timeout=120)
        self.assertEqual((0, b""), (process.returncode, errors))
        self.assertEqual(hashlib.sha256(given).hexdigest(), hashlib.sha256(told).hexdigest())
        self.assertEqual(11, self.line.sessions)

    def test_an_end_while_the_connection_is_away_is_heard_of(self):
        process = self.start("sh", "-c", "echo up; until test -e /tmp/go; do :; done; echo it; exit 5",
                             stdin=subprocess.DEVNULL)
        self.assertEqual(b"up\n", process.stdout.readline())
        container = harness.container_of(self.tasks.describe(self.task))["runtimeId"]
        inside = lambda *command: self.server.docker.run("exec", container, *command)
        self.line.away()
        self.addCleanup(self.line.back)
        inside("touch", "/tmp/go")
        harness.wait_for(lambda: "until test" not in inside("ps"), "the command has ended", 20)
        self.assertIsNone(process.poll())
        self.line.back()
        told, errors = process.communicate(timeout=60)
        self.assertEqual((5, b"it\n", b""), (process.returncode, told, errors))

    def test_a_session_that_is_over_meanwhile_is_told(self):
        process = self.start("sh", "-c", "echo up; sleep 600", stdin=subprocess.DEVNULL)
        self.assertEqual(b"up\n", process.stdout.readline())
        self.server.kill()
        self.server.start()
        _, errors = process.communicate(timeout=60)
        self.assertEqual(1, process.returncode)
        self.assertIn(b"has ended meanwhile", errors)
        self.server.wait_connected()

    def test_a_signal_ends_it_and_its_process_at_once(self):
        process = self.start("sh", "-c", "echo up; sleep 7654", stdin=subprocess.DEVNULL)
        self.assertEqual(b"up\n", process.stdout.readline())
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(130, process.wait(20))

        def gone():
            shown = subprocess.run(
                [BERTH, "exec", self.task, "--data", self.server.data, "-n", "--", "ps"],
                capture_output=True, timeout=60, check=True).stdout
            return b"sleep 7654" not in shown
        harness.wait_for(gone, "the process is gone", 20)
        self.assertLess(time.monotonic() - begun, 20, "not only when nobody has come back for 30 s")


if __name__ == "__main__":
    unittest.main()
