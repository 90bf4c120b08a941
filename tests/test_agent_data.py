"""What an agent does when it has lost its journal."""

import glob
import os
import unittest

from harness import Agent, Server, Tasks, container_of, gpus, shell, wait_for


class AgentData(unittest.TestCase):
    def setUp(self):
        self.server = Server(command="server")
        self.addCleanup(self.server.close)
        self.agent = self.add_agent()
        self.server.wait_connected(1)
        self.tasks = Tasks(self.server)

    def add_agent(self):
        agent = Agent(self.server, "--emulate", "p3.2xlarge")
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


if __name__ == "__main__":
    unittest.main()
