"""Much more load than a server is to take, made cheaply: signed requests sent again and again."""

import json
import os
import re
import socket
import threading
import time

from harness import ECS_TARGET


def raw(server, operation, body):
    """The bytes of a signed call; good for five minutes."""
    data = json.dumps(body).encode()
    request = server.signed(data, f"{ECS_TARGET}.{operation}")
    lines = [f"{name}: {value}" for name, value in request.headers.items()]
    return ("\r\n".join(["POST / HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *lines,
                         f"Content-Length: {len(data)}", "", ""])).encode() + data


def resident_mib(process):
    with open(f"/proc/{process.child.pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1)) / 1024


def descriptors(process):
    return len(os.listdir(f"/proc/{process.child.pid}/fd"))


class Flood:
    """Threads that send calls as fast as they are answered, and others that are rude."""

    def __init__(self, server, calls, threads=8, depth=32):
        self.server = server
        self.calls = calls  # [(operation, body)]
        self.depth = depth
        self.answered = 0
        self.throttled = 0
        self.other = {}
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def run(self, number):
        while not self.stop.is_set():
            operation, body = self.calls[number % len(self.calls)]
            bundle = raw(self.server, operation, body) * self.depth
            try:
                with socket.create_connection(("127.0.0.1", self.server.port), 10) as connection:
                    connection.settimeout(10)
                    until = time.monotonic() + 60  # The signature gets old.
                    while not self.stop.is_set() and time.monotonic() < until:
                        connection.sendall(bundle)
                        self.count(connection)
            except OSError as error:
                self.note(type(error).__name__)
                time.sleep(0.05)

    def count(self, connection):
        """Reads as many responses as were asked for."""
        left, waiting = self.depth, b""
        while left:
            chunk = connection.recv(1 << 20)
            if not chunk:
                raise ConnectionResetError
            waiting += chunk
            while left:
                head, end, rest = waiting.partition(b"\r\n\r\n")
                size = re.search(rb"\r\nContent-Length: (\d+)", head, re.I) if end else None
                if not size or len(rest) < int(size.group(1)):
                    break
                body, waiting = rest[:int(size.group(1))], rest[int(size.group(1)):]
                left -= 1
                self.judge(head, body)

    def judge(self, head, body):
        status = head.split(b" ", 2)[1]
        with self.lock:
            if status == b"200":
                self.answered += 1
            elif status == b"400" and b"ThrottlingException" in body:
                self.throttled += 1
            else:
                key = f"{status.decode()} {body[:100]!r}"
                self.other[key] = self.other.get(key, 0) + 1

    def note(self, what):
        with self.lock:
            self.other[what] = self.other.get(what, 0) + 1


class Rude:
    """Connections that are opened and stay silent, stop in the middle or do not read."""

    def __init__(self, server, count):
        self.server = server
        self.connections = []
        big = raw(server, "ListTaskDefinitions", {})
        for i in range(count):
            try:
                one = socket.create_connection(("127.0.0.1", server.port), 10)
                one.settimeout(1)
                self.connections.append(one)
                if i % 4 == 1:
                    one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" +
                                b"x" * 60_000)
                if i % 4 == 2:
                    one.sendall(b"POST / HT")
                if i % 4 == 3:
                    one.sendall(big * 50)
            except OSError:
                pass

    def close(self):
        for one in self.connections:
            one.close()
