#!/usr/bin/env python3
"""The figures of the whole product: bench/run.py BERTH_BINARY. Called by `./x bench`.

1. RunTask accepted durably per second, and DescribeTasks, by build/release/run_task_load, beside the
   durable transactions that the same disk does one by one.
2. A service's way to its steady state, a pass when nothing changed, and 1,000 services that want more
   than there is room for: build/release/services_load.
3. 1,000 agents connected: bench/agents.py.
4. RunTask to RUNNING through the real dockerd, beside `docker run -d` of the same image, in turns.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 15


def load(program, title):
    print(f"== {title}", flush=True)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", program],
                   cwd=root, check=True, stdout=subprocess.DEVNULL)
    output = subprocess.run([root / "build/release" / program], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    for line in output.splitlines():
        figure = json.loads(line)
        what = figure.pop("what")
        print(f"{what:55} {figure.pop('value'):>12}  "
              + "  ".join(f"{name}={value}" for name, value in figure.items()), flush=True)


def start_latency(berth):
    import boto3
    print("== RunTask to RUNNING, beside docker run -d of the same image", flush=True)
    data = tempfile.mkdtemp(prefix="berth-bench-")
    arns = []
    server = subprocess.Popen([berth, "up", "--data", data, "--listen", "127.0.0.1:0", "--emulate",
                               "c5.4xlarge", "--stop-tasks-on-exit"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        server.stdout.readline()
        key = json.loads((pathlib.Path(data) / "credentials.json").read_text())
        ecs = boto3.client("ecs", endpoint_url=key["url"], region_name=key["region"],
                           aws_access_key_id=key["accessKeyId"],
                           aws_secret_access_key=key["secretAccessKey"])
        ecs.register_task_definition(family="bench", containerDefinitions=[{
            "name": "main", "image": "busybox:berth", "memory": 32, "command": ["sleep", "600"]}])
        ours, theirs = [], []
        for _ in range(ROUNDS):
            start = time.monotonic()
            arn = ecs.run_task(taskDefinition="bench")["tasks"][0]["taskArn"]
            arns.append(arn)
            while ecs.describe_tasks(tasks=[arn])["tasks"][0]["lastStatus"] != "RUNNING":
                time.sleep(0.005)
            ours.append(time.monotonic() - start)
            ecs.stop_task(task=arn)
            start = time.monotonic()
            container = subprocess.run(
                ["docker", "run", "-d", "--memory", "32m", "busybox:berth", "sleep", "600"],
                check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
            theirs.append(time.monotonic() - start)
            subprocess.run(["docker", "rm", "-f", container], check=True,
                           stdout=subprocess.DEVNULL)
        a, b = statistics.median(ours), statistics.median(theirs)
        print(f"RunTask to RUNNING: median {a * 1000:.0f} ms; docker run -d: {b * 1000:.0f} ms; "
              f"ratio {a / b:.2f} (target 1.15), {ROUNDS} rounds in turns", flush=True)
    finally:
        server.terminate()
        server.wait(60)
        remove_containers(arns)
        shutil.rmtree(data)


def remove_containers(arns):
    """Berth keeps stopped containers for hours, to be looked at; a benchmark leaves none."""
    for arn in arns:
        found = subprocess.run(
            ["docker", "ps", "-aq", "--filter", f"label=com.amazonaws.ecs.task-arn={arn}"],
            check=True, text=True, stdout=subprocess.PIPE).stdout.split()
        if found:
            subprocess.run(["docker", "rm", "-f", *found], check=True, stdout=subprocess.DEVNULL)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    load("run_task_load", "RunTask and DescribeTasks over HTTP, 1,000 instances")
    load("services_load", "Services: 5,000 tasks over 1,000 instances; 1,000 services at rest, and crowded")
    subprocess.run([sys.executable, root / "bench/agents.py", sys.argv[1]], check=True)
    os.environ.setdefault("DOCKER_HOST", "unix:///var/run/docker.sock")
    start_latency(sys.argv[1])


if __name__ == "__main__":
    main()
