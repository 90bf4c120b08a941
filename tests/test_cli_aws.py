"""The documented way: an unmodified AWS CLI after eval "$(berth env)", and berth's own commands."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BERTH, IMAGE, Server, Tasks, shell

server = None
HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "..", "examples", "gpu-task.json")


def setUpModule():
    global server
    server = Server("--emulate", "p3.8xlarge,c5.large")
    server.wait_connected(2)


def tearDownModule():
    server.close()


def clis():
    """The directories whose `aws` to test: Debian's, and the first on PATH if it is another."""
    found = ["/usr/bin"]
    first = shutil.which("aws")
    if first and os.path.dirname(os.path.realpath(first)) != "/usr/bin":
        found.append(os.path.dirname(first))
    return found


def bash(script, directory="/usr/bin", check=True):
    """What bash prints, with that directory's aws, after eval "$(berth env)"."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment["PATH"] = f"{directory}:{environment['PATH']}"
    environment["AWS_CONFIG_FILE"] = environment["AWS_SHARED_CREDENTIALS_FILE"] = "/dev/null"
    environment["AWS_PAGER"] = ""
    done = subprocess.run(
        ["bash", "-ec", f'eval "$("{BERTH}" env --data "{server.data}")"\n{script}'],
        capture_output=True, text=True, env=environment, timeout=300)
    if check and done.returncode != 0:
        raise AssertionError(f"{script}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.strip() if check else done


def aws(command, directory="/usr/bin"):
    text = bash(f"aws {command} --output json", directory)
    return json.loads(text) if text else None


class AwsCli(unittest.TestCase):
    def test_list_clusters_in_the_next_line(self):
        for directory in clis():
            with self.subTest(directory):
                told = aws("ecs list-clusters", directory)
                self.assertEqual([f"arn:aws:ecs:us-east-1:{server.account}:cluster/default"],
                                 told["clusterArns"])

    def test_who_am_i(self):
        for directory in clis():
            with self.subTest(directory):
                told = aws("sts get-caller-identity", directory)
                self.assertEqual(server.account, told["Account"])
                self.assertEqual(f"arn:aws:iam::{server.account}:root", told["Arn"])

    def old_clients(self):
        """A folder with an `aws` and a boto3 that do not know AWS_ENDPOINT_URL."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "aws"), "w") as file:
            file.write('#!/bin/sh\ntest "$1" = --version && echo aws-cli/1.19.1 Python/3 && exit\n'
                       'echo "$@"\n')
        os.chmod(os.path.join(folder, "aws"), 0o755)
        os.mkdir(os.path.join(folder, "botocore"))
        with open(os.path.join(folder, "botocore", "__init__.py"), "w") as file:
            file.write("__version__ = '1.29.27'\n")
        return folder

    def test_an_old_cli_is_redirected_for_programs_too(self):
        folder = self.old_clients()
        url = f"http://127.0.0.1:{server.port}"
        again = f'eval "$("{BERTH}" env --data "{server.data}")"'
        for script in ("aws ecs list-clusters", "echo ecs list-clusters | xargs aws",
                       f'{again}; sh -c "aws ecs list-clusters"'):
            with self.subTest(script):
                self.assertEqual(f"--endpoint-url {url} ecs list-clusters", bash(script, folder))

    def test_a_boto3_that_would_go_to_amazon_is_named(self):
        folder = self.old_clients()
        done = subprocess.run(
            ["bash", "-ec", f'eval "$("{BERTH}" env --data "{server.data}")"'],
            capture_output=True, text=True, timeout=60,
            env={**os.environ, "PYTHONPATH": folder, "PATH": f"{folder}:{os.environ['PATH']}"})
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("botocore 1.29.27", done.stderr)
        self.assertIn("endpoint_url=", done.stderr)

    def test_own_commands_need_no_directory_once_the_environment_names_the_server(self):
        self.assertIn("p3.8xlarge", bash(f'HOME=/nonexistent "{BERTH}" nodes'))
        self.assertIn("is known in the cluster", bash(
            f'aws ecs create-cluster --cluster-name elsewhere >/dev/null; "{BERTH}" tasks --all '
            '--cluster elsewhere'))

    def test_a_profile_of_aws_names_the_server_and_keys_of_agents_are_made_from_anywhere(self):
        folder = tempfile.mkdtemp(prefix="berth-aws-")
        self.addCleanup(shutil.rmtree, folder)
        with open(f"{folder}/config", "w") as file:
            file.write(f"[profile lab]\nendpoint_url = {server.url}\nregion = {server.region}\n")
        with open(f"{folder}/credentials", "w") as file:
            file.write(f"[lab]\naws_access_key_id = {server.key}\n"
                       f"aws_secret_access_key = {server.secret}\n")
        environment = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "AWS_PROFILE": "lab",
                       "AWS_CONFIG_FILE": f"{folder}/config",
                       "AWS_SHARED_CREDENTIALS_FILE": f"{folder}/credentials"}

        def berth(*words):
            done = subprocess.run([BERTH, *words], capture_output=True, text=True, timeout=60,
                                  env=environment)
            self.assertEqual(0, done.returncode, done.stderr)
            return done.stdout

        self.assertIn("p3.8xlarge", berth("nodes"))
        token = json.loads(berth("token", "create", "--json"))["tokenId"]
        self.assertIn(token, berth("token", "list"))
        berth("token", "revoke", token)
        self.assertNotIn(token, berth("token", "list"))

    def test_a_profile_that_there_is_not_is_no_other_server(self):
        done = subprocess.run(
            [BERTH, "nodes"], capture_output=True, text=True, timeout=60,
            env={"HOME": "/nonexistent", "PATH": os.environ["PATH"], "AWS_PROFILE": "lba"})
        self.assertNotEqual(0, done.returncode)
        self.assertIn("AWS_PROFILE names lba", done.stderr)

    def test_an_error_is_shown_with_its_code(self):
        done = bash("aws ecs list-tasks --cluster absent", check=False)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("ClusterNotFoundException", done.stderr)

    def test_another_region_is_told_what_to_do(self):
        done = bash("aws ecs list-clusters --region eu-west-3", check=False)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("us-east-1", done.stderr)
        self.assertIn("--region", done.stderr)

    def test_a_wrong_command_line_is_told_where_the_right_ones_are(self):
        for words, told in (
                (["upp"], "there is no command upp"),
                (["up", "--emulat", "p3.8xlarge"], "`up` has no option --emulat"),
                (["token", "mint"], "`token` has no argument mint"),
                (["exec", "0" * 32, "ls", "-l"], "stands behind --")):
            with self.subTest(words):
                done = subprocess.run([BERTH, *words], capture_output=True, text=True,
                                      timeout=30)
                self.assertEqual(2, done.returncode)
                self.assertIn(told, done.stderr)
                self.assertIn("--help", done.stderr)

    def berth_tasks(self, *options):
        return subprocess.run([BERTH, "tasks", "--data", server.data, *options],
                              capture_output=True, text=True, timeout=30, check=True).stdout

    def test_tasks_are_listed_with_what_becomes_of_them(self):
        tasks = Tasks(server)
        self.assertIn("No task is known in the cluster none", self.berth_tasks(
            "--cluster", self.empty_cluster(), "--all"))
        idle = tasks.run_containers("idle", {
            "memory": 64, "resourceRequirements": [{"type": "GPU", "value": "2"}],
            **shell("trap exit TERM; sleep 600 & wait")})
        failing = tasks.run_containers("failing", {"memory": 64, **shell("exit 42")})
        tasks.wait(idle, "RUNNING")
        tasks.wait(failing, "STOPPED")
        id_of = lambda arn: arn.rpartition("/")[2]
        lines = {line.split()[0]: line for line in self.berth_tasks().splitlines()}
        self.assertRegex(lines[id_of(idle)], r" idle:\d+ +family:idle +RUNNING +2 ")
        self.assertNotIn(id_of(failing), lines)
        lines = {line.split()[0]: line for line in self.berth_tasks("--all").splitlines()}
        self.assertIn("ended with 42", lines[id_of(failing)])
        told = {one["taskArn"]: one for one in json.loads(self.berth_tasks("--json"))["tasks"]}
        self.assertEqual(2, len(told[idle]["containers"][0]["gpuIds"]))
        tasks.finish(idle)

    def empty_cluster(self):
        server.client("ecs").create_cluster(clusterName="none")
        return "none"

    def test_what_is_kept_stays_in_its_region_and_account(self):
        plane = Server(command="server")
        self.addCleanup(plane.close)
        self.assertEqual(0, plane.stop())
        for option, value in (("--region", "eu-west-1"), ("--account", "999999999999")):
            done = subprocess.run([BERTH, "server", "--data", plane.data, "--listen", "127.0.0.1:0",
                                   option, value], capture_output=True, text=True, timeout=30)
            self.assertEqual(1, done.returncode)
            self.assertIn(plane.data, done.stderr)
            self.assertIn(value, done.stderr)
        plane.start()
        arn, = plane.client("ecs").list_clusters()["clusterArns"]
        self.assertIn(f":us-east-1:{plane.account}:", arn)

    def example(self, command):
        """The example task definition with another command and this run's image."""
        with open(EXAMPLE) as file:
            definition = json.load(file)
        container = definition["containerDefinitions"][0]
        container["image"] = IMAGE
        container["entryPoint"], container["command"] = ["sh", "-c"], [command]
        descriptor, path = tempfile.mkstemp(suffix=".json")
        with os.fdopen(descriptor, "w") as file:
            json.dump(definition, file)
        self.addCleanup(os.unlink, path)
        return definition, path

    def test_the_example_is_the_documented_shape(self):
        with open(EXAMPLE) as file:
            container = json.load(file)["containerDefinitions"][0]
        self.assertEqual((80, 100, True), (container["memory"], container["cpu"],
                                           container["essential"]))
        self.assertEqual([{"type": "GPU", "value": "2"}], container["resourceRequirements"])
        words = container.get("entryPoint", []) + container["command"]
        self.assertEqual(["sh", "-c"], words[:2])
        self.assertTrue(words[2].startswith("nvidia-smi"), words)
        self.assertEqual("awslogs", container["logConfiguration"]["logDriver"])

    def test_a_gpu_task_from_end_to_end(self):
        for directory in clis():
            with self.subTest(directory):
                definition, path = self.example("nvidia-smi && nvidia-smi -L")
                self.walk(definition, path, directory)

    def walk(self, definition, path, directory):
        registered = aws(f"ecs register-task-definition --cli-input-json file://{path}", directory)
        self.assertEqual("ACTIVE", registered["taskDefinition"]["status"])
        ran = aws(f"ecs run-task --task-definition {definition['family']}", directory)
        self.assertEqual([], ran["failures"])
        task = ran["tasks"][0]
        ids = task["containers"][0]["gpuIds"]
        self.assertEqual(2, len(set(ids)))
        arn = task["taskArn"]
        bash(f"aws ecs wait tasks-stopped --tasks {arn}", directory)
        ended = aws(f"ecs describe-tasks --tasks {arn}", directory)["tasks"][0]
        self.assertEqual(ids, ended["containers"][0]["gpuIds"])
        self.assertEqual(0, ended["containers"][0].get("exitCode"), ended)
        listed = aws("ecs list-tasks --desired-status STOPPED", directory)["taskArns"]
        self.assertIn(arn, listed)

        options = definition["containerDefinitions"][0]["logConfiguration"]["options"]
        group = options["awslogs-group"]
        stream = (f"{options['awslogs-stream-prefix']}/"
                  f"{definition['containerDefinitions'][0]['name']}/{arn.rsplit('/', 1)[1]}")
        read = aws(f"logs get-log-events --log-group-name {group} --log-stream-name {stream} "
                   "--start-from-head", directory)
        text = "\n".join(event["message"] for event in read["events"])
        self.assertIn("NVIDIA-SMI", text)
        self.assertEqual(set(ids), set(re.findall(r"UUID: (GPU-[0-9a-f-]+)", text)), text)
        found = aws(f"logs filter-log-events --log-group-name {group} "
                    f"--log-stream-names {stream} --filter-pattern UUID", directory)
        self.assertEqual(2, len(found["events"]), found)

    def test_wait_tasks_running_and_stop(self):
        definition, path = self.example("exec sleep 600")
        definition["containerDefinitions"][0]["stopTimeout"] = 2
        with open(path, "w") as file:
            json.dump(definition, file)
        aws(f"ecs register-task-definition --cli-input-json file://{path}")
        arn = aws(f"ecs run-task --task-definition {definition['family']}")["tasks"][0]["taskArn"]
        bash(f"aws ecs wait tasks-running --tasks {arn}")
        running = aws(f"ecs describe-tasks --tasks {arn}")["tasks"][0]
        self.assertEqual("RUNNING", running["lastStatus"])
        self.assertTrue(running["containers"][0]["runtimeId"])
        aws(f"ecs stop-task --task {arn} --reason done")
        bash(f"aws ecs wait tasks-stopped --tasks {arn}")


