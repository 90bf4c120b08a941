"""What sessions of ExecuteCommand leave in CloudWatch Logs: whatever speaks to them, whatever breaks."""

import itertools
import json
import os
import signal
import subprocess
import unittest

import harness
from harness import BERTH, Agent, Server, SmallDisk, Tasks
from test_exec import BadLine, Plugin, Terminal


def shown(events):
    """The lines of the output: of much of it several are one event."""
    return "\n".join(events[1:-1]).split("\n")


def told(line):
    """What an event of the session's own says."""
    return json.loads(line)


class Logging(unittest.TestCase):
    """A server with a task, and a log group for each test."""

    @classmethod
    def start(cls, *options, **members):
        cls.server = Server(*options, **members)
        cls.groups = (f"/audit/{i}" for i in itertools.count())

    @classmethod
    def run_task(cls):
        cls.server.wait_connected()
        cls.tasks = Tasks(cls.server)
        cls.tasks.register("idle", {"memory": 32, **harness.shell(
            "trap exit TERM; sleep 600 & wait")})
        cls.task = cls.tasks.run("idle", enableExecuteCommand=True)
        cls.tasks.wait(cls.task, "RUNNING")

    def configure(self, **configuration):
        self.tasks.ecs.update_cluster(cluster="default", configuration={
            "executeCommandConfiguration": configuration})

    def audit(self):
        """A new log group, in which the sessions of the cluster are logged now."""
        group = next(self.groups)
        self.tasks.logs.create_log_group(logGroupName=group)
        self.configure(logging="OVERRIDE", logConfiguration={"cloudWatchLogGroupName": group})
        return group

    def streams(self, group):
        return [one["logStreamName"] for one in self.tasks.logs.describe_log_streams(
            logGroupName=group)["logStreams"]]

    def only_log(self, group):
        """The lines of the one session that is logged there."""
        streams = self.streams(group)
        self.assertEqual(1, len(streams), streams)
        self.assertRegex(streams[0], r"\Aecs-execute-command-[0-9a-z]{17}\Z")
        return self.tasks.lines(group, streams[0])

    def ended_log(self, group):
        """Those lines, once the last of them is there."""
        def ended():
            lines = self.only_log(group) if self.streams(group) else []
            return lines if lines and lines[-1].startswith('{"berthExec":"end"') else None
        return harness.wait_for(ended, "the end is logged")

    def command(self, *command, task=None, options=()):
        return [BERTH, "exec", task or self.task, "--data", self.server.data, *options, "--", *command]

    def exec(self, *command, given=b"", **more):
        return subprocess.run(self.command(*command, **more), input=given, capture_output=True,
                              timeout=60)

    def start_exec(self, *command, stdin=subprocess.DEVNULL):
        process = subprocess.Popen(self.command(*command), stdin=stdin, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def session(self, command):
        return self.tasks.ecs.execute_command(
            task=self.task, command=command, interactive=True)["session"]


class ExecLogging(Logging):
    @classmethod
    def setUpClass(cls):
        cls.start("--emulate", "c5.large")
        cls.run_task()

    @classmethod
    def tearDownClass(cls):
        cls.tasks.finish(cls.task)
        cls.server.close()

    def test_a_piped_command_is_logged_with_who_what_where_and_how_it_ended(self):
        group = self.audit()
        done = self.exec("sh", "-c", "cat; echo err >&2; exit 3", given=b"one\n\ntwo\xff")
        self.assertEqual((b"one\n\ntwo\xff", b"err\n", 3), (done.stdout, done.stderr, done.returncode))
        # Nothing is waited for: the session is over, so it is there.
        lines = self.only_log(group)
        begin = told(lines[0])
        self.assertEqual(
            {"berthExec": "begin", "sessionId": self.streams(group)[0],
             "callerArn": f"arn:aws:iam::{self.server.account}:root", "taskArn": self.task,
             "containerName": "main", "command": "'sh' '-c' 'cat; echo err >&2; exit 3'",
             "terminal": False}, begin)
        self.assertEqual(sorted(["one", "two\ufffd", "err"]), sorted(lines[1:-1]))
        self.assertEqual({"berthExec": "end", "sessionId": begin["sessionId"], "exitCode": 3},
                         told(lines[-1]))

    def test_the_aws_command_line_reads_it(self):
        group = self.audit()
        self.assertEqual(0, self.exec("echo", "hello").returncode)
        shown = subprocess.run(
            ["aws", "logs", "get-log-events", "--log-group-name", group, "--log-stream-name",
             self.streams(group)[0], "--start-from-head", "--query", "events[].message", "--output",
             "json", "--endpoint-url", self.server.url], capture_output=True, text=True, timeout=120,
            check=True, env={**os.environ, "AWS_ACCESS_KEY_ID": self.server.key,
                             "AWS_SECRET_ACCESS_KEY": self.server.secret,
                             "AWS_DEFAULT_REGION": self.server.region}).stdout
        self.assertEqual("hello", json.loads(shown)[1])

    def test_a_terminal_is_logged_as_it_was_shown_and_what_is_typed_unseen_is_not(self):
        group = self.audit()
        session = self.session("sh")
        plugin = Plugin(self.server, session)
        plugin.until(lambda: plugin.ready, "the handshake")
        plugin.send(b"stty -echo; echo re''ady\n")
        plugin.until(lambda: b"ready" in plugin.output, "the shell is silent")
        plugin.send(b"printf 'pass''word? '; read -r x\n")
        plugin.until(lambda: b"password? " in plugin.output, "the question")
        plugin.send(b"correct horse battery\n")
        plugin.send(b"stty echo; echo length $(( ${#x} ))\n")
        plugin.until(lambda: b"length 21" in plugin.output, "the length")
        plugin.send(b"exit 5\n")
        plugin.until(lambda: plugin.closed, "the end")
        self.assertIn("exit code 5", plugin.closed["Output"])
        lines = self.only_log(group)
        self.assertEqual([session["sessionId"]], self.streams(group))
        self.assertTrue(told(lines[0])["terminal"])
        self.assertEqual(5, told(lines[-1])["exitCode"])
        # Without the line ends, which are no part of events.
        shown = plugin.output.decode().replace("\r", "").replace("\n", "")
        self.assertEqual(shown, "".join(lines[1:-1]).replace("\r", ""))
        self.assertNotIn("horse", "".join(lines))

    def test_berth_exec_with_a_terminal_is_logged(self):
        group = self.audit()
        terminal = Terminal(*self.command("sh"))
        self.addCleanup(terminal.close)
        terminal.until(rb"[#$] ")
        terminal.type(b"echo six times seven is $((6 * 7))\n")
        terminal.until(rb"seven is 42\r\n")
        terminal.type(b"exit 7\n")
        self.assertEqual(7, terminal.process.wait(30))
        lines = self.only_log(group)
        self.assertIn("six times seven is 42", lines)
        self.assertEqual((True, 7), (told(lines[0])["terminal"], told(lines[-1])["exitCode"]))

    def test_a_plugin_that_comes_back_leaves_each_line_once(self):
        group = self.audit()
        plugin = Plugin(self.server, self.session(
            "sh -c 'i=0; while [ $i -lt 30000 ]; do echo $i; i=$((i+1)); done'"))
        ssm = self.server.client("ssm")
        for size in (1000, 60000):
            plugin.until(lambda: len(plugin.output) > size, "output")
            plugin.socket.cut()
            self.assertTrue(plugin.resume(ssm))
        plugin.until(lambda: plugin.closed, "the end")
        self.assertEqual([str(i) for i in range(30000)], shown(self.only_log(group)))

    def test_much_output_is_there_when_the_session_is_over(self):
        group = self.audit()
        self.assertEqual(0, self.exec("seq", "200000").returncode)
        lines = self.only_log(group)
        self.assertEqual([str(i) for i in range(1, 200001)], shown(lines))

    def test_none_logs_nothing_and_default_does_as_the_container_does(self):
        group = self.audit()
        self.tasks.register("logged", {"memory": 32, "logConfiguration": harness.awslogs("/app"),
                                       **harness.shell("trap exit TERM; sleep 600 & wait")})
        task = self.tasks.run("logged", enableExecuteCommand=True)
        self.addCleanup(self.tasks.finish, task)
        self.tasks.wait(task, "RUNNING")
        of_sessions = lambda: [one for one in self.streams("/app")
                               if one.startswith("ecs-execute-command-")]
        self.configure(logging="NONE")
        self.assertEqual(0, self.exec("echo", "unheard", task=task).returncode)
        self.assertEqual([], of_sessions())
        self.configure(logging="DEFAULT")
        self.assertEqual(0, self.exec("echo", "heard", task=task).returncode)
        stream, = of_sessions()
        self.assertEqual("heard", self.tasks.lines("/app", stream)[1])
        # Of a container without awslogs nothing is logged.
        self.assertEqual(0, self.exec("echo", "unheard").returncode)
        self.assertEqual([], self.streams(group))
        self.assertEqual(1, len(of_sessions()))

    def test_without_its_group_the_session_goes_on_and_the_server_says_so_once(self):
        self.configure(logging="OVERRIDE", logConfiguration={"cloudWatchLogGroupName": "nowhere"})
        done = self.exec("sh", "-c", "echo a; echo b; exit 4")
        self.assertEqual((b"a\nb\n", 4), (done.stdout, done.returncode))
        said = [line for line in self.server.output().splitlines() if "log group nowhere" in line]
        self.assertEqual(1, len(said), said)
        self.assertIn("The specified log group does not exist.", said[0])

    def test_a_group_that_is_deleted_meanwhile_does_not_end_the_session(self):
        group = self.audit()
        plugin = Plugin(self.server, self.session("sh -c 'echo up; read x; echo still; read x'"))
        plugin.until(lambda: b"up" in plugin.output, "it is up")
        harness.wait_for(lambda: "up" in self.only_log(group), "it is logged")
        self.tasks.logs.delete_log_group(logGroupName=group)
        plugin.send(b"\n")
        plugin.until(lambda: b"still" in plugin.output, "it goes on")
        harness.wait_for(lambda: f"logged no further in the log group {group}:" in
                         self.server.output(), "the server says so")
        plugin.send(b"\n")
        plugin.until(lambda: plugin.closed, "the end")
        self.assertIn("exit code 0", plugin.closed["Output"])

    def test_a_session_that_is_ended_says_why(self):
        group = self.audit()
        session = self.session("sh -c 'echo up; sleep 600'")
        plugin = Plugin(self.server, session)
        plugin.until(lambda: b"up" in plugin.output, "it is up")
        self.server.client("ssm").terminate_session(SessionId=session["sessionId"])
        plugin.until(lambda: plugin.closed, "the end")
        lines = self.ended_log(group)  # Unlike a command's own end, this one is told before.
        self.assertEqual("up", lines[1])
        self.assertEqual("The session was terminated.", told(lines[-1])["reason"])

    def test_a_client_that_goes_away_ends_its_log_too(self):
        group = self.audit()
        process = self.start_exec("sh", "-c", "echo up; sleep 600")
        self.assertEqual(b"up\n", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(130, process.wait(20))
        self.assertEqual("The client has closed the session.",
                         told(self.ended_log(group)[-1])["reason"])


class ExecLoggingOverABadLine(Logging):
    @classmethod
    def setUpClass(cls):
        cls.line = BadLine()
        cls.start("--emulate", "c5.large", "--advertise", cls.line.url, start=False)
        cls.line.server_port = cls.server.port
        cls.server.start()
        cls.run_task()

    @classmethod
    def tearDownClass(cls):
        cls.tasks.finish(cls.task)
        cls.server.close()
        cls.line.close()

    def test_berth_exec_that_comes_back_leaves_each_line_once(self):
        group = self.audit()
        self.line.cuts = 4
        done = self.exec("sh", "-c", "seq 300000; exit 3")
        self.assertEqual((3, b""), (done.returncode, done.stderr))
        self.assertEqual(5, self.line.sessions)
        expected = [str(i) for i in range(1, 300001)]
        self.assertEqual(expected, done.stdout.decode().split())
        lines = self.only_log(group)
        self.assertEqual(expected, shown(lines))
        self.assertEqual(3, told(lines[-1])["exitCode"])


class ExecLoggingOfAServer(Logging):
    """A server and its agent that are ended apart."""

    def begin_server(self, **members):
        type(self).start(command="server", **members)
        self.addCleanup(self.server.close)
        agent = Agent(self.server, "--emulate", "c5.large")
        self.addCleanup(agent.close)
        type(self).run_task()
        return self.audit()

    def begin_session(self, group):
        process = self.start_exec("sh", "-c", "echo up; sleep 600")
        self.assertEqual(b"up\n", process.stdout.readline())
        return group

    def test_what_was_written_outlives_a_server_that_is_killed(self):
        group = self.begin_session(self.begin_server())
        harness.wait_for(lambda: "up" in self.only_log(group), "it is logged")
        before = self.only_log(group)
        self.server.kill()
        self.server.start()
        self.assertEqual(before, self.only_log(group))
        self.assertEqual(("begin", "up", 2), (told(before[0])["berthExec"], before[1], len(before)))
        self.server.wait_connected()
        self.tasks.finish(self.task)

    def test_a_server_that_stops_writes_the_rest(self):
        group = self.begin_session(self.begin_server())
        self.assertEqual(0, self.server.stop())
        self.server.start()
        lines = self.only_log(group)
        self.assertEqual("up", lines[1])
        self.assertEqual("The server stops.", told(lines[-1])["reason"])
        self.server.wait_connected()
        self.tasks.finish(self.task)

    def test_a_full_disk_holds_up_nothing_and_what_was_said_meanwhile_is_logged_afterwards(self):
        disk = SmallDisk(32)
        self.addCleanup(disk.close)
        group = self.begin_server(data=os.path.join(disk.path, "data"))
        process = self.start_exec("sh", "-c", "while read n; do seq $n; done; exit 2",
                                  stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        expected = []

        def count_to(number):
            process.stdin.write(b"%d\n" % number)
            process.stdin.flush()
            for line in range(1, number + 1):
                self.assertEqual(b"%d\n" % line, process.stdout.readline())
                expected.append(str(line))
        count_to(3)
        harness.wait_for(lambda: self.only_log(group)[1:] == expected, "it is logged")
        disk.fill()
        count_to(100000)
        harness.wait_for(lambda: f"is not logged in the log group {group} for now" in
                         self.server.output(), "the server says so")
        count_to(4)
        process.stdin.close()
        self.assertEqual(2, process.wait(30))
        disk.free()
        harness.wait_for(lambda: self.only_log(group)[-1].startswith('{"berthExec":"end"'),
                         "the rest is logged")
        lines = self.only_log(group)
        self.assertEqual(expected, shown(lines))
        self.assertEqual(2, told(lines[-1])["exitCode"])
        self.tasks.finish(self.task)


if __name__ == "__main__":
    unittest.main()
