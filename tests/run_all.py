#!/usr/bin/env python3
"""Drives the berth binary as its users do: tests/run_all.py BERTH_BINARY [test names].

Needs Debian's python3-boto3, awscli, docker.io and busybox-static, and root. Uses the dockerd of
DOCKER_HOST; starts a private one when none answers. The names after the binary choose tests:
test_crash, test_crash.AgentKilled or whole ids. The last line is `system: N passed, N failed`.
"""

import os
import sys
import time
import unittest


class Result(unittest.TextTestResult):
    """Counts what passed, and prints each test with its time and, at once, why it failed."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.passed = 0
        self.failed_names = []
        self.started = time.monotonic()

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        self.passed += 1
        self.tell("ok", test)

    def addFailure(self, test, err):
        super(unittest.TextTestResult, self).addFailure(test, err)
        self.failed(test, self.failures[-1][1])

    def addError(self, test, err):
        super(unittest.TextTestResult, self).addError(test, err)
        self.failed(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super(unittest.TextTestResult, self).addSubTest(test, subtest, err)
        if err is not None:
            self.failed(subtest, self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        self.failed(test, f"skipped, and so not shown to work: {reason}")

    def failed(self, test, reason):
        self.failed_names.append(str(test))
        self.tell("FAILED", test)
        print(reason, flush=True)

    def tell(self, word, test):
        print(f"{word:6} {time.monotonic() - self.started:6.1f} s  {test.id()}", flush=True)

    def printErrors(self):
        pass  # Each was printed when it happened.

    def getDescription(self, test):
        return test.id()


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        print("usage: tests/run_all.py BERTH_BINARY [test names]\n"
              "  the binary is made by ./x build", file=sys.stderr)
        return 2
    os.environ["BERTH_BINARY"] = os.path.abspath(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "http_proxy",
                 "HTTP_PROXY"):
        os.environ.pop(name, None)
    import harness

    docker = harness.Docker()
    if not docker.answers():
        docker = harness.Dockerd(machine_network=True).docker
        os.environ["DOCKER_HOST"] = docker.host
    docker.make_image()
    loader = unittest.TestLoader()
    if len(sys.argv) > 2:
        suite = loader.loadTestsFromNames(sys.argv[2:])
    else:
        suite = loader.discover(here, pattern="test_*.py", top_level_dir=here)
    begin = time.monotonic()
    runner = unittest.TextTestRunner(stream=open(os.devnull, "w"), verbosity=0, resultclass=Result)
    result = runner.run(suite)
    for name in result.failed_names:
        print(f"failed: {name}")
    unexpected = len(result.unexpectedSuccesses)
    failed = len(result.failed_names) + unexpected
    print(f"took {time.monotonic() - begin:.0f} s")
    print(f"system: {result.passed} passed, {failed} failed")
    return 0 if failed == 0 and result.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
