"""Auto Scaling groups and capacity providers over them: emulated machines, and machines that an
operator's own programs launch; real containers, boto3."""

import os
import shutil
import stat
import tempfile
import unittest

from harness import BERTH, Server, Tasks, gpus, shell, wait_for

FOREVER = shell("trap 'exit 0' TERM; sleep 600 & wait")


class Groups:
    """What people do with groups, in few words."""

    def __init__(self, server):
        self.server = server
        self.ecs = server.client("ecs")
        self.auto_scaling = server.client("autoscaling")

    def launch_configuration(self, name, instance_type, user_data=""):
        self.auto_scaling.create_launch_configuration(
            LaunchConfigurationName=name, ImageId="ami-12345678", InstanceType=instance_type,
            UserData=user_data)

    def create(self, name, instance_type, most, desired=0, **members):
        self.launch_configuration(f"{name}-{instance_type}", instance_type)
        self.auto_scaling.create_auto_scaling_group(
            AutoScalingGroupName=name, LaunchConfigurationName=f"{name}-{instance_type}",
            MinSize=0, MaxSize=most, DesiredCapacity=desired,
            AvailabilityZones=["us-east-1a", "us-east-1b"], **members)
        return self.describe(name)

    def provider(self, name, group, **members):
        self.ecs.create_capacity_provider(name=name, autoScalingGroupProvider={
            "autoScalingGroupArn": group["AutoScalingGroupARN"], **members})
        self.ecs.put_cluster_capacity_providers(
            cluster="default", capacityProviders=[name], defaultCapacityProviderStrategy=[])

    def describe(self, name):
        told = self.auto_scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])
        return told["AutoScalingGroups"][0] if told["AutoScalingGroups"] else None

    def desire(self, name, machines):
        self.auto_scaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=machines)

    def wait_in_service(self, name, machines, seconds=60):
        def look():
            found = self.describe(name)["Instances"]
            return len(found) == machines and all(
                one["LifecycleState"] == "InService" for one in found) and [found]
        try:
            return wait_for(look, f"{machines} machines of {name} in service", seconds)[0]
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.describe(name)}\n{self.activities(name)}\n"
                                 f"{self.server.output()[-6000:]}") from None

    def activities(self, name):
        return self.auto_scaling.describe_scaling_activities(
            AutoScalingGroupName=name)["Activities"]

    def instances(self):
        arns = self.ecs.list_container_instances()["containerInstanceArns"]
        if not arns:
            return []
        return self.ecs.describe_container_instances(
            containerInstances=arns)["containerInstances"]

    def types(self):
        return sorted(next(one["value"] for one in instance["attributes"]
                           if one["name"] == "ecs.instance-type")
                      for instance in self.instances())


