"""What a malicious container without host mounts or privileges tries, and what gets out by itself:
each is tried from inside and refused."""

import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest
import urllib.request

from harness import (Agent, Server, Tasks, awslogs, container_of, gpus, shell, wait_for)

server = None
agent = None
tasks = None
SECRET = "the-other-tasks-password"


def setUpModule():
    global server, agent, tasks
    server = Server("--log-level", "debug", command="server")
    agent = Agent(server, "--emulate", "p3.8xlarge", prefix=("prlimit", "--nofile=128:1024"))
    server.wait_connected(1)
    tasks = Tasks(server)


def tearDownModule():
    agent.close()
    server.close()


def look(name, text, task=None, run=None, **members):
    """The lines that a container prints, each `name: what came of it`. Errors are among them, since
    Docker keeps no order between the two streams."""
    group = f"isolation-{name}"
    container = {"memory": 32, "logConfiguration": awslogs(group),
                 **shell("exec 2>&1\n" + text + "\necho done: yes"), **members}
    arn = tasks.run(tasks.register(name, container, **(task or {})), **(run or {}))
    tasks.wait(arn, "STOPPED")
    lines = wait_for(lambda: [found for found in [tasks.output(arn, group)]
                              if found and found[-1] == "done: yes"], "all of its output is there")[0]
    return "\n".join(lines)


