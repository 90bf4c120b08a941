"""Images from a registry of the test's own: what is shown of a pull, how it is logged in to, which
images are pulled again and which leave the machine."""

import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import tarfile
import threading
import time
import unittest

from harness import IMAGE, Server, Tasks, brief, container_of, shell, wait_for

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
CONFIG = "application/vnd.docker.container.image.v1+json"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def busybox_layer():
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(os.path.realpath("/bin/busybox"), "bin/busybox")
        for applet in ("sh", "sleep", "true"):
            entry = tarfile.TarInfo(f"bin/{applet}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(entry)
    return archive.getvalue()


class Registry:
    """Docker's registry protocol, as far as a pull goes: one image under any name."""

    def __init__(self, password=None, slow=0.0):
        self.pulls = 0
        self.slow = slow
        self.password = password
        layer = busybox_layer()
        # Different registries have different images, or Docker would have the layers already.
        config = json.dumps({
            "architecture": "amd64", "os": "linux", "config": {"Cmd": ["sleep", "600"], "Labels": {
                "made": str(time.time())}},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer)]}}).encode()
        packed = gzip.compress(layer, compresslevel=1, mtime=int(time.time()))
        self.blobs = {digest(config): config, digest(packed): packed}
        self.manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "size": len(config), "digest": digest(config)},
            "layers": [{"mediaType": LAYER, "size": len(packed), "digest": digest(packed)}],
        }).encode()
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.answer(self)

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def image(self):
        return f"127.0.0.1:{self.port}/app:1"

    def answer(self, request):
        expected = "Basic " + base64.b64encode(f"user:{self.password}".encode()).decode()
        if self.password and request.headers.get("Authorization") != expected:
            return self.send(request, 401, b"{}", {"WWW-Authenticate": 'Basic realm="test"'})
        if "/manifests/" in request.path:
            # Docker asks so at the beginning of every pull.
            self.pulls += request.command == "HEAD"
            return self.send(request, 200, self.manifest, {
                "Content-Type": MANIFEST, "Docker-Content-Digest": digest(self.manifest)})
        blob = self.blobs.get(request.path.rsplit("/", 1)[-1])
        if blob is not None:
            time.sleep(self.slow)
            return self.send(request, 200, blob, {"Content-Type": "application/octet-stream"})
        return self.send(request, 200 if request.path == "/v2/" else 404, b"{}", {})

    def send(self, request, status, body, headers):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Trickling(Registry):
    """Hands its layers out bit by bit."""

    def send(self, request, status, body, headers):
        if len(body) < 100_000 or request.command == "HEAD":
            return super().send(request, status, body, headers)
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        step = len(body) // 20 + 1
        for first in range(0, len(body), step):
            request.wfile.write(body[first:first + step])
            request.wfile.flush()
            time.sleep(0.4)


