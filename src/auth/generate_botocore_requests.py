#!/usr/bin/env python3
"""Prints botocore_requests_test_data.h: requests as botocore signs them, for sigv4_test.cpp.

botocore is the oracle: what it signs must verify. Run by hand when a case is added:
    python3 src/auth/generate_botocore_requests.py > src/auth/botocore_requests_test_data.h
"""

import datetime
from urllib.parse import urlsplit

import botocore.auth
import botocore.session
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

NOW = datetime.datetime(2025, 1, 31, 12, 0, 0)
botocore.auth.get_current_datetime = lambda *_, **__: NOW

LONG_LIVED = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = Credentials(
    "ASIDEXAMPLE", "xJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "IQoJb3Jp/Z2lu+X2Vj=="
)


def literal(data):
    """A C++ string literal; every odd byte octal, so that no digit behind it joins in."""
    if isinstance(data, str):
        data = data.encode()
    out = []
    for byte in data:
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        elif 32 <= byte < 127:
            out.append(char)
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out).replace("??", '?""?') + '"'


def emit(name, method, url, headers, body):
    parts = urlsplit(url)
    pairs = [
        (key if isinstance(key, str) else key.decode(), value if isinstance(value, str) else value.decode())
        for key, value in headers
    ]
    if not any(key.lower() == "host" for key, _ in pairs):
        pairs.append(("Host", parts.netloc))
    print(f"    {{{literal(name)}, {literal(method)}, {literal(parts.path or '/')}, {literal(parts.query)},")
    print("     {" + ", ".join(f"{{{literal(k)}, {literal(v)}}}" for k, v in pairs) + "},")
    body = body.encode() if isinstance(body, str) else body or b""
    print(f"     std::string({literal(body)}, {len(body)})}},")


def by_hand(name, url, method="POST", headers=(), body=b"{}", credentials=LONG_LIVED, service="ecs", expires=None):
    """Signs an odd request with botocore's signer alone."""
    request = AWSRequest(method=method, url=url, data=body)
    for key, value in headers:
        request.headers.add_header(key, value)
    if expires is None:
        SigV4Auth(credentials, service, "us-east-1").add_auth(request)
    else:
        SigV4QueryAuth(credentials, service, "us-east-1", expires=expires).add_auth(request)
    emit(name, method, request.url, request.headers.items(), request.data)


class Captured(Exception):
    pass


def by_client(name, service, operation, parameters, credentials=LONG_LIVED, endpoint="http://127.0.0.1:7117"):
    """Lets a real client make and sign the request, and stops it before it is sent."""
    session = botocore.session.Session()
    client = session.create_client(
        service,
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id=credentials.access_key,
        aws_secret_access_key=credentials.secret_key,
        aws_session_token=credentials.token,
        config=Config(user_agent="botocore", retries={"max_attempts": 1}),
    )

    def capture(request, **_):
        # These differ from run to run and are not signed.
        headers = [
            (k, v)
            for k, v in request.headers.items()
            if k.lower() not in ("user-agent", "amz-sdk-invocation-id", "amz-sdk-request", "content-length")
        ]
        emit(name, request.method, request.url, headers, request.body)
        raise Captured

    def freeze(request, **_):
        for header in ("amz-sdk-invocation-id", "amz-sdk-request"):
            del request.headers[header]

    client.meta.events.register("before-sign", freeze)
    client.meta.events.register("before-send", capture)
    try:
        getattr(client, operation)(**parameters)
    except Captured:
        return
    raise RuntimeError(f"{name} was not captured")


def presigned_by_client(name, credentials):
    session = botocore.session.Session()
    client = session.create_client(
        "sts",
        region_name="us-east-1",
        endpoint_url="http://127.0.0.1:7117",
        aws_access_key_id=credentials.access_key,
        aws_secret_access_key=credentials.secret_key,
        aws_session_token=credentials.token,
    )
    url = client.generate_presigned_url("get_caller_identity", ExpiresIn=900, HttpMethod="GET")
    emit(name, "GET", url, [], b"")