class Emulated(unittest.TestCase):
    def setUp(self):
        self.server = Server("--machines", "emulated", "--scaling-interval", "1")
        self.groups = Groups(self.server)
        self.tasks = Tasks(self.server)

    def tearDown(self):
        self.server.close()

    def test_a_task_brings_machines_from_zero_and_they_go_when_it_has_ended(self):
        groups, tasks = self.groups, self.tasks
        self.assertEqual(groups.instances(), [])
        group = groups.create("gpus", "p3.8xlarge", most=4)
        groups.provider("pool", group, managedTerminationProtection="DISABLED", managedScaling={
            "status": "ENABLED", "targetCapacity": 100, "instanceWarmupPeriod": 1})
        definition = tasks.register("train", {"resourceRequirements": gpus(3), **FOREVER})
        told = tasks.ecs.run_task(taskDefinition=definition, capacityProviderStrategy=[
            {"capacityProvider": "pool", "weight": 1}])
        self.assertEqual(told["failures"], [])
        task = told["tasks"][0]
        self.assertEqual(task["lastStatus"], "PROVISIONING")
        self.assertNotIn("containerInstanceArn", task)
        running = tasks.wait(task["taskArn"], "RUNNING", 60)
        self.assertEqual(running["capacityProviderName"], "pool")
        self.assertEqual(len(running["containers"][0]["gpuIds"]), 3)
        self.assertEqual(len(self.server.containers(running_only=True)), 1)
        # From zero two are launched; the idle one goes again, the busy one stays.
        self.assertTrue(any("CapacityProviderReservation was 200" in one["Cause"]
                            for one in groups.activities("gpus")))
        left = groups.wait_in_service("gpus", 1, 90)
        host = tasks.ecs.describe_container_instances(
            containerInstances=[running["containerInstanceArn"]])["containerInstances"][0]
        self.assertEqual([one["InstanceId"] for one in left], [host["ec2InstanceId"]])
        self.assertEqual(host["capacityProviderName"], "pool")
        tasks.stop(task["taskArn"])
        tasks.wait(task["taskArn"], "STOPPED")
        wait_for(lambda: not groups.describe("gpus")["Instances"], "no machine is left", 90)
        self.assertEqual(groups.instances(), [])
        self.assertEqual(self.server.containers(), [])
        self.assertEqual({one["StatusCode"] for one in groups.activities("gpus")}, {"Successful"})

    def test_two_cpu_and_two_gpu_instances_and_then_bigger_ones(self):
        groups = self.groups
        groups.create("cpu", "c5.2xlarge", most=4, desired=2)
        groups.create("gpu", "p3.2xlarge", most=4, desired=2)
        groups.wait_in_service("cpu", 2)
        small = groups.wait_in_service("gpu", 2)
        self.assertEqual(groups.types(), ["c5.2xlarge"] * 2 + ["p3.2xlarge"] * 2)
        self.assertEqual({one["AvailabilityZone"] for one in small}, {"us-east-1a", "us-east-1b"})
        groups.launch_configuration("bigger", "p3.8xlarge")
        groups.auto_scaling.update_auto_scaling_group(
            AutoScalingGroupName="gpu", LaunchConfigurationName="bigger", DesiredCapacity=4)
        groups.wait_in_service("gpu", 4)
        groups.desire("gpu", 2)
        left = groups.wait_in_service("gpu", 2)
        self.assertEqual({one["InstanceType"] for one in left}, {"p3.8xlarge"})
        self.assertEqual(groups.types(), ["c5.2xlarge"] * 2 + ["p3.8xlarge"] * 2)
        running = self.tasks.run_containers(
            "four", {"resourceRequirements": gpus(4), **FOREVER})
        self.assertEqual(len(self.tasks.wait(running, "RUNNING")["containers"][0]["gpuIds"]), 4)
        self.tasks.finish(running)

    def test_a_machine_drains_before_it_ends_and_a_restart_forgets_none(self):
        groups, tasks = self.groups, self.tasks
        groups.create("gpus", "p3.2xlarge", most=2, desired=2)
        machines = {one["InstanceId"] for one in groups.wait_in_service("gpus", 2)}
        running = [tasks.run_containers("one", {"resourceRequirements": gpus(1), **FOREVER})
                   for _ in range(2)]
        for task in running:
            tasks.wait(task, "RUNNING")
        groups.desire("gpus", 1)
        draining = wait_for(lambda: [one for one in groups.instances()
                                     if one["status"] == "DRAINING"], "one drains")
        self.server.kill()
        self.server.start()
        self.server.wait_connected(2)
        found = groups.describe("gpus")["Instances"]
        self.assertEqual({one["InstanceId"] for one in found}, machines)
        self.assertEqual(len(self.server.containers(running_only=True)), 2)
        for task in running:
            if tasks.describe(task)["containerInstanceArn"] == draining[0]["containerInstanceArn"]:
                tasks.finish(task)
        left = groups.wait_in_service("gpus", 1)
        self.assertNotEqual(left[0]["InstanceId"], draining[0]["ec2InstanceId"])
        self.assertEqual(len(self.server.containers(running_only=True)), 1)
        groups.auto_scaling.delete_auto_scaling_group(AutoScalingGroupName="gpus", ForceDelete=True)
        # A server that has just started does not know which launches were open: it keeps the group
        # until its provider has listed its machines.
        wait_for(lambda: groups.describe("gpus") is None, "the group is gone")
        wait_for(lambda: not self.server.containers(), "no container is left")
        self.assertEqual(os.listdir(os.path.join(self.server.data, "machines")), [])

    def test_a_type_that_does_not_exist_fails_with_its_reason(self):
        self.groups.create("odd", "p3.9xlarge", most=1, desired=1)
        failed = wait_for(lambda: [one for one in self.groups.activities("odd")
                                   if one["StatusCode"] == "Failed"], "a failed launch")
        self.assertIn("p3.8xlarge", failed[0]["StatusMessage"])


