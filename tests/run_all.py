#!/usr/bin/env python3
"""Drives the berth binary as its users do: tests/run_all.py BERTH_BINARY [test names].

Needs Debian's python3-boto3, awscli, docker.io and busybox-static, and root. Uses the dockerd of
DOCKER_HOST; starts a private one when none answers. The names after the binary choose tests:
test_crash, test_crash.AgentKilled or whole ids.

Several run at a time (BERTH_TEST_WORKERS, three a core unless told): the tests of a class in one
process, a test known to be long (times.json) by itself, those that took longest first. What has
failed runs once more when nothing else does: passing then, it is `flaky`, its first output is kept
in BERTH_TEST_KEPT (build/flaky) and it does not fail the run. The last line is
`system: N passed, N failed, N flaky`.
"""

import json
import os
import sys
import tempfile
import time
import unittest

from kept import keep_first_output
from pool import Pool

HERE = os.path.dirname(os.path.abspath(__file__))
LONG_TEST_S = 8.0      # One that takes longer is a piece of work of its own.
LONGEST_WORK_S = 900.0
PORTS_A_SLOT = 1500    # Above 8000 and below the ports that Linux gives out by itself (32768).


class Recorder(unittest.TestResult):
    """Appends a line of JSON to a file for each test that has ended, as it ends: id, s, passed."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.bad = {}

    def startTest(self, test):
        super().startTest(test)
        self.bad[test.id()] = False
        self.started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        with open(self.path, "a") as file:
            file.write(json.dumps({"id": test.id(), "s": time.monotonic() - self.started,
                                   "passed": not self.bad[test.id()]}) + "\n")

    def tell(self, test, text):
        print(f"FAILED {test.id()}\n{text}", flush=True)

    def addFailure(self, test, err):
        self.bad[test.id()] = True
        self.tell(test, self._exc_info_to_string(err, test))

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad[test.id()] = True
            self.tell(subtest, self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        self.bad[test.id()] = True
        self.tell(test, f"skipped, and so not shown to work: {reason}")

    def addUnexpectedSuccess(self, test):
        self.bad[test.id()] = True
        self.tell(test, "passed, and was expected to fail")


class Work:
    """Tests of one class that run one after the other in one process."""

    def __init__(self, tests, seconds):
        self.tests = tests
        self.ids = [test.id() for test in tests]
        self.seconds = seconds  # What they took once; 0 where nobody knows.
        self.alone = getattr(sys.modules[type(tests[0]).__module__], "RUNS_ALONE", False)


def tests_in(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from tests_in(one)
        else:
            yield one


def load(names):
    loader = unittest.TestLoader()
    if names:
        suite = loader.loadTestsFromNames(names)
    else:
        suite = loader.discover(HERE, pattern="test_*.py", top_level_dir=HERE)
    tests = list(tests_in(suite))
    broken = [one for one in tests if type(one).__module__ == "unittest.loader"]
    for one in broken:  # A module that cannot be imported, a name that there is not.
        print(one._exception)
    if broken or loader.errors:
        sys.exit(f"{len(broken)} names or files of tests could not be loaded; see above")
    return tests


def plan(tests, times):
    """What is to be done, the longest first."""
    classes, works = {}, []
    for test in tests:
        if times.get(test.id(), 0) > LONG_TEST_S:
            works.append(Work([test], times[test.id()]))
        else:
            classes.setdefault((type(test).__module__, type(test).__name__), []).append(test)
    for members in classes.values():
        works.append(Work(members, sum(times.get(test.id(), 0) for test in members)))
    return sorted(works, key=lambda work: -work.seconds)


class Run:
    def __init__(self, folder):
        self.folder = folder
        self.results = {}  # test id -> (passed, seconds, output)

    def path(self, work, ending):
        return os.path.join(self.folder, f"{abs(hash(work.ids[0]))}.{ending}")

    def body(self, work, slot, number):
        import harness
        harness.begin_process(first_port=8000 + slot * PORTS_A_SLOT, ports=PORTS_A_SLOT,
                              offset=number * 50 % PORTS_A_SLOT)
        unittest.TestSuite(work.tests).run(Recorder(self.path(work, "results")))
        harness.end_all()

    def run(self, works, workers):
        """Runs them and returns the ids of those that failed."""
        failed = []
        pool = Pool(workers, LONGEST_WORK_S)
        for work, output_path, early in pool.run(works, self.body, lambda work: self.path(work, "out")):
            told = self.take_results(work)
            with open(output_path, errors="replace") as file:
                output = file.read()
            for name in work.ids:
                passed, seconds = told.get(name, (False, 0.0))
                self.results[name] = (passed, seconds, output)
                print(f"{'ok' if passed else 'FAILED':6} {seconds:6.1f} s  {name}", flush=True)
                if not passed:
                    failed.append(name)
            if early:
                output += f"\n{work.ids[0]} and those after it: {early}\n"
            if early or not all(told.get(name, (False,))[0] for name in work.ids):
                print(output, flush=True)
            if early and not any(name in failed for name in work.ids):
                self.results[work.ids[-1]] = (False, 0.0, output)  # It failed in what comes after.
                failed.append(work.ids[-1])
        return failed

    def take_results(self, work):
        path, told = self.path(work, "results"), {}
        if os.path.exists(path):
            with open(path) as file:
                for line in file:
                    one = json.loads(line)
                    told[one["id"]] = (one["passed"], one["s"])
            os.unlink(path)
        return told


def run_all(tests, times, workers):
    """Returns (passed, failed, flaky) and the results."""
    with tempfile.TemporaryDirectory(prefix="berth-run-") as folder:
        run = Run(folder)
        works = plan(tests, times)
        failed = run.run([work for work in works if not work.alone], workers)
        failed += run.run([work for work in works if work.alone], 1)
        first = {name: run.results[name][2] for name in failed}
        by_id = {test.id(): test for test in tests}
        if failed:
            print(f"{len(failed)} failed; each once more, alone", flush=True)
        again = run.run([Work([by_id[name]], 0) for name in failed], 1)
        flaky = [name for name in failed if name not in again]
        for name in flaky:
            print(f"flaky: {name}: passed alone; its first output: {keep_first_output(name, first[name])}")
        for name in again:
            print(f"failed: {name}")
        return len(tests) - len(again), len(again), len(flaky), run.results


def write_times(path, results):
    kept = {name: round(seconds, 1) for name, (passed, seconds, _) in sorted(results.items()) if passed}
    with open(path, "w") as file:
        json.dump(kept, file, indent=0)
        file.write("\n")


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        print("usage: tests/run_all.py BERTH_BINARY [test names]\n"
              "  the binary is made by ./x build", file=sys.stderr)
        return 2
    os.environ["BERTH_BINARY"] = os.path.abspath(sys.argv[1])
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "http_proxy", "HTTP_PROXY"):
        os.environ.pop(name, None)
    import harness

    docker = harness.Docker()
    if not docker.answers():
        docker = harness.Dockerd(machine_network=True).docker
        os.environ["DOCKER_HOST"] = docker.host
    docker.make_image()
    times_path = os.path.join(HERE, "times.json")
    with open(times_path) as file:
        times = json.load(file)
    workers = int(os.environ.get("BERTH_TEST_WORKERS", 3 * (os.cpu_count() or 1)))
    begin = time.monotonic()
    passed, failed, flaky, results = run_all(load(sys.argv[2:]), times, workers)
    if os.environ.get("BERTH_WRITE_TIMES"):
        write_times(times_path, results)
    print(f"took {time.monotonic() - begin:.0f} s, {workers} at a time")
    print(f"system: {passed} passed, {failed} failed, {flaky} flaky")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