print("// Made by generate_botocore_requests.py; not to be changed by hand.")
print("// Every request is signed at 20250131T120000Z for us-east-1.")
print("#pragma once\n")
print("#include <string>\n#include <utility>\n#include <vector>\n")
print("namespace auth {\n")
print("struct SignedRequest {")
print("  std::string name;\n  std::string method;\n  std::string path;\n  std::string query;")
print("  std::vector<std::pair<std::string, std::string>> headers;\n  std::string body;\n};\n")
print("// clang-format off")
print("inline std::vector<SignedRequest> botocore_requests() {\n  return {")

by_client("ecs list_clusters", "ecs", "list_clusters", {})
by_client(
    "ecs run_task",
    "ecs",
    "run_task",
    {
        "cluster": "default",
        "taskDefinition": "gpu-train:3",
        "count": 2,
        "clientToken": "2f0b1c7e-6f2a-4f2b-9a52-0d6f5c0f8f10",
        "overrides": {"containerOverrides": [{"name": "main", "command": ["größe", "\"quoted\"", "a\tb"]}]},
    },
)
by_client("ecs with a session token", "ecs", "describe_clusters", {"clusters": ["default"]}, TEMPORARY)
by_client(
    "logs put_log_events",
    "logs",
    "put_log_events",
    {
        "logGroupName": "/ecs/gpu",
        "logStreamName": "main/main/0123",
        "logEvents": [{"timestamp": 1738324800000, "message": "loss=0.1 ✓"}],
    },
)
by_client("sts get_caller_identity in the query protocol", "sts", "get_caller_identity", {})
by_client("ecs over https on the default port", "ecs", "list_clusters", {}, LONG_LIVED, "https://berth.example.com")
presigned_by_client("sts presigned", LONG_LIVED)
presigned_by_client("sts presigned with a session token", TEMPORARY)

BASE = "http://127.0.0.1:7117"
for path in (
    "",
    "/",
    "//",
    "/a//b/",
    "/./a/../b",
    "/../..",
    "/a/b/..",
    "/a/b/.",
    "/a%20b",
    "/a%2Fb",
    "/%C3%A4/%25",
    "/a+b=c&d;e,f:g@h!i$j'k(l)m*n",
    "/~tilde-_.",
    "/...",
    "/a%2e%2e/b",
):
    by_hand(f"path '{path}'", BASE + path)
for query in (
    "b=2&a=1",
    "a=2&a=1&a=",
    "flag",
    "flag=&A=1&a=1",
    "k=a%20b&k%20l=v",
    "k=%2F%3F%3D%26",
    "k=-_.~09azAZ",
    "%C3%A4=%E2%9C%93",
    "a-b=1&a%20b=2&a.b=3",
    "k=a%3Db%3Dc",
):
    by_hand(f"query '{query}'", f"{BASE}/?{query}", method="GET", body=b"")
by_hand("agent's websocket upgrade", f"{BASE}/ws?clusterArn=arn%3Aaws%3Aecs%3Aus-east-1%3A123456789012%3Acluster%2Fdefault&agentHash=cafe&sendCredentials=true&seqNum=1", method="GET", body=b"",
        headers=(("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")))
by_hand("header white space", BASE, headers=(("X-Custom", "  a   b\t c  "), ("X-Empty", ""), ("x-lower", "1")))
by_hand("repeated headers", BASE, headers=(("X-Many", "b"), ("x-many", " a "), ("X-MANY", "c")))
by_hand("a header with UTF-8", BASE, headers=(("X-Name", "größe"),))
by_hand("headers that are not signed", BASE,
        headers=(("User-Agent", "x"), ("Expect", "100-continue"), ("Transfer-Encoding", "chunked"), ("X-Amzn-Trace-Id", "Root=1")))
by_hand("Date instead of X-Amz-Date", BASE, headers=(("Date", "now"),))
by_hand("a stated payload hash", BASE,
        headers=(("X-Amz-Content-SHA256", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),))
by_hand("a body of any bytes", BASE, body=bytes(range(256)))
by_hand("an empty body", BASE, body=b"")
by_hand("a session token in a header", BASE, credentials=TEMPORARY)
by_hand("presigned with a path and a query", f"{BASE}/a%20b/?x=1&y=%2F", method="GET", body=b"", expires=60)
by_hand("presigned for a week", BASE + "/", method="GET", body=b"", expires=604800, credentials=TEMPORARY)

print("  };\n}\n// clang-format on\n")
print("}  // namespace auth")