class Ecr(http.server.BaseHTTPRequestHandler):
    """Amazon ECR, as far as its tokens go. `asked`: what it was asked for, and by whom."""

    asked = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.headers["X-Amz-Target"], self.headers["Authorization"],
                           json.loads(body)))
        token = base64.b64encode(b"AWS:the-password").decode()
        answer = json.dumps({"authorizationData": [{
            "authorizationToken": token, "expiresAt": time.time() + 43200,
            "proxyEndpoint": f"https://{ECR_REGISTRY}"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


ECR_REGISTRY = "123456789012.dkr.ecr.eu-nowhere-1.amazonaws.com"


class Images(unittest.TestCase):
    def registry(self, **members):
        made = Registry(**members)
        self.addCleanup(made.close)
        return made

    def server(self, *options, **members):
        made = Server("--emulate", "c5.large", *options, **members)
        self.addCleanup(made.close)
        made.wait_connected(1)
        self.tasks = Tasks(made)
        return made

    def forget(self, server, registry):
        for image in server.docker.run("images", "--format", "{{.Repository}}:{{.Tag}}").split():
            if f":{registry.port}/" in image:
                server.docker.run("rmi", "-f", image, check=False)

    def run_image(self, image, **members):
        arn = self.tasks.register("image", {"image": image, **shell("exit 0")}, **members)
        return self.tasks.wait(self.tasks.run(arn), "STOPPED", 60)

    def test_a_slow_pull_is_shown_while_it_lasts_and_its_times_afterwards(self):
        server, registry = self.server(), self.registry(slow=2.0)
        self.addCleanup(self.forget, server, registry)
        task = self.tasks.run_containers("image", {"image": registry.image(), **shell("exit 0")})

        def pulling():
            told = server.call("DescribeTasks", {"tasks": [task]}).json()["tasks"][0]
            return told if told.get("berthStage") == "PULLING" else None
        told = wait_for(pulling, "the pull is shown", 20)
        self.assertEqual("PENDING", told["lastStatus"])
        self.assertIn("pullStartedAt", told)
        done = self.tasks.wait(task, "STOPPED", 60)
        self.assertEqual(0, container_of(done)["exitCode"], brief(done))
        self.assertGreater((done["pullStoppedAt"] - done["pullStartedAt"]).total_seconds(), 1.5)
        self.assertEqual(digest(registry.manifest), container_of(done)["imageDigest"])

    def test_the_progress_of_a_pull_is_shown_and_grows(self):
        server, registry = self.server(), Trickling()
        self.addCleanup(registry.close)
        self.addCleanup(self.forget, server, registry)
        arn = self.tasks.run_containers("image", {"image": registry.image(), **shell("exit 0")})
        seen = []

        def stopped():
            told = server.call("DescribeTasks", {"tasks": [arn]}).json()["tasks"][0]
            percent = told.get("berthPullPercent")
            if percent is not None and percent not in seen:
                self.assertEqual("PULLING", told["berthStage"])
                seen.append(percent)
            return told["lastStatus"] == "STOPPED" and told
        done = wait_for(stopped, "the task has run", 60)
        self.assertEqual(0, container_of(done)["exitCode"], brief(done))
        self.assertGreater(len([one for one in seen if 0 < one < 100]), 2, seen)
        self.assertEqual(sorted(seen), seen)
        self.assertNotIn("berthPullPercent", done)

    def test_images_of_amazon_ecr_are_pulled_with_a_token(self):
        ecr = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ecr)
        threading.Thread(target=ecr.serve_forever, daemon=True).start()
        self.addCleanup(ecr.server_close)
        self.addCleanup(ecr.shutdown)
        image = f"{ECR_REGISTRY}/app:1"
        self.server("--ecr-endpoint", f"http://127.0.0.1:{ecr.server_port}")
        without = self.run_image(image)
        self.assertIn("CannotPullECRContainerError", without["stoppedReason"], brief(without))
        self.assertIn("BERTH_ECR_ACCESS_KEY_ID", without["stoppedReason"])
        self.assertEqual([], Ecr.asked)
        self.server("--ecr-endpoint", f"http://127.0.0.1:{ecr.server_port}", environment={
            "BERTH_ECR_ACCESS_KEY_ID": "AKIAAWS", "BERTH_ECR_SECRET_ACCESS_KEY": "secret"})
        # The token is fetched; that registry is nowhere.
        task = self.run_image(image)
        self.assertIn("CannotPullContainerError", task["stoppedReason"], brief(task))
        target, authorization, body = Ecr.asked[0]
        self.assertEqual("AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken", target)
        self.assertIn("Credential=AKIAAWS/", authorization)
        self.assertIn("/eu-nowhere-1/ecr/aws4_request", authorization)
        self.assertEqual({"registryIds": ["123456789012"]}, body)

    def test_repository_credentials_log_in(self):
        server, registry = self.server(), self.registry(password="pass")
        self.addCleanup(self.forget, server, registry)
        secrets = server.client("secretsmanager")

        def run(password):
            secret = secrets.create_secret(Name=f"registry-{password}", SecretString=json.dumps(
                {"username": "user", "password": password}))["ARN"]
            arn = self.tasks.register("private", {
                "image": registry.image(), **shell("exit 0"),
                "repositoryCredentials": {"credentialsParameter": secret}},
                executionRoleArn="arn:aws:iam::123456789012:role/pull")
            return self.tasks.wait(self.tasks.run(arn), "STOPPED", 90)
        wrong = run("wrong")
        self.assertEqual("TaskFailedToStart", wrong["stopCode"], brief(wrong))
        self.assertIn("CannotPullContainerError", wrong["stoppedReason"])
        right = run("pass")
        self.assertEqual(0, container_of(right)["exitCode"], brief(right))

    def test_the_behaviours_pull_again_or_not(self):
        for behavior, pulls in (("prefer-cached", 1), ("once", 1), ("default", 2), ("always", 2)):
            with self.subTest(behavior):
                server = self.server("--image-pull-behavior", behavior)
                registry = self.registry()
                self.addCleanup(self.forget, server, registry)
                for _ in range(2):
                    task = self.run_image(registry.image())
                    self.assertEqual(0, container_of(task)["exitCode"], brief(task))
                self.assertEqual(pulls, registry.pulls)

    def test_without_the_registry_default_takes_what_is_there_and_always_does_not(self):
        for behavior, runs in (("default", True), ("always", False)):
            with self.subTest(behavior):
                server = self.server("--image-pull-behavior", behavior)
                registry = Registry()
                self.addCleanup(self.forget, server, registry)
                self.run_image(registry.image())
                registry.close()
                task = self.run_image(registry.image())
                if runs:
                    self.assertEqual(0, container_of(task).get("exitCode"), brief(task))
                else:
                    self.assertIn("CannotPullContainerError", task["stoppedReason"], brief(task))

    def test_unused_images_that_were_pulled_leave_and_others_stay(self):
        server = self.server("--image-cleanup-interval", "2s", "--image-minimum-age", "1s",
                             "--task-cleanup-wait", "1s")
        used, unused = self.registry(), self.registry()
        self.addCleanup(self.forget, server, used)
        self.addCleanup(self.forget, server, unused)
        busy = self.tasks.run_containers("busy", {
            "image": used.image(), **shell("exec sleep 600"), "stopTimeout": 1})
        self.addCleanup(self.tasks.stop, busy)
        self.tasks.wait(busy, "RUNNING")
        self.run_image(unused.image())

        def gone():
            return not server.docker.run("images", "-q", unused.image())
        wait_for(gone, "the image that nobody uses is removed", 40)
        self.assertTrue(server.docker.run("images", "-q", used.image()))
        self.assertTrue(server.docker.run("images", "-q", IMAGE), "brought in by hand")
        self.assertEqual("RUNNING", self.tasks.describe(busy)["lastStatus"])
