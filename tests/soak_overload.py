#!/usr/bin/env python3
"""Ten minutes of overload against one server with an agent: soak_overload.py BERTH_BINARY [SECONDS].

Calls far above the rate limit, rude connections, log batches and tasks that come and go, all at the
same time. Memory and descriptors must be flat once the first fifth is over, and everything must work
again at once when it ends. The last line is `overload: N passed, N failed`.
"""

import os
import sys
import time


def samples_are_flat(samples, slack):
    """The mean of the last third against that of the second fifth."""
    early = samples[len(samples) // 5:len(samples) * 2 // 5]
    late = samples[len(samples) * 2 // 3:]
    first, last = sum(early) / len(early), sum(late) / len(late)
    return first, last, last <= first * 1.15 + slack


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        print(__doc__, file=sys.stderr)
        return 2
    os.environ["BERTH_BINARY"] = os.path.abspath(sys.argv[1])
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 600.0
    import harness
    import overload

    harness.Docker().make_image()
    server = harness.Server("--rate-limit", "500", command="server")
    agent = harness.Agent(server, "--emulate", "c5.9xlarge")
    server.wait_connected(1)
    tasks = harness.Tasks(server)
    short = tasks.register("short", {"memory": 8, **harness.shell("echo said; sleep 0.1"),
                                     "logConfiguration": harness.awslogs("overload")})
    memory, agent_memory, files = [], [], []
    ran, problems = [], []
    patient = server.client("ecs", retries={"max_attempts": 20, "mode": "standard"})
    calls = [("ListTasks", {}), ("DescribeClusters", {}), ("ListTaskDefinitions", {}),
             ("CreateCluster", {"clusterName": "again"}), ("RunTask", {"taskDefinition": "none"})]
    end = time.monotonic() + seconds
    with overload.Flood(server, calls, threads=6) as flood:
        while time.monotonic() < end and server.process.alive():
            rude = overload.Rude(server, 200)
            try:
                told = patient.run_task(taskDefinition=short)
                ran += [one["taskArn"] for one in told["tasks"]]
            except Exception as error:  # Throttled again and again is right under such a load.
                if "Throttling" not in str(error):
                    problems.append(f"run_task: {error}")
            time.sleep(1)
            rude.close()
            memory.append(overload.resident_mib(server.process))
            agent_memory.append(overload.resident_mib(agent.process))
            files.append(overload.descriptors(server.process))
    print(f"answered {flood.answered}, throttled {flood.throttled}, other {flood.other}, "
          f"tasks {len(ran)}")
    checks = [("the server is alive", server.process.alive()),
              ("the agent is alive", agent.process.alive()),
              ("calls were answered", flood.answered > seconds * 100),
              ("calls were throttled", flood.throttled > seconds * 10),
              ("no other answer than these", not [one for one in flood.other if one[:3] == "500"]),
              ("tasks were run", len(ran) > 0), (f"no problem: {problems[:3]}", not problems)]
    for name, samples, slack in (("server memory, MiB", memory, 16),
                                 ("agent memory, MiB", agent_memory, 8), ("descriptors", files, 60)):
        first, last, flat = samples_are_flat(samples, slack)
        checks.append((f"{name}: {first:.0f} early, {last:.0f} late, most {max(samples):.0f}", flat))
    try:
        harness.wait_for(lambda: server.call("ListClusters", {}).status == 200, "calls work", 5)
        for first in range(0, len(ran), 100):
            harness.wait_for(lambda: all(one["lastStatus"] == "STOPPED" for one in patient.
                                         describe_tasks(tasks=ran[first:first + 100])["tasks"]),
                             "all tasks have stopped", 120)
        checks.append(("everything works again", True))
    except AssertionError as error:
        checks.append((f"everything works again: {error}", False))
    agent.close()
    server.close()
    failed = 0
    for text, held in checks:
        print(("ok    " if held else "FAILED"), text)
        failed += not held
    print(f"overload: {len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
