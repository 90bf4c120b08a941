"""Backup while the server runs, restore into a stopped one, and stores that are damaged."""

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import threading
import time
import unittest

import botocore.exceptions

from harness import BERTH, Agent, Process, Server, Tasks, shell, wait_for


def berth(*arguments):
    return subprocess.run([BERTH, *arguments], capture_output=True, text=True, timeout=120)


def write_checksums(path):
    """Gives the pages of a database that another program has written to the checksums that Berth
    wants (src/sqlite/checksum_vfs.h)."""
    size = 4096
    with open(path, "r+b") as file:
        content = file.read()
        for offset in range(0, len(content), size):
            page = content[offset:offset + size - 8]
            if not any(page):
                continue
            value = 0xCBF29CE484222325
            number = offset // size + 1
            for byte in number.to_bytes((number.bit_length() + 7) // 8, "little") + page:
                value = (value ^ byte) * 0x100000001B3 % 2 ** 64
            file.seek(offset + size - 8)
            file.write(value.to_bytes(8, "little"))


class Backup(unittest.TestCase):
    def setUp(self):
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.folder = tempfile.mkdtemp(prefix="berth-backup-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "backup.berth")
        self.ecs = self.server.client("ecs")
        self.logs = self.server.client("logs")

    def backup(self, *options):
        done = berth("backup", self.file, "--data", self.server.data, *options)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def refused(self, *arguments):
        """What it says on standard error."""
        done = berth(*arguments)
        self.assertEqual(1, done.returncode, done)
        self.assertIn("berth: ", done.stderr)
        return done.stderr

    def clusters(self):
        arns = self.ecs.list_clusters()["clusterArns"]
        return {arn.rsplit("/", 1)[1] for arn in arns}

    def events(self, group="g"):
        told = self.logs.get_log_events(logGroupName=group, logStreamName="s", startFromHead=True)
        return [one["message"] for one in told["events"]]

    def put_event(self, text):
        self.logs.put_log_events(logGroupName="g", logStreamName="s", logEvents=[
            {"timestamp": int(time.time() * 1000), "message": text}])

    def make_log(self):
        self.logs.create_log_group(logGroupName="g")
        self.logs.create_log_stream(logGroupName="g", logStreamName="s")


class BackUpAndRestore(Backup):
    def test_what_was_backed_up_comes_back_and_what_was_there_is_kept(self):
        self.ecs.create_cluster(clusterName="before")
        self.make_log()
        self.put_event("first")
        told = json.loads(self.backup("--json"))
        names = {one["name"] for one in told["files"]}
        self.assertLessEqual({"state.db", "logs.db", "credentials.json"}, names)
        key = self.server.key
        self.ecs.create_cluster(clusterName="after")
        self.put_event("second")
        self.assertEqual(0, self.server.stop())

        done = berth("restore", self.file, "--data", self.server.data, "--json")
        self.assertEqual(0, done.returncode, done.stderr)
        replaced = json.loads(done.stdout)["replaced"]
        self.server.start()
        self.assertEqual(key, self.server.key)
        self.assertEqual({"default", "before"}, self.clusters())
        self.assertEqual(["first"], self.events())

        # What was replaced is a whole data directory of its own.
        self.assertEqual(0, self.server.stop())
        other = Server(command="server", data=replaced)
        self.addCleanup(other.close)
        arns = other.client("ecs").list_clusters()["clusterArns"]
        self.assertEqual({"default", "before", "after"}, {arn.rsplit("/", 1)[1] for arn in arns})

    def test_into_an_empty_directory_on_another_machine(self):
        self.ecs.create_cluster(clusterName="moved")
        self.backup()
        self.assertEqual(0, self.server.stop())
        data = os.path.join(self.folder, "new", "data")
        done = berth("restore", self.file, "--data", data)
        self.assertEqual(0, done.returncode, done.stderr)
        other = Server(command="server", data=data)
        self.addCleanup(other.close)
        self.assertEqual(self.server.key, other.key)
        arns = other.client("ecs").list_clusters()["clusterArns"]
        self.assertEqual({"default", "moved"}, {arn.rsplit("/", 1)[1] for arn in arns})

    def test_a_backup_while_calls_come_holds_all_that_was_acknowledged_before_it(self):
        stop = threading.Event()
        made = []
        def make():
            ecs = self.server.client("ecs")
            while not stop.is_set():
                ecs.create_cluster(clusterName=f"c-{len(made)}")
                made.append(f"c-{len(made)}")
        maker = threading.Thread(target=make)
        maker.start()
        try:
            wait_for(lambda: len(made) > 20, "some clusters are there")
            for number in range(5):
                acknowledged = list(made)
                self.file = os.path.join(self.folder, f"{number}.berth")
                self.backup()
                restored = os.path.join(self.folder, f"data-{number}")
                done = berth("restore", self.file, "--data", restored)
                self.assertEqual(0, done.returncode, done.stderr)
                with sqlite3.connect(os.path.join(restored, "state.db")) as state:
                    keys = {row[0] for row in state.execute("SELECT key FROM records")}
                self.assertLessEqual({f"cluster/{name}" for name in acknowledged}, keys)
        finally:
            stop.set()
            maker.join()

    def test_the_file_is_private_and_its_parts_are_read_with_sqlites_own_tool(self):
        self.backup()
        self.assertEqual(0o600, stat.S_IMODE(os.stat(self.file).st_mode))
        self.assertEqual(["backup.berth"], os.listdir(self.folder))
        with sqlite3.connect(self.file) as archive:
            for name, size, digest in archive.execute("SELECT name, size, sha256 FROM file"):
                parts = archive.execute("SELECT bytes FROM part WHERE file = ? ORDER BY number",
                                        (name,)).fetchall()
                content = b"".join(part for part, in parts)
                self.assertEqual((size, digest),
                                 (len(content), hashlib.sha256(content).hexdigest()), name)

    def test_wrong_directories_files_and_moments_are_refused(self):
        self.assertIn("no server's data", self.refused(
            "backup", self.file, "--data", os.path.join(self.folder, "none")))
        self.backup()
        self.assertIn("is there already",
                      self.refused("backup", self.file, "--data", self.server.data))
        running = self.refused("restore", self.file, "--data", self.server.data)
        self.assertIn(f"process {self.server.process.child.pid}", running)
        self.assertIn("stopped server", running)
        self.assertEqual({"default"}, self.clusters())
        self.assertEqual(0, self.server.stop())
        before = sorted(os.listdir(self.server.data))
        self.assertIn("no file", self.refused("restore", self.file + "x", "--data",
                                              self.server.data))
        other = os.path.join(self.folder, "other")
        with open(other, "wb") as file:
            file.write(b"not a backup at all" * 1000)
        self.assertIn("no backup", self.refused("restore", other, "--data", self.server.data))
        self.assertIn("not a backup", self.refused(
            "restore", os.path.join(self.server.data, "state.db"), "--data", self.server.data))
        self.assertEqual(before, sorted(name for name in os.listdir(self.server.data)
                                        if not name.endswith(("-wal", "-shm"))))

    def test_a_damaged_backup_changes_nothing(self):
        self.ecs.create_cluster(clusterName="kept")
        self.backup()
        self.assertEqual(0, self.server.stop())
        before = sorted(os.listdir(self.server.data))
        with open(self.file, "rb") as file:
            whole = file.read()
        def damaged(content):
            with open(self.file, "wb") as file:
                file.write(content)
            said = self.refused("restore", self.file, "--data", self.server.data)
            self.assertEqual(before, sorted(os.listdir(self.server.data)), said)
            return said
        for size in (0, 1, 100, 4096, len(whole) // 2, len(whole) - 4096):
            with self.subTest(size=size):
                damaged(whole[:size])
        marker = whole.find(b"cluster/kept")
        self.assertGreater(marker, 0)
        changed = whole[:marker] + b"X" + whole[marker + 1:]
        self.assertIn(f"page {marker // 4096 + 1} of it has not the checksum", damaged(changed))
        with open(self.file, "wb") as file:
            file.write(changed)
        write_checksums(self.file)
        with open(self.file, "rb") as file:
            self.assertIn("not what was backed up", damaged(file.read()))
        with open(self.file, "wb") as file:
            file.write(whole)
        archive = sqlite3.connect(self.file)
        archive.execute("PRAGMA user_version=2")
        archive.commit()
        archive.close()
        write_checksums(self.file)
        self.assertIn("format 2", self.refused("restore", self.file, "--data", self.server.data))
        self.server.start()
        self.assertEqual({"default", "kept"}, self.clusters())

    def test_a_restore_that_was_cut_off_keeps_the_server_from_starting_until_it_is_done(self):
        self.ecs.create_cluster(clusterName="kept")
        self.backup()
        self.assertEqual(0, self.server.stop())
        with open(os.path.join(self.server.data, "restore-unfinished"), "w"):
            pass
        os.unlink(os.path.join(self.server.data, "state.db"))
        said = self.refused("server", "--data", self.server.data, "--listen", "127.0.0.1:0")
        self.assertIn("cut off", said)
        self.assertIn("berth restore", said)
        done = berth("restore", self.file, "--data", self.server.data)
        self.assertEqual(0, done.returncode, done.stderr)
        self.server.start()
        self.assertEqual({"default", "kept"}, self.clusters())


class Damage(Backup):
    """Each kind of damage: it does not start, says which file it is and what to do."""

    def setUp(self):
        super().setUp()
        for number in range(50):
            self.ecs.create_cluster(clusterName=f"cluster-{number}")
        self.make_log()
        for number in range(50):
            self.put_event(f"{number}: " + "x" * 400)
        self.backup()
        self.assertEqual(0, self.server.stop())

    def path(self, name):
        return os.path.join(self.server.data, name)

    def check(self, name, change):
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(self.path(name + suffix)):
                shutil.copy(self.path(name + suffix), os.path.join(self.folder, "kept" + suffix))
        change(self.path(name))
        there = os.path.exists(self.path(name))
        said = self.refused("server", "--data", self.server.data, "--listen", "127.0.0.1:0",
                            "--account", self.server.account)
        self.assertIn(self.path(name), said)
        self.assertIn(f"berth restore FILE --data {self.server.data}", said)
        self.assertEqual(there, os.path.exists(self.path(name)), "it was begun anew")
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(os.path.join(self.folder, "kept" + suffix)):
                shutil.move(os.path.join(self.folder, "kept" + suffix), self.path(name + suffix))

    @staticmethod
    def resize(size):
        return lambda path: os.truncate(path, size)

    @staticmethod
    def overwrite(offset, content):
        def change(path):
            with open(path, "r+b") as file:
                file.seek(offset, os.SEEK_SET if offset >= 0 else os.SEEK_END)
                file.write(content)
        return change

    def kinds(self, name):
        pages = os.path.getsize(self.path(name)) // 4096
        kinds = {"empty": self.resize(0), "one byte": self.resize(1),
                 "one page": self.resize(4096), "half": self.resize(pages // 2 * 4096),
                 "garbage": self.overwrite(0, os.urandom(8192)),
                 "text": self.overwrite(0, b"once upon a time" * 1000)}
        for page in range(1, min(pages, 6)):
            kinds[f"bad page {page}"] = self.overwrite(page * 4096, b"\x5a" * 4096)
        return kinds

    def test_of_the_state(self):
        for kind, change in self.kinds("state.db").items():
            with self.subTest(kind):
                self.check("state.db", change)
        with self.subTest("gone"):
            self.check("state.db", os.unlink)
        self.server.start()
        self.assertEqual(51, len(self.clusters()))

    def test_of_the_logs(self):
        """The log service is closed and says why; everything else runs."""
        for kind, change in self.kinds("logs.db").items():
            with self.subTest(kind):
                for suffix in ("", "-wal", "-shm"):
                    if os.path.exists(self.path("logs.db" + suffix)):
                        shutil.copy(self.path("logs.db" + suffix),
                                    os.path.join(self.folder, "kept" + suffix))
                change(self.path("logs.db"))
                self.server.start()
                self.assertEqual(51, len(self.clusters()))
                with self.assertRaises(botocore.exceptions.ClientError) as caught:
                    self.events()
                told = caught.exception.response["Error"]
                self.assertEqual("ServiceUnavailableException", told["Code"])
                self.assertIn(self.path("logs.db"), told["Message"])
                self.assertIn("The log service is closed", self.server.output())
                doctor = berth("doctor", "--json", "--data", self.server.data)
                found, = [one for one in json.loads(doctor.stdout)["checks"]
                          if one["name"] == "logs.db"]
                self.assertEqual("fail", found["state"], found)
                self.assertEqual(0, self.server.stop())
                for suffix in ("", "-wal", "-shm"):
                    if os.path.exists(os.path.join(self.folder, "kept" + suffix)):
                        shutil.move(os.path.join(self.folder, "kept" + suffix),
                                    self.path("logs.db" + suffix))
        self.server.start()
        self.assertEqual(50, len(self.events()))

    def test_of_a_record_that_nobody_understands(self):
        def change(path, value):
            with sqlite3.connect(path) as state:
                state.execute("UPDATE records SET value = ? WHERE key = 'cluster/cluster-7'",
                              (value,))
            state.close()
            write_checksums(path)
        with sqlite3.connect(self.path("state.db")) as state:
            value, = state.execute(
                "SELECT value FROM records WHERE key = 'cluster/cluster-7'").fetchone()
        change(self.path("state.db"), '{"status": 7')
        said = self.refused("server", "--data", self.server.data, "--listen", "127.0.0.1:0",
                            "--account", self.server.account)
        self.assertIn("cluster/cluster-7", said)
        self.assertIn("berth restore FILE", said)
        change(self.path("state.db"), value)
        self.server.start()
        self.assertEqual(51, len(self.clusters()))

    def test_of_the_credentials(self):
        for content in (b"", b"{", b"\0" * 100, b'{"accessKeyId": 1}'):
            with self.subTest(content):
                path = self.path("credentials.json")
                with open(path, "rb") as file:
                    before = file.read()
                with open(path, "wb") as file:
                    file.write(content)
                said = self.refused("server", "--data", self.server.data, "--listen",
                                    "127.0.0.1:0")
                self.assertIn(path, said)
                with open(path, "wb") as file:
                    file.write(before)

    def test_a_newer_store_is_refused_and_left_alone(self):
        for name, sql in (("state.db", "UPDATE meta SET value = 99 WHERE name = 'format'"),
                          ("logs.db", "PRAGMA user_version=99")):
            with self.subTest(name):
                database = sqlite3.connect(self.path(name))
                database.execute(sql)
                database.commit()
                database.close()
                write_checksums(self.path(name))
                said = self.refused("server", "--data", self.server.data, "--listen",
                                    "127.0.0.1:0")
                self.assertIn(f"{self.path(name)} has format 99", said)
                self.assertIn("newer version", said)
                done = berth("restore", self.file, "--data", self.server.data)
                self.assertEqual(0, done.returncode, done.stderr)

    def test_the_backup_of_a_damaged_store_is_refused(self):
        self.overwrite(2 * 4096, b"\x5a" * 4096)(self.path("state.db"))
        file = os.path.join(self.folder, "of-damaged")
        self.assertIn("damaged", self.refused("backup", file, "--data", self.server.data))
        self.assertFalse(os.path.exists(file))


class RestoredTooEarly(unittest.TestCase):
    """A server that is older than what its agents run."""

    def test_tasks_that_the_backup_does_not_know_are_stopped(self):
        server = Server("--emulate", "c5.large")
        self.addCleanup(server.close)
        server.wait_connected(1)
        folder = tempfile.mkdtemp(prefix="berth-backup-")
        self.addCleanup(shutil.rmtree, folder)
        tasks = Tasks(server)
        sleeps = tasks.register("sleeps", {"memory": 8, "stopTimeout": 2,
                                           **shell("exec sleep 900")})
        known = tasks.run(sleeps)
        tasks.wait(known, "RUNNING")
        file = os.path.join(folder, "b")
        self.assertEqual(0, berth("backup", file, "--data", server.data).returncode)
        unknown = tasks.run(sleeps)
        tasks.wait(unknown, "RUNNING")
        self.assertEqual(2, len(server.containers(running_only=True)))
        self.assertEqual(0, server.stop())
        done = berth("restore", file, "--data", server.data)
        self.assertEqual(0, done.returncode, done.stderr)
        server.start()
        server.wait_connected(1)
        wait_for(lambda: len(server.containers(running_only=True)) == 1, "the other one stops")
        tasks.wait(known, "RUNNING")
        tasks.finish(known)


class AgentsOfLater(unittest.TestCase):
    """Agents that joined after the backup which was restored."""

    def setUp(self):
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        folder = tempfile.mkdtemp(prefix="berth-backup-")
        self.addCleanup(shutil.rmtree, folder)
        self.file = os.path.join(folder, "b")
        self.assertEqual(0, berth("backup", self.file, "--data", self.server.data).returncode)

    def restore(self):
        self.assertEqual(0, self.server.stop())
        done = berth("restore", self.file, "--data", self.server.data)
        self.assertEqual(0, done.returncode, done.stderr)
        self.server.start()

    def instances(self):
        arns = self.server.client("ecs").list_container_instances()["containerInstanceArns"]
        return [arn.rsplit("/", 1)[1] for arn in arns]

    def test_one_whose_key_is_known_registers_anew_and_ends_its_tasks(self):
        agent = Agent(self.server, "--emulate", "c5.large")
        self.addCleanup(agent.close)
        self.server.wait_connected(1)
        before = self.instances()
        tasks = Tasks(self.server)
        task = tasks.run_containers("sleeps", {"stopTimeout": 2, **shell("exec sleep 900")})
        tasks.wait(task, "RUNNING")
        self.restore()
        self.server.wait_connected(1)
        self.assertNotEqual(before, self.instances())
        self.assertIn("registers anew", agent.output())
        wait_for(lambda: not self.server.containers(running_only=True), "its task has ended")
        task = tasks.run_containers("ends", shell("exit 3"))
        self.assertEqual(3, tasks.wait(task, "STOPPED")["containers"][0]["exitCode"])

    def test_one_whose_key_is_not_known_says_what_to_do_and_joins_with_a_new_token(self):
        def token():
            done = berth("token", "create", "--data", self.server.data, "--json")
            self.assertEqual(0, done.returncode, done.stderr)
            return json.loads(done.stdout)["token"]
        agent = Agent(self.server, "--emulate", "c5.large", "--token", token())
        self.addCleanup(agent.close)
        self.server.wait_connected(1)
        self.restore()
        wait_for(lambda: "berth token create" in agent.output(), "it says what to do")
        self.assertIn("UnrecognizedClientException", agent.output())
        agent.process.terminate()
        agent.options = ("--emulate", "c5.large", "--token", token())
        agent.start()
        self.server.wait_connected(1)


class JournalOfAnAgent(unittest.TestCase):
    def test_a_damaged_one_is_refused_and_named(self):
        server = Server(command="server")
        self.addCleanup(server.close)
        folder = tempfile.mkdtemp(prefix="berth-agent-")
        self.addCleanup(shutil.rmtree, folder)
        environment = {**server.environment, "AWS_ACCESS_KEY_ID": server.key,
                       "AWS_SECRET_ACCESS_KEY": server.secret, "AWS_REGION": server.region}
        command = [BERTH, "agent", "--server", server.url, "--data", folder, "--emulate",
                   "c5.large"]
        first = Process("agent", command, environment)
        self.addCleanup(first.close)
        first.wait_line("ready: ")
        self.assertEqual(0, first.terminate())
        path = os.path.join(folder, "agent.db")
        with open(path, "rb") as file:
            whole = file.read()
        for content in (b"", whole[:1], whole[:4096], b"\x5a" * len(whole),
                        whole[:4096] + b"\x5a" * 4096 + whole[8192:]):
            with self.subTest(len(content)):
                for suffix in ("-wal", "-shm"):
                    if os.path.exists(path + suffix):
                        os.unlink(path + suffix)
                with open(path, "wb") as file:
                    file.write(content)
                again = Process("agent", command, environment)
                self.addCleanup(again.close)
                self.assertEqual(1, again.child.wait(30), again.output())
                self.assertIn(path, again.output())
                self.assertIn("damaged" if content[:1] == whole[:1] and len(content) > 4096
                              else "Corrupt", again.output())
                with open(path, "rb") as file:
                    self.assertEqual(content, file.read(), "it was begun anew")