LAUNCH = """\
#!/bin/bash
# Each call makes a new machine: it is not for this program to know what was asked before.
cd "$(dirname "$0")"
. ./settings
echo "$1 $2 $BERTH_GROUP $BERTH_AVAILABILITY_ZONE $BERTH_TAGS again=$BERTH_AGAIN" >> launches
if [ -e broken ]; then echo "no capacity in rack 7" >&2; exit 3; fi
id=i-$(printf %017x $(wc -l < launches))
mkdir -p "machines/$id"
echo "$1" > "machines/$id/token"
cat > "machines/$id/user-data"
if [ ! -e silent ]; then
  setsid "$BERTH" agent --server "$SERVER" --instance-id "$id" --emulate "$2" \\
      --data "$PWD/machines/$id/agent" > "machines/$id/log" 2>&1 &
  echo $! > "machines/$id/pid"
fi
while [ -e hold ]; do sleep 0.05; done
echo "$id"
"""

TERMINATE = """\
#!/bin/bash
cd "$(dirname "$0")"
echo "$1" >> terminations
[ -d "machines/$1" ] || exit 0
[ -e "machines/$1/pid" ] && kill "$(cat "machines/$1/pid")" 2>/dev/null
rm -rf "machines/$1"
"""

LIST = """\
#!/bin/bash
cd "$(dirname "$0")"
for machine in machines/*/token; do
  [ -e "$machine" ] && echo "$(cat "$machine") $(basename "$(dirname "$machine")")"
done
exit 0
"""


