#!/usr/bin/env python3
"""Runs the folders' test programs: tests/run_units.py BUILD_DIRECTORY [folder ..]

A folder brings the rooms in it: `control` is control, control_ecs and so on.
Four at a time, the longest first. A test that has failed runs once more by itself when nothing else
does: passing then, it is `flaky`, its first output is kept in BERTH_TEST_KEPT (build/flaky) and it
does not fail the run. GoogleTest's own variables and RC_PARAMS hold. The last line is
`unit: N passed, N failed, N skipped, N flaky`.
"""

import glob
import os
import sys
import tempfile
import time
import xml.etree.ElementTree

from kept import keep_first_output
from pool import Pool, end_on_sigterm

LONGEST_PROGRAM_S = float(os.environ.get("BERTH_LONGEST_WORK_S", 900))
AT_ONCE = 4
LONGEST_FIRST = ("reconcile", "sim", "agent", "docker")


class Program:
    def __init__(self, folder, path, only=None):
        self.folder = folder
        self.path = path
        self.only = only  # "Suite.test"

    def file(self, directory, ending):
        return os.path.join(directory, f"{self.folder}-{'again' if self.only else 'all'}.{ending}")


def outcome(report):
    """{name: "passed" | "failed" | "skipped"} of GoogleTest's XML; {} where there is none."""
    try:
        root = xml.etree.ElementTree.parse(report).getroot()
    except (FileNotFoundError, xml.etree.ElementTree.ParseError):
        return {}
    told = {}
    for case in root.iter("testcase"):
        skipped = case.find("skipped") is not None or case.get("status") == "notrun"
        failed = case.find("failure") is not None
        told[f"{case.get('classname')}.{case.get('name')}"] = (
            "failed" if failed else "skipped" if skipped else "passed")
    return told


def run(programs, directory, at_once):
    """Yields (program, outcome, why it ended early or None, output)."""
    def body(program, _slot, _number):
        report = program.file(directory, "xml")
        environment = {**os.environ, "GTEST_OUTPUT": f"xml:{report}"}
        chosen = [f"--gtest_filter={program.only}"] if program.only else []
        os.execve(program.path, [program.path, "--gtest_brief=1", *chosen], environment)

    pool = Pool(at_once, LONGEST_PROGRAM_S)
    for program, path, early in pool.run(programs, body, lambda one: one.file(directory, "out")):
        with open(path, errors="replace") as file:
            yield program, outcome(program.file(directory, "xml")), early, file.read()


def is_in(program, folder):
    """A folder's tests are its own and those of the rooms in it."""
    return program == folder or program.startswith(folder + "_")


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    end_on_sigterm()
    build = os.path.abspath(sys.argv[1])
    found = {os.path.basename(path).removesuffix("_test"): path for path in glob.glob(f"{build}/*_test")}
    asked = sys.argv[2:]
    missing = [one for one in asked if not any(is_in(name, one) for name in found)]
    folders = sorted((name for name in found if not asked or any(is_in(name, one) for one in asked)),
                     key=lambda one: (one not in LONGEST_FIRST, one))
    if missing or not folders:
        sys.exit(f"not built: {' '.join(missing) or 'any test program'} (in {build})")
    counts = dict.fromkeys(("passed", "failed", "skipped", "flaky"), 0)
    failed = []  # (Program that runs it alone, first output)
    with tempfile.TemporaryDirectory(prefix="berth-units-") as directory:
        begin = time.monotonic()
        for program, told, early, output in run([Program(one, found[one]) for one in folders], directory, AT_ONCE):
            bad = [name for name, how in told.items() if how == "failed"]
            if early and not bad:  # A crash: it has written no report, or fails in what comes after.
                bad = ["*"]
            for how in told.values():
                counts[how] += how != "failed"
            failed += [(Program(program.folder, program.path, name), output) for name in bad]
            print(f"{'FAILED' if bad else 'ok':6} {time.monotonic() - begin:6.1f} s  {program.folder}"
                  f" ({len(told)} tests)", flush=True)
            if bad:
                print(output, flush=True)
        for again, first in failed:
            name = f"{again.folder}: {again.only}"
            (_, told, early, output), = run([again], directory, 1)
            for how in told.values():
                counts[how] += how != "failed"
            if early or not told or "failed" in told.values():
                counts["failed"] += 1
                print(f"{output}\nfailed: {name}", flush=True)
            else:
                counts["flaky"] += 1
                print(f"flaky: {name}: passed alone; its first output: {keep_first_output(name, first)}")
    print(f"took {time.monotonic() - begin:.0f} s, {AT_ONCE} at a time")
    print("unit: " + ", ".join(f"{number} {how}" for how, number in counts.items()))
    return 0 if counts["failed"] == 0 and counts["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
