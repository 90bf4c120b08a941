"""Malformed input of every kind is answered with an error, and the server goes on."""

import datetime
import random
import socket
import threading
import unittest
import xml.etree.ElementTree

import botocore.auth
import botocore.awsrequest
import botocore.credentials

from harness import ECS_TARGET, LOGS_TARGET, Server

server = None
PING = f"{ECS_TARGET}.ListClusters"


def setUpModule():
    global server
    server = Server(command="server")


def tearDownModule():
    server.close()


def head(*lines):
    return ("\r\n".join([*lines, "", ""])).encode()


class BadInput(unittest.TestCase):
    def tearDown(self):
        self.assertTrue(server.process.alive(), server.output()[-4000:])
        self.assertEqual(200, server.call("ListClusters", {}).status)

    def refused(self, reply, code, *parts, status=400):
        self.assertEqual(status, reply.status, reply)
        self.assertEqual(code, reply.error(), reply)
        self.assertEqual(code, reply.headers.get("x-amzn-errortype", "").split(":")[0], reply)
        self.assertTrue(reply.headers.get("x-amzn-requestid"), reply)
        for part in parts:
            self.assertIn(part, reply.json()["message"])


class Bodies(BadInput):
    def test_truncated_json(self):
        whole = b'{"family": "f", "containerDefinitions": [{"name": "a", "memory": 4}]}'
        for size in range(1, len(whole)):
            reply = server.call("RegisterTaskDefinition", whole[:size])
            self.refused(reply, "SerializationException")

    def test_what_is_not_json(self):
        for body in (b"null", b"[]", b'"text"', b"12", b"{}{}", b"{'a': 1}", b"\xff\xfe{}",
                     b'{"clusters": "\xc3\x28"}', b"<xml/>", b"{" * 100000, b"[" * 100000,
                     b'{"a":' * 5000 + b"1" + b"}" * 5000):
            with self.subTest(body[:20]):
                self.refused(server.call("DescribeClusters", body), "SerializationException")

    def test_a_wrong_type_names_the_member(self):
        for operation, body, member in (
                ("DescribeClusters", {"clusters": "default"}, "clusters"),
                ("DescribeClusters", {"clusters": [1]}, "clusters"),
                ("RunTask", {"taskDefinition": "a", "count": "three"}, "count"),
                ("RunTask", {"taskDefinition": {"a": 1}}, "taskDefinition"),
                ("RunTask", {"taskDefinition": "a", "count": 2**40}, "count"),
                ("RunTask", {"taskDefinition": "a", "enableExecuteCommand": "yes"},
                 "enableExecuteCommand"),
                ("RegisterTaskDefinition", {"family": "f", "containerDefinitions": [
                    {"name": "a", "memory": "64"}]}, "memory"),
                ("RegisterTaskDefinition", {"family": "f", "containerDefinitions": {}},
                 "containerDefinitions")):
            with self.subTest(operation=operation, body=body):
                self.refused(server.call(operation, body), "SerializationException", member)

    def test_a_missing_member_and_a_bad_enum_name_the_member(self):
        self.refused(server.call("RunTask", {}), "InvalidParameterException", "taskDefinition")
        self.refused(server.call("RegisterTaskDefinition", {
            "family": "f", "containerDefinitions": [], "networkMode": "tokenring"}),
            "InvalidParameterException", "networkMode")

    def test_an_unknown_member_is_ignored(self):
        self.assertEqual(200, server.call("ListClusters", {"nobodyKnows": [1, {"x": None}]}).status)

    def test_ten_megabytes(self):
        reply = server.call("DescribeClusters", b'{"clusters": ["' + b"a" * 10_000_000 + b'"]}')
        self.assertEqual(413, reply.status, reply)

    def test_a_log_batch_may_have_six_mebibytes_but_not_more(self):
        target = f"{LOGS_TARGET}.PutLogEvents"
        line = b"x" * 5_000_000
        reply = server.send(server.signed(b'{"a": "' + line + b'"}', target, "logs"))
        self.refused(reply, "InvalidParameterException")
        reply = server.send(server.signed(b'{"a": "' + line * 2 + b'"}', target, "logs"))
        self.assertEqual(413, reply.status, reply)

    def test_random_bodies(self):
        chance = random.Random(7)
        whole = b'{"taskDefinition": "a", "count": 1, "overrides": {"containerOverrides": []}}'
        for _ in range(200):
            body = bytearray(whole)
            for _ in range(chance.randrange(1, 6)):
                body[chance.randrange(len(body))] = chance.randrange(256)
            reply = server.call("RunTask", bytes(body))
            self.assertEqual(400, reply.status, (body, reply))


