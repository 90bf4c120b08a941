#!/usr/bin/env python3
"""Runs run_all.py and run_units.py over made-up tests: what fails always, what fails once, what dies,
what hangs and what cannot be set up is told as what it is."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))

HARNESS = """
def begin_process(**ports):
    pass


def end_all():
    print("ended all")


class Docker:
    def answers(self):
        return True

    def make_image(self):
        pass
"""

TESTS = """
import os
import time
import unittest


def first_time(name):
    if os.path.exists(name):
        return False
    open(name, "w").close()
    return True


class Plain(unittest.TestCase):
    def test_good(self):
        pass

    def test_bad(self):
        self.assertEqual(1, 2)

    def test_flaky(self):
        self.assertFalse(first_time("flaky"))

    def test_skipped(self):
        self.skipTest("there is no GPU")

    def test_parts(self):
        for part in range(2):
            with self.subTest(part):
                self.assertEqual(part, 0)


class SetUpOnce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if first_time("set up"):
            raise OSError("no server")

    def test_a(self):
        pass

    def test_b(self):
        pass


class TearDown(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise OSError("something is left")

    def test_a(self):
        pass


class Dies(unittest.TestCase):
    def test_a(self):
        pass

    def test_b(self):
        os._exit(3)

    def test_c(self):
        pass


class Hangs(unittest.TestCase):
    def test_a(self):
        time.sleep(1000)
"""

PROGRAM = """#!/bin/sh
# Stands for a GoogleTest program: writes a report and fails as its name says.
case $(basename "$0") in dies_test) kill -KILL $$ ;; hangs_test) exec sleep 1000 ;; esac
report=${GTEST_OUTPUT#xml:}
once=$(dirname "$0")/once
bad="<failure/>"
[ "$(basename "$0")" != flaky_test ] || { [ ! -e "$once" ] || bad=""; touch "$once"; }
[ "$(basename "$0")" != good_test ] || bad=""
cat > "$report" <<XML
<testsuites><testsuite>
<testcase name="plain" classname="Suite" status="run"/><testcase name="asked" classname="Suite" status="run">$bad</testcase>
<testcase name="left" classname="Suite" status="run"><skipped/></testcase>
</testsuite></testsuites>
XML
echo "$@"
[ -z "$bad" ]
"""


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="berth-runner-")
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("run_all.py", "run_units.py", "pool.py", "kept.py"):
            shutil.copy(os.path.join(HERE, name), self.folder)
        self.write("times.json", "{}")
        self.write("harness.py", HARNESS)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(textwrap.dedent(text))

    def run_one(self, *command):
        environment = {**os.environ, "BERTH_TEST_KEPT": os.path.join(self.folder, "kept"),
                       "BERTH_LONGEST_WORK_S": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, *command], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    def told(self, output, word):
        return {line.removeprefix(f"{word}: ").split(":")[0] for line in output.splitlines()
                if line.startswith(f"{word}: ")}

    def test_system_tests_are_told_apart(self):
        self.write("test_it.py", TESTS)
        status, output = self.run_one("run_all.py", "/bin/true")
        self.assertEqual(1, status)
        self.assertEqual("system: 5 passed, 7 failed, 2 flaky", output.splitlines()[-1], output)
        self.assertEqual({"test_it.Plain.test_flaky", "test_it.SetUpOnce.test_a and those with it"},
                         self.told(output, "flaky"))
        self.assertEqual({"test_it.Plain.test_bad", "test_it.Plain.test_skipped", "test_it.Plain.test_parts",
                          "test_it.Dies.test_b and those with it", "the end of test_it.TearDown.test_a",
                          "test_it.Hangs.test_a"}, self.told(output, "failed"))
        self.assertIn("not done within 1 s", output)
        with open(os.path.join(self.folder, "kept", "test_it.Plain.test_flaky.txt")) as file:
            self.assertIn("True is not false", file.read())

    def test_what_is_only_flaky_passes(self):
        self.write("test_it.py", TESTS)
        status, output = self.run_one("run_all.py", "/bin/true", "test_it.Plain.test_flaky",
                                      "test_it.Plain.test_good")
        self.assertEqual((0, "system: 2 passed, 0 failed, 1 flaky"), (status, output.splitlines()[-1]))

    def test_a_file_that_cannot_be_loaded_ends_the_run(self):
        self.write("test_it.py", "import nothing_of_that_name\n")
        status, output = self.run_one("run_all.py", "/bin/true")
        self.assertEqual(1, status)
        self.assertIn("nothing_of_that_name", output)
        self.assertNotIn("passed", output)

    def test_unit_tests_are_told_apart(self):
        for name in ("good", "bad", "flaky", "dies", "hangs"):
            self.write(f"{name}_test", PROGRAM)
            os.chmod(os.path.join(self.folder, f"{name}_test"), 0o755)
        status, output = self.run_one("run_units.py", self.folder)
        self.assertEqual(1, status)
        self.assertEqual({"bad", "dies", "hangs"}, self.told(output, "failed"))
        self.assertEqual({"flaky"}, self.told(output, "flaky"))
        self.assertIn("--gtest_filter=Suite.asked", output)
        self.assertRegex(output.splitlines()[-1], r"unit: \d+ passed, 3 failed, \d+ skipped, 1 flaky")


if __name__ == "__main__":
    unittest.main()
