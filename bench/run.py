#!/usr/bin/env python3
"""The figures of the whole product: bench/run.py BERTH_BINARY. Called by `./x bench`.

1. RunTask accepted durably per second, and DescribeTasks, by build/release/run_task_load, beside the
   durable transactions that the same disk does one by one.
2. RunTask to RUNNING through the real dockerd, beside `docker run -d` of the same image, in turns.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 15


def load():
    print("== RunTask and DescribeTasks over HTTP, 1,000 instances", flush=True)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "run_task_load"],
                   cwd=root, check=True, stdout=subprocess.DEVNULL)
    output = subprocess.run([root / "build/release/run_task_load"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    for line in output.splitlines():
        figure = json.loads(line)
        what = figure.pop("what")
        print(f"{what:55} {figure.pop('value'):>12}  "
              + "  ".join(f"{name}={value}" for name, value in figure.items()), flush=True)


def start_latency(berth):
    import boto3
    print("== RunTask to RUNNING, beside docker run -d of the same image", flush=True)
    data = subprocess.run(["mktemp", "-d"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()
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


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    load()
    os.environ.setdefault("DOCKER_HOST", "unix:///var/run/docker.sock")
    start_latency(sys.argv[1])


if __name__ == "__main__":
    main()
