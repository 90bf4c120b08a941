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
from pool import Pool, end_on_sigterm

HERE = os.path.dirname(os.path.abspath(__file__))
LONG_TEST_S = 8.0      # One that takes longer is a piece of work of its own.
LONGEST_WORK_S = float(os.environ.get("BERTH_LONGEST_WORK_S", 900))
PORTS_A_SLOT = 1500    # Above 8000 and below the ports that Linux gives out by itself (32768).


class Recorder(unittest.TestResult):
    """Appends a line of JSON to a file for each test that has ended, as it ends: id, s, passed. One
    for a class or module that could not be set up or torn down has an id of its own."""

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
        self.write(test.id(), time.monotonic() - self.started)

    def write(self, name, seconds):
        with open(self.path, "a") as file:
            file.write(json.dumps({"id": name, "s": seconds, "passed": not self.bad[name]}) + "\n")

    def tell(self, test, text):
        print(f"FAILED {test.id()}\n{text}", flush=True)

    def addFailure(self, test, err):
        is_test = test.id() in self.bad
        self.bad[test.id()] = True
        self.tell(test, self._exc_info_to_string(err, test))
        if not is_test:
            self.write(test.id(), 0.0)

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


class Failure:
    """What is to run once more: a test, or those of a work that did not come to run."""

    def __init__(self, name, tests, output):
        self.name = name
        self.tests = tests
        self.output = output


class Run:
    def __init__(self, folder):
        self.folder = folder
        self.seconds = {}  # By test id, of those that passed.

    def path(self, work, ending):
        return os.path.join(self.folder, f"{abs(hash(work.ids[0]))}.{ending}")

    def body(self, work, slot, number):
        import harness
        harness.begin_process(first_port=8000 + slot * PORTS_A_SLOT, ports=PORTS_A_SLOT,
                              offset=number * 50 % PORTS_A_SLOT)
        try:
            unittest.TestSuite(work.tests).run(Recorder(self.path(work, "results")))
        finally:
            harness.end_all()

    def run(self, works, workers):
        """Runs them and returns the Failures."""
        failures = []
        pool = Pool(workers, LONGEST_WORK_S)
        for work, output_path, early in pool.run(works, self.body, lambda work: self.path(work, "out")):
            with open(output_path, errors="replace") as file:
                output = file.read()
            found = self.failures_of(work, early, output)
            if found:
                print(output + (f"\n{work.ids[0]} and those with it: {early}" if early else ""), flush=True)
            failures += found
        return failures

    def failures_of(self, work, early, output):
        told, missing, found = self.take_results(work), [], []
        for test in work.tests:
            if test.id() not in told:
                missing.append(test)
                continue
            passed, seconds = told[test.id()]
            print(f"{'ok' if passed else 'FAILED':6} {seconds:6.1f} s  {test.id()}", flush=True)
            if passed:
                self.seconds[test.id()] = seconds
            else:
                found.append(Failure(test.id(), [test], output))
        if missing:  # Their class could not be set up, or their process ended.
            print("\n".join(f"FAILED  not run  {test.id()}" for test in missing), flush=True)
            found.append(Failure(f"{missing[0].id()} and those with it", missing, output))
        elif not found and (early or not all(passed for name, (passed, _) in told.items()
                                             if name not in work.ids)):
            found.append(Failure(f"the end of {work.ids[-1]}", work.tests, output))
        return found

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
    """Returns the numbers of those that passed, failed and are flaky, and the seconds by test id."""
    with tempfile.TemporaryDirectory(prefix="berth-run-") as folder:
        run = Run(folder)
        works = plan(tests, times)
        failures = run.run([work for work in works if not work.alone], workers)
        failures += run.run([work for work in works if work.alone], 1)
        failed = flaky = 0
        for one in failures:
            print(f"once more, alone: {one.name}", flush=True)
            if run.run([Work(one.tests, 0)], 1):
                print(f"failed: {one.name}")
                failed += len(one.tests)
            else:
                path = keep_first_output(one.name, one.output)
                print(f"flaky: {one.name}: passed alone; its first output: {path}")
                flaky += 1
        return len(tests) - failed, failed, flaky, run.seconds


def write_times(path, seconds):
    kept = {name: round(took, 1) for name, took in sorted(seconds.items())}
    with open(path, "w") as file:
        json.dump(kept, file, indent=0)
        file.write("\n")


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        print("usage: tests/run_all.py BERTH_BINARY [test names]\n"
              "  the binary is made by ./x build", file=sys.stderr)
        return 2
    end_on_sigterm()
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
    passed, failed, flaky, seconds = run_all(load(sys.argv[2:]), times, workers)
    if os.environ.get("BERTH_WRITE_TIMES"):
        write_times(times_path, seconds)
    print(f"took {time.monotonic() - begin:.0f} s, {workers} at a time")
    print(f"system: {passed} passed, {failed} failed, {flaky} flaky")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
