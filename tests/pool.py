"""Runs pieces of work several at a time, each in a forked process with an output file of its own."""

import os
import signal
import sys
import time
import traceback


def end_on_sigterm():
    """By an exception, so that what was started is ended."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))


class Pool:
    """`workers` processes at most. Each has one of as many slots, a number that no other has at that
    time: what a machine has only once, such as a range of ports, is shared out by it."""

    def __init__(self, workers, seconds_each):
        self.workers = workers
        self.seconds_each = seconds_each
        self.running = {}  # process id -> (work, slot, output path, when it is to have ended)
        self.free_slots = list(range(workers))
        self.started = 0

    def run(self, works, body, output_path):
        """Yields (work, output path, why it ended early or None) as each ends. `body(work, slot,
        number)` runs in the child, the output of which goes to `output_path(work)`."""
        works = list(works)
        try:
            while works or self.running:
                while works and self.free_slots:
                    self.start(works.pop(0), body, output_path)
                yield from self.ended()
                time.sleep(0.02)
        finally:
            self.end_all()

    def start(self, work, body, output_path):
        slot, path = self.free_slots.pop(0), output_path(work)
        self.started += 1
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self.be_child(work, body, slot, path)
        self.running[pid] = (work, slot, path, time.monotonic() + self.seconds_each)

    def be_child(self, work, body, slot, path):
        status = 1
        try:
            os.setsid()
            end_on_sigterm()
            with open(path, "wb") as output, open(os.devnull, "rb") as nothing:
                os.dup2(nothing.fileno(), 0)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            body(work, slot, self.started)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def ended(self):
        for pid, (work, slot, path, end) in list(self.running.items()):
            early = None
            done, status = os.waitpid(pid, os.WNOHANG)
            if done == 0 and time.monotonic() > end:
                early = f"not done within {self.seconds_each:g} s"
                status = self.end(pid)
            elif done == 0:
                continue
            elif status != 0:
                early = f"its process ended with {os.waitstatus_to_exitcode(status)}"
            del self.running[pid]
            self.free_slots.append(slot)
            yield work, path, early

    @staticmethod
    def end(pid):
        """SIGTERM, so that it ends what it has started; SIGKILL to all of it after 60 s."""
        os.kill(pid, signal.SIGTERM)  # A zombie until it is waited for: its id is still its own.
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status
            time.sleep(0.1)
        os.killpg(pid, signal.SIGKILL)
        return os.waitpid(pid, 0)[1]

    def end_all(self):
        for pid in self.running:
            os.kill(pid, signal.SIGTERM)
        for pid in self.running:
            self.end(pid)
        self.running.clear()