class Cloud:
    """Something at 169.254.169.254, in a network of its own beside the machine's."""

    def __enter__(self):
        run = [f"ip netns add {self.name}",
               f"ip link add {self.name} type veth peer name cloud netns {self.name}",
               f"ip addr add 198.51.100.1/30 dev {self.name}", f"ip link set {self.name} up",
               f"ip -n {self.name} addr add 198.51.100.2/30 dev cloud",
               f"ip -n {self.name} addr add 169.254.169.254/32 dev cloud",
               f"ip -n {self.name} link set cloud up",
               f"ip -n {self.name} route add default via 198.51.100.1",
               "ip route add 169.254.169.254/32 via 198.51.100.2"]
        for line in run:
            subprocess.run(line.split(), check=True)
        self.folder = tempfile.mkdtemp(prefix="berth-cloud-")
        with open(f"{self.folder}/index.html", "w", encoding="ascii") as file:
            file.write("the machine's keys")
        self.server = subprocess.Popen(
            ["ip", "netns", "exec", self.name, "python3", "-m", "http.server", "8080"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    name = "berth-cloud"

    def ask(self):
        def answer():
            try:
                with urllib.request.urlopen("http://169.254.169.254:8080/", timeout=5) as found:
                    return found.read().decode()
            except OSError:
                return None
        return wait_for(answer, "the cloud answers the machine")

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        subprocess.run(["ip", "route", "del", "169.254.169.254/32"], check=False)
        subprocess.run(["ip", "netns", "del", self.name], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


class FromInside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The victim: another task, with a secret in its environment, a GPU and a role."""
        cls.victim = tasks.run_containers("victim", {
            "memory": 16, "stopTimeout": 2, "resourceRequirements": gpus(1),
            "environment": [{"name": "PASSWORD", "value": SECRET}],
            **shell("echo $PASSWORD > /tmp/password; exec sleep 900")})
        task = tasks.wait(cls.victim, "RUNNING")
        cls.container = container_of(task)["runtimeId"]
        seen = server.docker.inspect(cls.container)
        cls.environment = dict(one.split("=", 1) for one in seen["Config"]["Env"])
        cls.address = seen["NetworkSettings"]["Networks"]["bridge"]["IPAddress"]

    @classmethod
    def tearDownClass(cls):
        tasks.finish(cls.victim)

    def test_the_docker_socket(self):
        text = look("socket", """
find / -xdev \\( -name 'docker*.sock' -o -name 'containerd*.sock' \\) 2>/dev/null | sed 's/^/found: /'
for path in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock; do
  [ -e $path ] && echo "found: $path"
done
gateway=$(ip route | sed -n 's/^default via \\([0-9.]*\\).*/\\1/p')
echo gateway: $gateway
for port in 2375 2376 2377; do
  (echo; sleep 1) | timeout 3 nc -w 1 $gateway $port >/dev/null 2>&1 && echo "reached: $port"
done
true""")
        self.assertNotIn("found:", text)
        self.assertNotIn("reached:", text)
        self.assertRegex(text, r"gateway: \d+\.")

    def test_the_agents_journal_and_the_servers_data(self):
        text = look("journal", f"""
find / \\( -name agent.db -o -name state.db -o -name credentials.json -o -name '*.key' \\) 2>/dev/null |
  sed 's/^/found: /'
ls {agent.data} {server.data} 2>/dev/null | sed 's/^/found: /'
for pid in 1 2 3 $(seq 4 50 2000); do
  ls /proc/$pid/root{agent.data} 2>/dev/null | sed 's/^/found: /'
done
echo processes: $(ls -d /proc/[0-9]* | wc -l)
mount -t tmpfs none /tmp 2>/dev/null && echo found: may mount
mkdir -p /tmp/d
for device in $(cut -c14- /proc/partitions | grep .); do
  numbers=$(sed -n "s/^ *\\([0-9]*\\) *\\([0-9]*\\) .* $device\\$/\\1 \\2/p" /proc/partitions)
  mknod /tmp/disk-$device b $numbers 2>/dev/null
  head -c 1 /tmp/disk-$device >/dev/null 2>&1 && echo "found: disk $device"
done
echo 1 > /proc/sysrq-trigger 2>/dev/null && echo found: sysrq
true""")
        self.assertNotIn("found:", text)
        self.assertLess(int(re.search(r"processes: (\d+)", text).group(1)), 10)

    def test_another_tasks_environment_files_and_processes(self):
        text = look("others", f"""
cat /proc/self/environ | tr '\\0' '\\n' | grep -q OWN && echo sees: its own
cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q {SECRET} && echo found: environment
find / -xdev -name password 2>/dev/null | sed 's/^/found: /'
ps | grep -q 'sleep 90[0]' && echo found: process
kill -9 $(seq 20 400) 2>/dev/null && echo found: killed somebody
true""", environment=[{"name": "OWN", "value": "1"}])
        self.assertIn("sees: its own", text)
        self.assertNotIn("found:", text)
        self.assertEqual("RUNNING", tasks.describe(self.victim)["lastStatus"])
        self.assertIn("most processes: 32768", look("forks", (
            "for file in /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max; do\n"
            "  [ ! -f $file ] || echo most processes: $(cat $file)\n"
            "done")))

    def test_another_tasks_credentials_and_metadata(self):
        """Also for who has learnt the ids of the victim's endpoints."""
        uris = {name: value for name, value in self.environment.items()
                if name.startswith(("ECS_CONTAINER_METADATA", "AWS_CONTAINER_CREDENTIALS"))}
        wanted = [value if value.startswith("http") else f"http://169.254.170.2{value}"
                  for value in uris.values()]
        wanted += ["http://169.254.170.2" + path for path in (
            "/", "/v2/credentials", "/v2/credentials/", "/v2/credentials/../credentials/",
            "/v2/credentials/00000000-0000-0000-0000-000000000000", "/v3/", "/v4/", "/v4/task",
            "/v3/..%2f..%2fv2/credentials/", "/v2/metadata", "/v4/" + "0" * 32 + "/task")]
        # Its own endpoint comes a moment after its start.
        own = ("for i in $(seq 50); do timeout 5 wget -q -O - $ECS_CONTAINER_METADATA_URI_V4/task "
               "2>/dev/null | grep -q credentials && echo own: 1 && break; usleep 100000; done\n")
        text = look("credentials", own + "\n".join(
            f"echo 'asks: {uri}'; timeout 5 wget -q -O - '{uri}' 2>/dev/null | sed 's/^/got: /'; "
            f"timeout 5 wget -q -O - '{uri}/task' 2>/dev/null | sed 's/^/got: /'"
            for uri in wanted))
        self.assertTrue(uris)
        self.assertIn("own: 1", text)  # It has an endpoint, and that answers.
        for line in text.splitlines():
            if line.startswith("got:"):
                self.assertNotIn(self.victim, line)
                self.assertNotIn("SecretAccessKey", line)
                self.assertNotIn(SECRET, line)

    def test_a_gpu_that_is_not_its_own(self):
        text = look("gpu", """
ls -d /dev/nvidia[0-9]* 2>/dev/null | sed 's/^/found: /'
for i in 0 1 2 3; do
  mknod /tmp/n$i c 195 $i
  echo "node $i: $(cat /tmp/n$i 2>&1)"
done
echo 'c *:* rwm' > /sys/fs/cgroup/devices/devices.allow 2>/dev/null && echo found: devices.allow
cat /tmp/n0 2>&1 | grep -q 'not permitted' || echo found: opened
true""", image=server.docker.make_image_that_asks_for_gpus(),
                    environment=[{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "all"}])
        self.assertNotIn("found:", text)
        for i in range(4):
            self.assertIn(f"node {i}: cat: can't open '/tmp/n{i}': Operation not permitted", text)

    def test_the_control_plane_without_a_key(self):
        text = look("control-plane", f"""
gateway=$(ip route | sed -n 's/^default via \\([0-9.]*\\).*/\\1/p')
for address in $gateway 127.0.0.1; do
  for path in / /health /acs/ws /tcs/ws; do
    timeout 5 wget -q -O - --header 'X-Amz-Target: AmazonEC2ContainerServiceV20141113.ListTasks' \\
      --post-data '{{}}' http://$address:{server.port}$path 2>/dev/null | sed 's/^/got: /'
  done
done
env | grep -E 'AWS_(ACCESS|SECRET|SESSION)' | sed 's/^/got: /'
true""")
        self.assertNotIn("got:", text)

    def test_more_than_its_memory_and_processes_harms_no_other(self):
        arn = tasks.run_containers("hog", {"memory": 32, **shell(
            "head -c 400m /dev/zero | tail > /dev/null; true")})
        tasks.wait(arn, "STOPPED")
        self.assertEqual("RUNNING", tasks.describe(self.victim)["lastStatus"])


    def test_the_keys_of_the_machine_at_its_cloud(self):
        ask = ("for i in 1 2 3; do\n"
               "  timeout 5 wget -q -O - http://169.254.169.254:8080/ 2>&1 | sed 's/^/got: /'\n"
               "done\n"
               "ip route | grep 169.254.169.254 | sed 's/^/route: /'\n")
        with Cloud() as cloud:
            self.assertEqual("the machine's keys", cloud.ask())
            networks = {"bridge": {}, "awsvpc": {"networkConfiguration": {
                "awsvpcConfiguration": {"subnets": ["subnet-1"]}}}}
            for mode in networks:
                text = look(f"cloud-{mode}", ask, task={"networkMode": mode}, run=networks[mode])
                self.assertIn("route: unreachable", text)
                self.assertNotIn("got: the machine's keys", text)
        other = Agent(server, "--emulate", "c5.large", "--allow-instance-metadata")
        self.addCleanup(other.close)
        server.wait_connected(2)
        self.assertNotIn("route:", look("cloud-allowed", ask, run={"placementConstraints": [
            {"type": "memberOf", "expression": "attribute:ecs.instance-type == c5.large"}]}))

    def test_its_output_on_the_machine_has_a_bound(self):
        log = server.docker.inspect(self.container)["HostConfig"]["LogConfig"]
        self.assertEqual({"Type": "json-file", "Config": {"max-size": "100m", "max-file": "5"}}, log)

    def test_asking_for_its_metadata_without_end(self):
        """It is told to wait, and the agent has files left for its work."""
        text = look("flood", """
mkfifo /tmp/wait
for i in $(seq 100); do nc 169.254.170.2 80 < /tmp/wait >/dev/null 2>&1 & done
exec 3>/tmp/wait
sleep 1
exec 3>&-
(for i in $(seq 150); do printf 'GET /v2/metadata HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n'; done; sleep 4) |
  nc 169.254.170.2 80 | grep -o -e 'HTTP/1.1 [0-9]*'
true""")
        answers = re.findall(r"HTTP/1.1 (\d+)", text)
        self.assertEqual(["200"] * 60, answers[:60])
        self.assertEqual({"200", "429"}, set(answers))
        files = os.listdir(f"/proc/{agent.process.child.pid}/fd")
        self.assertLess(len(files), 200)
        with open(f"/proc/{agent.process.child.pid}/limits", encoding="ascii") as limits:
            soft, hard = re.search(r"Max open files +(\d+) +(\d+)", limits.read()).groups()
        self.assertEqual(soft, str(min(int(hard), 1 << 20)))


class GetsOutByItself(unittest.TestCase):
    def test_no_secret_is_in_a_log_line_a_command_line_or_a_container(self):
        definition = tasks.register("prints", {
            "memory": 16, "stopTimeout": 1, "logConfiguration": awslogs("prints"),
            **shell("env; exec sleep 600")})
        arn = tasks.run(definition)
        identifier = container_of(tasks.wait(arn, "RUNNING"))["runtimeId"]
        self.assertNotIn(server.secret, str(server.docker.inspect(identifier)))
        tasks.finish(arn)
        # Requests of every wrong kind, which are what gets logged.
        for signing in ({"key": "AKIAIOSFODNN7EXAMPLE"}, {"secret": "wrong"}, {"service": "logs"},
                        {"region": "eu-west-1"}):
            server.call("ListTasks", {}, **signing)
        server.send_raw(b"GET /?X-Amz-Signature=" + server.secret.encode() + b" nonsense\r\n\r\n", 5)
        server.kill()
        server.start()
        server.wait_connected(1)
        for name, process in (("server", server.process), ("agent", agent.process)):
            with open(f"/proc/{process.child.pid}/cmdline", "rb") as file:
                self.assertNotIn(server.secret.encode(), file.read(), name)
            self.assertNotIn(server.secret, process.output(), name)
            self.assertNotRegex(process.output(), r"Signature=[0-9a-f]{64}", name)

    def test_of_the_files_only_the_credentials_hold_the_secret_and_all_are_private(self):
        looked_at = 0
        for folder in (server.data, agent.data):
            self.assertEqual(0o700, stat.S_IMODE(os.stat(folder).st_mode), folder)
            for root, _, names in os.walk(folder):
                for name in names:
                    path = os.path.join(root, name)
                    looked_at += 1
                    if re.search(r"\.(db|db-wal|db-shm|key|lock)$|^credentials\.json$", name):
                        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode), path)
                    if not os.path.isfile(path):
                        continue  # The device nodes of emulated GPUs.
                    with open(path, "rb") as file:
                        found = server.secret.encode() in file.read()
                    self.assertEqual(name == "credentials.json", found, path)
        self.assertGreater(looked_at, 4)

    def test_a_directory_that_others_could_read_is_closed_at_the_start(self):
        other = Server(command="server", start=False)
        self.addCleanup(other.close)
        os.chmod(other.data, 0o755)
        other.start()
        self.assertEqual(0o700, stat.S_IMODE(os.stat(other.data).st_mode))

    def test_an_agent_says_nothing_of_a_wrong_secret(self):
        wrong = "0123456789012345678901234567890123456789"
        folder = tempfile.mkdtemp(prefix="berth-agent-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        right, server.secret = server.secret, wrong
        try:
            other = Agent(server, "--emulate", "c5.large", data=folder)
        finally:
            server.secret = right
        self.addCleanup(other.close)
        wait_for(lambda: "signature" in other.output().lower() or not other.process.alive(),
                 "it is refused", 30)
        self.assertNotIn(wrong, other.output())
