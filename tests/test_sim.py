"""`berth-sim`: the simulator as a program, beside the binary under test."""

import json
import shlex
import subprocess
import unittest

from harness import BERTH

SIM = BERTH + "-sim"
MUTANT = "dropped_report"


def sim(*options):
    return subprocess.run([SIM, *options], capture_output=True, text=True, timeout=300)


class Sim(unittest.TestCase):
    def test_a_seed_passes_and_repeats_itself(self):
        first, second = (sim("--seed", "7", "--workload", "mixed", "--json") for _ in range(2))
        self.assertEqual(0, first.returncode, first.stdout + first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        told = json.loads(first.stdout)
        self.assertTrue(told["passed"])
        self.assertGreater(told["containers"], 0)

    def test_many_seeds_take_the_workloads_in_turn(self):
        done = sim("--seeds", "1-3", "--json")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((3, True), (told["seeds"], told["passed"]))

    def test_the_command_that_a_failure_prints_shows_it_again(self):
        def run(seed):
            return sim("--mutant", MUTANT, "--seed", str(seed), "--json")
        done = next(done for done in map(run, range(1, 201)) if done.returncode != 0)
        self.assertEqual(1, done.returncode, done.stderr)
        told = json.loads(done.stdout)
        self.assertTrue(told["sentence"])
        program, *options = shlex.split(told["again"])
        self.assertEqual("berth-sim", program)
        again = sim(*options)
        self.assertEqual(1, again.returncode, again.stderr)
        self.assertIn(told["sentence"], again.stdout)
        self.assertIn(f"to see it again: {told['again']}\n", again.stdout)

    def test_it_names_its_workloads_and_mutants(self):
        told = json.loads(sim("--list", "--json").stdout)
        self.assertIn("mixed", [one["name"] for one in told["workloads"]])
        self.assertIn(MUTANT, [one["name"] for one in told["mutants"]])

    def test_what_is_wrong_with_the_command_line_is_told(self):
        for options, code, part in (
                (["--workload", "none"], 1, "mixed"), (["--mutant", "none"], 1, "berth-sim --list"),
                (["--seeds", "9-1"], 1, "such as 1-300"), (["--seed", "x"], 2, "--seed"),
                (["--seed", "1", "--seeds", "1-2"], 2, "--seeds"), (["--sede", "1"], 2, "--sede")):
            done = sim(*options)
            self.assertEqual(code, done.returncode, options)
            self.assertIn(part, done.stderr)
        self.assertIn("berth-sim: ", sim("--workload", "none").stderr)

    def test_berth_itself_has_no_simulator(self):
        done = subprocess.run([BERTH, "sim"], capture_output=True, text=True, timeout=60)
        self.assertEqual(2, done.returncode)
        self.assertIn("there is no command sim", done.stderr)
        with open(BERTH, "rb") as file:
            self.assertFalse(MUTANT.encode() in file.read(), "mutants are in berth")


if __name__ == "__main__":
    unittest.main()