class Targets(BadInput):
    def test_an_unknown_operation_is_named(self):
        reply = server.call("LaunchRocket", {})
        self.refused(reply, "UnknownOperationException", "LaunchRocket")

    def test_an_unknown_target(self):
        for target in ("Nonsense", "Nonsense.ListClusters", f"{LOGS_TARGET}.ListClusters", "."):
            with self.subTest(target):
                reply = server.call("", {}, target=target)
                self.assertEqual(400, reply.status, reply)
                self.assertEqual("UnknownOperationException", reply.error(), reply)

    def test_no_target(self):
        self.assertEqual(400, server.send(server.signed(b"{}")).status)


class Signatures(BadInput):
    def test_an_unsigned_request(self):
        body = b"{}"
        answer = server.send_raw(head(
            "POST / HTTP/1.1", "Host: x", f"X-Amz-Target: {PING}", "Connection: close",
            "Content-Type: application/x-amz-json-1.1", f"Content-Length: {len(body)}") + body)
        self.assertIn(b"400 ", answer.split(b"\r\n")[0])
        self.assertIn(b"MissingAuthenticationTokenException", answer)

    def test_a_wrong_key(self):
        self.refused(server.call("ListClusters", {}, key="AKIAIOSFODNN7EXAMPLE"),
                     "UnrecognizedClientException")

    def test_a_wrong_secret(self):
        self.refused(server.call("ListClusters", {}, secret="wrong"), "InvalidSignatureException")

    def test_another_body_than_the_signed_one(self):
        request = server.signed(b"{}", PING)
        self.refused(server.send(request, body=b'{"maxResults": 1}'), "InvalidSignatureException")

    def test_malformed_authorization(self):
        for value in ("", "Bearer x", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=a",
                      "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=zz",
                      "AWS4-HMAC-SHA256 " + "=,/" * 1000):
            with self.subTest(value[:40]):
                request = server.signed(b"{}", PING)
                request.headers.replace_header("Authorization", value)
                self.assertEqual(400, server.send(request).status)

    def test_a_clock_that_is_off(self):
        now = datetime.datetime.utcnow()
        for minutes in (-6, 6):
            reply = server.call("ListClusters", {}, when=now + datetime.timedelta(minutes=minutes))
            self.refused(reply, "InvalidSignatureException")
            self.assertRegex(reply.json()["message"], "Signature (expired|not yet current)")
        near = server.call("ListClusters", {}, when=now - datetime.timedelta(minutes=4))
        self.assertEqual(200, near.status)

    def test_the_scope_of_another_region_names_ours_and_the_flag(self):
        self.refused(server.call("ListClusters", {}, region="eu-west-3"),
                     "InvalidSignatureException", "us-east-1", "--region")

    def test_the_scope_of_an_unknown_service(self):
        reply = server.call("ListClusters", {}, service="dynamodb")
        self.refused(reply, "UnknownOperationException", "no service 'dynamodb'", "'ecs'")

    def sts(self, query, **signing):
        return server.send(server.signed(
            query.encode(), service="sts",
            headers={"Content-Type": "application/x-www-form-urlencoded"}, **signing))

    def test_sts_tells_errors_in_xml(self):
        wrong = {
            "SignatureDoesNotMatch": self.sts("Action=GetCallerIdentity", secret="wrong"),
            "InvalidClientTokenId": self.sts("Action=GetCallerIdentity",
                                             key="AKIAIOSFODNN7XXXXXXX"),
            "InvalidAction": self.sts("Action=Nonsense&Version=2011-06-15"),
        }
        for code, reply in wrong.items():
            with self.subTest(code):
                self.assertIn(reply.status, (400, 403), reply)
                root = xml.etree.ElementTree.fromstring(reply.body)
                texts = {node.tag.rsplit("}", 1)[-1]: node.text for node in root.iter()}
                self.assertEqual(code, texts.get("Code"), reply)
                self.assertTrue(texts.get("Message"), reply)
                self.assertTrue(texts.get("RequestId"), reply)
                self.assertEqual("text/xml", reply.headers["content-type"].split(";")[0])

    def test_a_presigned_url_of_get_caller_identity(self):
        def presigned(path="/?Action=GetCallerIdentity&Version=2011-06-15"):
            request = botocore.awsrequest.AWSRequest(method="GET", url=server.url + path)
            botocore.auth.SigV4QueryAuth(
                botocore.credentials.Credentials(server.key, server.secret), "sts",
                server.region, expires=60).add_auth(request)
            return request.prepare().url[len(server.url):]
        def get(target):
            return server.send_raw(head(f"GET {target} HTTP/1.1",
                                        f"Host: 127.0.0.1:{server.port}", "Connection: close"))
        good = presigned()
        answer = get(good)
        self.assertIn(b" 200 ", answer.split(b"\r\n")[0], answer)
        self.assertIn(f"<Account>{server.account}</Account>".encode(), answer)
        bad = get(good.replace("X-Amz-Expires=60", "X-Amz-Expires=600"))
        self.assertIn(b" 403 ", bad.split(b"\r\n")[0], bad)
        self.assertIn(b"SignatureDoesNotMatch", bad)


