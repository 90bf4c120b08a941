"""What an agent does when it has lost its journal."""

import glob
import os
import subprocess
import tempfile
import unittest

from harness import Agent, Server, Tasks, container_of, gpus, shell, wait_for


class AgentData(unittest.TestCase):
    def setUp(self):
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.agent = self.add_agent()
        self.server.wait_connected(1)
        self.tasks = Tasks(self.server)

    def add_agent(self, *options, **how):
        agent = Agent(self.server, "--emulate", "p3.2xlarge", *options, **how)
        self.addCleanup(agent.close)
        return agent

    def test_without_its_journal_it_ends_its_containers_and_no_others(self):
        lasting = {"memory": 8, "resourceRequirements": gpus(1), **shell("exec sleep 900")}
        lost = self.tasks.run_containers("lasting", lasting)
        self.tasks.wait(lost, "RUNNING")
        self.add_agent()
        self.server.wait_connected(2)
        kept = self.tasks.run("lasting")
        identifiers = {arn: container_of(self.tasks.wait(arn, "RUNNING"))["runtimeId"]
                       for arn in (lost, kept)}
        self.agent.kill()
        for file in glob.glob(os.path.join(self.agent.data, "agent.db*")):
            os.unlink(file)
        self.agent.start()
        def left():
            return [one for one, _ in self.server.containers()]
        wait_for(lambda: identifiers[lost] not in left(), "its container is gone", 60)
        self.assertIn(identifiers[kept], left())
        self.assertEqual("RUNNING", self.tasks.describe(kept)["lastStatus"])
        self.tasks.finish(kept)

    def copy_of_data(self):
        copy = tempfile.mkdtemp(prefix="berth-agent-")
        self.agent.kill()
        subprocess.run(["cp", "-a", f"{self.agent.data}/.", copy], check=True)
        self.agent.start()
        self.agent.process.wait_line("ready:")
        return copy

    def test_a_copy_of_its_data_on_the_same_machine_is_told_apart(self):
        copy = self.add_agent(data=self.copy_of_data())
        wait_for(lambda: "has the same data" in copy.output(), "the copy is told")
        self.assertIn("has the same data", self.server.output())
        arn = self.tasks.run_containers("one", {"memory": 8, **shell("exec sleep 900")})
        self.tasks.wait(arn, "RUNNING")
        self.tasks.finish(arn)
        # The first one goes, and the copy may take its place.
        self.agent.kill()
        other = self.tasks.run("one")
        self.tasks.wait(other, "RUNNING")
        self.tasks.finish(other)

    def test_a_copy_of_its_data_on_another_machine_does_not_start(self):
        with tempfile.NamedTemporaryFile("w", prefix="machine-id-") as file:
            file.write("0123456789abcdef" * 2 + "\n")
            file.flush()
            elsewhere = ("unshare", "--mount", "sh", "-c",
                         f'mount --bind {file.name} /etc/machine-id && exec "$@"', "sh")
            data = self.copy_of_data()
            other = self.add_agent(data=data, prefix=elsewhere)
            wait_for(lambda: not other.process.alive(), "it ends")
            self.assertEqual(1, other.process.child.returncode)
            self.assertIn("belongs to another machine", other.output())
            # One that was moved is let in once its first one is gone, and not before.
            moved = self.add_agent("--adopt-data", data=data, prefix=elsewhere)
            wait_for(lambda: "is another machine" in moved.output(), "it is refused")
            self.assertIn("is another machine", self.server.output())
            self.agent.kill()
            moved.process.wait_line("ready:", 90)
            moved.process.close()
            self.add_agent(data=data, prefix=elsewhere).process.wait_line("ready:", 60)


if __name__ == "__main__":
    unittest.main()