class Exec(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="berth-machines-")
        for name, text in (("launch", LAUNCH), ("terminate", TERMINATE), ("list", LIST)):
            with open(self.path(name), "w") as file:
                file.write(text)
            os.chmod(self.path(name), stat.S_IRWXU)
        self.touch("settings")
        self.server = Server("--machines", f"exec:{self.folder}", "--scaling-interval", "1",
                             "--agent-timeout", "3", "--replace-after", "2",
                             "--machine-join-timeout", "15", command="server")
        with open(self.path("settings"), "w") as file:
            file.write(f"export AWS_ACCESS_KEY_ID={self.server.key}\n"
                       f"export AWS_SECRET_ACCESS_KEY={self.server.secret}\n"
                       f"BERTH={BERTH}\nSERVER={self.server.url}\n")
        self.groups = Groups(self.server)

    def tearDown(self):
        for machine in self.machines():
            self.end(machine, 9)
        self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def touch(self, name):
        with open(self.path(name), "w"):
            pass

    def lines(self, name):
        if not os.path.exists(self.path(name)):
            return []
        with open(self.path(name)) as file:
            return file.read().splitlines()

    def machines(self):
        return sorted(os.listdir(self.path("machines"))) if os.path.isdir(
            self.path("machines")) else []

    def end(self, machine, signal):
        pid = self.lines(os.path.join("machines", machine, "pid"))
        try:
            os.kill(int(pid[0]), signal)
        except (ProcessLookupError, IndexError, ValueError):
            pass

    def test_programs_launch_and_end_machines(self):
        self.groups.create("gpus", "p3.2xlarge", most=2, desired=1, Tags=[
            {"Key": "team", "Value": "vision", "PropagateAtLaunch": True}])
        found = self.groups.wait_in_service("gpus", 1)
        self.assertEqual([one["InstanceId"] for one in found], self.machines())
        token, kind, group, zone, tags, again = self.lines("launches")[0].split(" ")
        self.assertEqual((kind, group, zone, tags, again), (
            "p3.2xlarge", "gpus", "us-east-1a", '{"team":"vision"}', "again="))
        self.assertTrue(token)
        self.assertEqual(self.groups.instances()[0]["ec2InstanceId"], found[0]["InstanceId"])
        self.groups.desire("gpus", 0)
        wait_for(lambda: not self.groups.describe("gpus")["Instances"], "it is gone")
        self.assertEqual(self.lines("terminations"), [found[0]["InstanceId"]])
        self.assertEqual(self.groups.instances(), [])
        self.assertEqual(self.machines(), [])

    def test_a_failing_program_is_told_with_its_words_and_tried_later_and_later(self):
        self.touch("broken")
        self.groups.create("gpus", "p3.2xlarge", most=2, desired=1)
        failed = wait_for(lambda: [one for one in self.groups.activities("gpus")
                                   if one["StatusCode"] == "Failed"], "a failed launch")
        self.assertIn("no capacity in rack 7", failed[0]["StatusMessage"])
        self.assertIn("code 3", failed[0]["StatusMessage"])
        wait_for(lambda: len(self.lines("launches")) >= 2, "the second try", 30)
        self.assertLessEqual(len(self.lines("launches")), 2)
        os.unlink(self.path("broken"))
        self.groups.wait_in_service("gpus", 1, 30)
        self.assertEqual(self.groups.activities("gpus")[0]["StatusCode"], "Successful")

    def test_a_kill_between_launch_and_answer_makes_no_second_machine(self):
        self.touch("hold")
        self.groups.create("gpus", "p3.2xlarge", most=2, desired=1)
        wait_for(self.machines, "the machine is there, and its program has not answered")
        self.server.kill()
        self.server.start()
        found = self.groups.wait_in_service("gpus", 1)
        self.assertEqual([one["InstanceId"] for one in found], self.machines())
        os.unlink(self.path("hold"))
        self.assertEqual(len(self.lines("launches")), 1)
        self.assertEqual(len(self.groups.describe("gpus")["Instances"]), 1)
        self.assertEqual(self.lines("terminations"), [])

    def test_a_machine_whose_agent_dies_is_replaced_and_so_are_its_service_s_tasks(self):
        self.groups.create("gpus", "p3.2xlarge", most=2, desired=1)
        first = self.groups.wait_in_service("gpus", 1)[0]["InstanceId"]
        tasks = Tasks(self.server)
        tasks.ecs.create_service(serviceName="web", desiredCount=1, taskDefinition=tasks.register(
            "web", {"resourceRequirements": gpus(1), **FOREVER}))

        def running():
            arns = tasks.ecs.list_tasks(serviceName="web", desiredStatus="RUNNING")["taskArns"]
            return [arn for arn in arns if tasks.describe(arn)["lastStatus"] == "RUNNING"]
        old = wait_for(running, "the service runs", 60)
        self.end(first, 9)
        wait_for(lambda: first in self.lines("terminations"), "the dead one is ended", 60)
        second = self.groups.wait_in_service("gpus", 1)[0]["InstanceId"]
        self.assertNotEqual(second, first)
        self.assertTrue(any("its agent stays away" in one["Cause"]
                            for one in self.groups.activities("gpus")))
        new = wait_for(lambda: [arn for arn in running() if arn not in old], "its task is back", 60)
        host = tasks.describe(new[0])["containerInstanceArn"]
        self.assertEqual([one["ec2InstanceId"] for one in self.groups.instances()
                          if one["containerInstanceArn"] == host], [second])

    def test_a_machine_that_never_joins_is_ended_and_tried_again_later(self):
        self.touch("silent")
        self.groups.create("gpus", "p3.2xlarge", most=2, desired=1)
        wait_for(lambda: self.lines("terminations"), "it is ended", 30)
        failed = [one for one in self.groups.activities("gpus") if one["StatusCode"] == "Failed"]
        self.assertIn("no agent has registered it", failed[0]["StatusMessage"])
        os.unlink(self.path("silent"))
        self.groups.wait_in_service("gpus", 1, 60)

    def test_a_folder_without_its_programs_is_refused_at_the_start(self):
        os.unlink(self.path("list"))
        wrong = Server("--machines", f"exec:{self.folder}", command="server", start=False)
        with self.assertRaisesRegex(AssertionError, "launch, terminate and list"):
            wrong.start()
        wrong.close()


if __name__ == "__main__":
    unittest.main()