class Wire(BadInput):
    def test_binary_junk(self):
        chance = random.Random(3)
        for size in (1, 100, 5000, 200_000):
            answer = server.send_raw(chance.randbytes(size) + b"\r\n\r\n", 5)
            if answer:
                self.assertIn(b" 400 ", answer.split(b"\r\n")[0], answer[:200])

    def test_a_head_over_64_kib(self):
        answer = server.send_raw(head("POST / HTTP/1.1", "Host: x", "X-Long: " + "a" * 80_000))
        self.assertIn(b" 431 ", answer.split(b"\r\n")[0], answer[:200])

    def test_lengths_that_contradict_each_other(self):
        for lines in (("Content-Length: 2", "Content-Length: 3"), ("Content-Length: -1",),
                      ("Content-Length: 99999999999999999999999",), ("Content-Length: two",),
                      ("Content-Length: 2", "Transfer-Encoding: chunked")):
            with self.subTest(lines):
                answer = server.send_raw(head("POST / HTTP/1.1", "Host: x", *lines) + b"{}", 5)
                self.assertRegex(answer.split(b"\r\n")[0], rb" (400|413) ", answer[:200])

    def test_expect_100_continue(self):
        request = server.signed(b"{}", PING)
        lines = [f"{name}: {value}" for name, value in request.headers.items()]
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(head("POST / HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *lines,
                                    "Content-Length: 2", "Expect: 100-continue",
                                    "Connection: close"))
            self.assertIn(b" 100 ", connection.recv(100))
            connection.sendall(b"{}")
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
            self.assertIn(b" 200 ", answer.split(b"\r\n")[0], answer)

    def test_clients_with_half_a_request_hold_up_nobody(self):
        half = head("POST / HTTP/1.1", "Host: x", "Content-Length: 1000")
        slow = []
        try:
            for i in range(100):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
                connection.sendall(half[:10] if i % 2 else half + b"{")
                slow.append(connection)
            answered = []
            def ask():
                answered.append(server.call("ListClusters", {}).status)
            askers = [threading.Thread(target=ask) for _ in range(8)]
            for one in askers:
                one.start()
            for one in askers:
                one.join(20)
            self.assertEqual([200] * 8, answered)
        finally:
            for connection in slow:
                connection.close()

    def test_a_connection_serves_many_requests(self):
        request = server.signed(b"{}", PING)
        lines = [f"{name}: {value}" for name, value in request.headers.items()]
        one = head("POST / HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *lines,
                   "Content-Length: 2") + b"{}"
        answer = server.send_raw(one * 5)
        self.assertEqual(5, answer.count(b"HTTP/1.1 200 "), answer[:500])