class Commands(unittest.TestCase):
    def berth(self, *arguments, check=True):
        done = subprocess.run([BERTH, *arguments], capture_output=True, text=True, timeout=60)
        if check:
            self.assertEqual(0, done.returncode, done.stderr)
        return done

    def test_version(self):
        self.assertRegex(self.berth("version").stdout, r"^berth \d+\.\d+\.\d+")

    def test_help_names_every_command(self):
        text = self.berth("--help").stdout
        for command in ("up", "server", "agent", "env", "doctor", "version"):
            self.assertRegex(text, rf"(?m)^\s+{command}\b")
            self.assertIn("--help", self.berth(command, "--help").stdout)

    def test_doctor_checks_the_machine(self):
        done = self.berth("doctor", "--json", check=False)
        told = json.loads(done.stdout)
        self.assertIn("docker", done.stdout)
        self.assertTrue(told)

    def test_a_wrong_command_line_is_exit_code_2(self):
        self.assertEqual(2, self.berth("launch", check=False).returncode)
        self.assertEqual(2, self.berth("up", "--nonsense", check=False).returncode)

    def test_an_unknown_instance_type_is_told_with_similar_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.berth("up", "--data", folder, "--listen", "127.0.0.1:0", "--emulate",
                              "p3.8xlrge", check=False)
        self.assertIn(done.returncode, (1, 2))
        self.assertIn("p3.8xlarge", done.stderr)

    def test_env_without_a_server(self):
        done = self.berth("env", "--data", "/nonexistent", check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn("berth up", done.stderr)

    def test_a_port_that_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.berth("server", "--data", folder, "--listen", f"127.0.0.1:{server.port}",
                              check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn(str(server.port), done.stderr)
        self.assertIn("Is a server running there already?", done.stderr)

    def test_a_second_server_on_the_same_data_is_refused(self):
        done = self.berth("server", "--data", server.data, "--listen", "127.0.0.1:0", check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn(server.data, done.stderr)

    def test_sigterm_ends_it_cleanly(self):
        other = Server(command="server")
        self.addCleanup(other.close)
        self.assertEqual(0, other.stop())

    def test_credentials_are_for_their_owner_only(self):
        path = os.path.join(server.data, "credentials.json")
        self.assertEqual(0o600, os.stat(path).st_mode & 0o777)
        self.assertEqual(0o700, os.stat(server.data).st_mode & 0o777)
