"""`berth replay`: the packing of a trace, without a server."""

import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from harness import BERTH

NODES = "sn,cpu_milli,memory_mib,gpu,model\na,8000,32768,2,T4\nb,4000,32768,2,P100\n"
PODS = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
        "p,1000,1024,2,1000,T4,LS\nq,1000,1024,1,500,,BE\nr,1000,1024,1,500,P100,BE\n"
        "s,1000,65536,1,1000,,LS\n")


def replay(*options):
    return subprocess.run([BERTH, "replay", *options], capture_output=True, text=True, timeout=120)


class Replay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="berth-replay-")
        self.addCleanup(self.folder.cleanup)
        self.nodes = self.write("nodes.csv", NODES)
        self.pods = self.write("pods.csv", PODS)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def files(self, *options):
        return replay("--nodes", self.nodes, "--pods", self.pods, *options)

    def test_rows_as_given(self):
        done = self.files("--order", "given", "--json")
        self.assertEqual(0, done.returncode, done.stderr)
        told = json.loads(done.stdout)
        self.assertFalse(told["generated"])
        self.assertEqual((4, 3, 4), (told["tasks"], told["placed"], told["gpus"]))
        self.assertEqual({"RESOURCE:MEMORY": 1}, told["unplaced"])
        self.assertEqual(75.0, told["allocation_at_100"])
        self.assertIsNone(told["allocation_at_130"])
        self.assertGreater(told["decisions_per_second"], 0)

    def test_a_seed_repeats_itself(self):
        def run(seed):
            told = json.loads(replay("--seed", seed, "--policy", "random", "--json").stdout)
            return {name: told[name] for name in ("tasks", "placed", "unplaced", "points")}
        self.assertEqual(run("7"), run("7"))
        self.assertNotEqual(run("7"), run("8"))

    def test_without_files_it_says_that_the_trace_is_generated(self):
        done = replay()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("GENERATED", done.stdout)
        told = json.loads(replay("--json").stdout)
        self.assertTrue(told["generated"])
        self.assertTrue(50 < told["allocation_at_100"] <= 100, told["allocation_at_100"])
        self.assertTrue(50 < told["allocation_at_130"] <= 100, told["allocation_at_130"])

    def test_several_policies_in_one_plot_and_one_table(self):
        csv, svg = self.path("out.csv"), self.path("out.svg")
        done = replay("--policy", "fgd,random", "--csv", csv, "--svg", svg, "--json")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["fgd", "random"],
                         [one["policy"] for one in json.loads(done.stdout)["results"]])
        with open(csv) as file:
            lines = file.read().splitlines()
        self.assertEqual("policy,arrived_percent,allocation_percent,fragmentation_percent", lines[0])
        self.assertEqual({"fgd", "random"}, {line.split(",")[0] for line in lines[1:]})
        root = xml.etree.ElementTree.parse(svg).getroot()
        self.assertEqual(4, len(root.findall("{http://www.w3.org/2000/svg}polyline")))

    def test_what_is_wrong_with_a_file_is_named(self):
        self.write("nodes.csv", NODES.replace("4000", "many"))
        done = self.files()
        self.assertEqual(1, done.returncode)
        self.assertEqual("", done.stdout)
        for part in (self.nodes, "Line 3", "column cpu_milli", "'many'"):
            self.assertIn(part, done.stderr)
        os.unlink(self.nodes)
        done = self.files()
        self.assertEqual(1, done.returncode)
        self.assertIn("No such file", done.stderr)
        done = replay("--nodes", self.folder.name, "--pods", self.pods)
        self.assertIn("is a directory", done.stderr)

    def test_a_wrong_command_line_is_exit_code_2(self):
        for options in (["--policy", "best"], ["--order", "up"], ["--seed", "-1"],
                        ["--nodes", self.nodes], ["--pods", self.pods], ["--polcy", "fgd"]):
            done = replay(*options)
            self.assertEqual(2, done.returncode, options)
            self.assertTrue(done.stderr)

    def test_an_output_that_cannot_be_written(self):
        done = self.files("--svg", self.path("none/out.svg"))
        self.assertEqual(1, done.returncode)
        self.assertIn("cannot write", done.stderr)


if __name__ == "__main__":
    unittest.main()
