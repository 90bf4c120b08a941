"""What an operator lets tasks ask of a machine: `berth agent --profile` and `--allow`."""

import os
import shutil
import tempfile
import unittest

from harness import Agent, Server, Tasks, awslogs, container_of, gpus, shell, wait_for


class Bounds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="berth-bounds-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.data = os.path.join(cls.folder, "data")
        os.mkdir(cls.data)
        os.symlink("/etc", os.path.join(cls.data, "link"))
        # Allowed by name, and nowhere: it allows nothing.
        os.symlink("round", os.path.join(cls.data, "round"))
        cls.server = Server(command="server")
        cls.addClassCleanup(cls.server.close)
        cls.agent = Agent(cls.server, "--emulate", "p3.2xlarge", "--profile", "shared",
                          "--allow", f"host-paths={cls.data}:{cls.data}/round,capabilities=SYS_PTRACE")
        cls.addClassCleanup(cls.agent.close)
        cls.server.wait_connected(1)
        cls.tasks = Tasks(cls.server)

    def place(self, name, container=None, **task):
        definition = self.tasks.register(name, {"memory": 16, **shell("sleep 0.1"),
                                                **(container or {})}, **task)
        return self.tasks.ecs.run_task(taskDefinition=definition)

    def test_what_is_not_allowed_finds_no_place(self):
        sock = {"volumes": [{"name": "v", "host": {"sourcePath": "/var/run"}}]}
        for name, container, task, rule in (
                ("b-privileged", {"privileged": True}, {}, "privileged"),
                ("b-network", {}, {"networkMode": "host"}, "host-network"),
                ("b-pid", {}, {"pidMode": "host"}, "host-pid"),
                ("b-socket", {}, sock, "docker-socket"),
                ("b-path", {}, {"volumes": [{"name": "v", "host": {"sourcePath": "/etc"}}]},
                 "host-paths=/etc"),
                ("b-capability", {"linuxParameters": {"capabilities": {"add": ["NET_ADMIN"]}}}, {},
                 "capabilities=NET_ADMIN")):
            told = self.place(name, container, **task)
            self.assertEqual([], told["tasks"], name)
            self.assertEqual("ATTRIBUTE", told["failures"][0]["reason"])
            self.assertIn(f"berth agent --allow {rule}", told["failures"][0]["detail"])

    def test_a_service_says_why_it_finds_no_place(self):
        definition = self.tasks.register("b-service", {"memory": 16, "privileged": True})
        self.tasks.ecs.create_service(serviceName="b", taskDefinition=definition, desiredCount=1)
        def told():
            found = self.tasks.ecs.describe_services(services=["b"])["services"][0]["events"]
            return [one for one in found if "--allow privileged" in one["message"]]
        wait_for(told, "the event names the rule")
        self.tasks.ecs.delete_service(service="b", force=True)

    def test_what_is_allowed_runs(self):
        definition = self.tasks.register(
            "b-allowed", {"memory": 16, **shell("touch /v/seen"),
                          "linuxParameters": {"capabilities": {"add": ["SYS_PTRACE"]}},
                          "mountPoints": [{"sourceVolume": "v", "containerPath": "/v"}]},
            volumes=[{"name": "v", "host": {"sourcePath": self.data}}])
        self.tasks.wait(self.tasks.run(definition), "STOPPED")
        self.assertTrue(os.path.exists(os.path.join(self.data, "seen")))

    def test_an_ordinary_task_needs_no_word(self):
        definition = self.tasks.register(
            "b-ordinary",
            {"memory": 16, "resourceRequirements": gpus(1), "logConfiguration": awslogs("ordinary"),
             "mountPoints": [{"sourceVolume": "v", "containerPath": "/v"}],
             "linuxParameters": {"initProcessEnabled": True, "capabilities": {"drop": ["CHOWN"]}},
             "dockerSecurityOptions": ["no-new-privileges"], "readonlyRootFilesystem": True,
             **shell("touch /v/seen")},
            {"name": "second", "memory": 16, "essential": False, **shell("true"),
             "volumesFrom": [{"sourceContainer": "main"}]},
            networkMode="awsvpc", pidMode="task", ipcMode="task", memory="64",
            volumes=[{"name": "v"}])
        task = self.tasks.wait(self.tasks.run(definition, networkConfiguration={
            "awsvpcConfiguration": {"subnets": ["subnet-1"]}}), "STOPPED")
        self.assertEqual(0, container_of(task).get("exitCode"), task)

    def test_a_link_leads_nowhere(self):
        definition = self.tasks.register(
            "b-link", {"memory": 16, **shell("cat /v/hostname"),
                       "mountPoints": [{"sourceVolume": "v", "containerPath": "/v"}]},
            volumes=[{"name": "v", "host": {"sourcePath": os.path.join(self.data, "link")}}])
        task = self.tasks.wait(self.tasks.run(definition), "STOPPED")
        self.assertIn("host path /etc is not allowed", container_of(task)["reason"])


if __name__ == "__main__":
    unittest.main()
