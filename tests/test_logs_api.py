"""The CloudWatch Logs operations through boto3."""

import time
import unittest

import botocore.exceptions

from harness import Server

server = None
logs = None


def setUpModule():
    global server, logs
    server = Server(command="server")
    logs = server.client("logs")


def tearDownModule():
    server.close()


def now_ms():
    return int(time.time() * 1000)


class Logs(unittest.TestCase):
    def refused(self, code, call, **members):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            call(**members)
        self.assertEqual(code, caught.exception.response["Error"]["Code"],
                         caught.exception.response)

    def filled(self, group, stream, messages, start=None):
        """A stream of a group with these messages, one millisecond apart."""
        try:
            logs.create_log_group(logGroupName=group)
        except logs.exceptions.ResourceAlreadyExistsException:
            pass
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
        start = start or now_ms() - 100_000
        logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=[
            {"timestamp": start + i, "message": text} for i, text in enumerate(messages)])
        return start

    def test_groups_are_made_described_retained_and_deleted(self):
        for name in ("/a/one", "/a/two", "/b/one"):
            logs.create_log_group(logGroupName=name)
        self.refused("ResourceAlreadyExistsException", logs.create_log_group, logGroupName="/a/one")
        self.refused("InvalidParameterException", logs.create_log_group, logGroupName="no blanks")
        logs.put_retention_policy(logGroupName="/a/one", retentionInDays=7)
        self.refused("InvalidParameterException", logs.put_retention_policy,
                     logGroupName="/a/one", retentionInDays=8)
        self.refused("ResourceNotFoundException", logs.put_retention_policy,
                     logGroupName="/absent", retentionInDays=7)
        found = logs.describe_log_groups(logGroupNamePrefix="/a/")["logGroups"]
        self.assertEqual(["/a/one", "/a/two"], [one["logGroupName"] for one in found])
        self.assertEqual(7, found[0]["retentionInDays"])
        self.assertIn(f":{server.account}:log-group:/a/one", found[0]["arn"])
        pages = list(logs.get_paginator("describe_log_groups").paginate(
            PaginationConfig={"PageSize": 2}))
        names = [one["logGroupName"] for page in pages for one in page["logGroups"]]
        self.assertEqual(sorted(names), names)
        self.assertLessEqual({"/a/one", "/a/two", "/b/one"}, set(names))
        self.assertGreaterEqual(len(pages), 2)
        for name in ("/a/one", "/a/two", "/b/one"):
            logs.delete_log_group(logGroupName=name)
        self.assertEqual([], logs.describe_log_groups(logGroupNamePrefix="/a/")["logGroups"])
        self.refused("ResourceNotFoundException", logs.delete_log_group, logGroupName="/a/one")

    def test_streams_are_described_by_prefix_and_time(self):
        start = now_ms() - 100_000
        for i, name in enumerate(("p/web/2", "p/web/1", "q/web/1")):
            self.filled("streams", name, ["x"], start + 1000 * i)
        def names(**members):
            pages = logs.get_paginator("describe_log_streams").paginate(
                logGroupName="streams", PaginationConfig={"PageSize": 2}, **members)
            return [one["logStreamName"] for page in pages for one in page["logStreams"]]
        self.assertEqual(["p/web/1", "p/web/2", "q/web/1"], names())
        self.assertEqual(["p/web/1", "p/web/2"], names(logStreamNamePrefix="p/"))
        self.assertEqual(["q/web/1", "p/web/1", "p/web/2"],
                         names(orderBy="LastEventTime", descending=True))
        told = logs.describe_log_streams(logGroupName="streams", logStreamNamePrefix="q/")
        self.assertEqual(start + 2000, told["logStreams"][0]["lastEventTimestamp"])
        self.refused("ResourceNotFoundException", logs.describe_log_streams, logGroupName="absent")
        self.refused("ResourceAlreadyExistsException", logs.create_log_stream,
                     logGroupName="streams", logStreamName="q/web/1")

    def test_get_log_events_in_pages_both_ways(self):
        messages = [f"line {i}" for i in range(25)]
        start = self.filled("paged", "s", messages)
        def page(**members):
            return logs.get_log_events(logGroupName="paged", logStreamName="s", limit=10, **members)
        seen, token = [], None
        while True:
            told = page(startFromHead=True, **({"nextToken": token} if token else {}))
            seen += [one["message"] for one in told["events"]]
            if told["nextForwardToken"] == token:
                break
            token = told["nextForwardToken"]
        self.assertEqual(messages, seen)
        last = page()
        self.assertEqual(messages[15:], [one["message"] for one in last["events"]])
        before = page(nextToken=last["nextBackwardToken"])
        self.assertEqual(messages[5:15], [one["message"] for one in before["events"]])
        between = page(startFromHead=True, startTime=start + 3, endTime=start + 6)
        self.assertEqual(messages[3:6], [one["message"] for one in between["events"]])
        self.assertTrue(all(one["ingestionTime"] >= one["timestamp"] for one in last["events"]))
        # The token of the end finds what comes later.
        logs.put_log_events(logGroupName="paged", logStreamName="s", logEvents=[
            {"timestamp": now_ms(), "message": "late"}])
        later = page(startFromHead=True, nextToken=token)
        self.assertEqual(["late"], [one["message"] for one in later["events"]])
        self.refused("InvalidParameterException", page, nextToken="nonsense")
        self.refused("ResourceNotFoundException", logs.get_log_events, logGroupName="paged",
                     logStreamName="absent")

    def test_filter_log_events_over_streams(self):
        start = now_ms() - 50_000
        self.filled("filtered", "a/1", [f"a ERROR {i}" if i % 2 else f"a ok {i}"
                                        for i in range(10)], start)
        self.filled("filtered", "b/1", [f"b ERROR {i}" for i in range(10)], start)
        def found(**members):
            pages = logs.get_paginator("filter_log_events").paginate(
                logGroupName="filtered", PaginationConfig={"PageSize": 4}, **members)
            return [event for page in pages for event in page["events"]]
        everything = found()
        self.assertEqual(20, len(everything))
        self.assertEqual(20, len({one["eventId"] for one in everything}))
        times = [one["timestamp"] for one in everything]
        self.assertEqual(sorted(times), times)
        self.assertEqual(15, len(found(filterPattern="ERROR")))
        self.assertEqual(5, len(found(filterPattern="ERROR", logStreamNames=["a/1"])))
        self.assertEqual(10, len(found(logStreamNamePrefix="b/")))
        self.assertEqual(4, len(found(startTime=start + 8)))
        self.assertEqual({"a/1", "b/1"}, {one["logStreamName"] for one in everything})

    def test_put_log_events_is_checked(self):
        self.filled("checked", "s", ["x"])
        def put(events):
            return logs.put_log_events(logGroupName="checked", logStreamName="s", logEvents=events)
        now = now_ms()
        self.refused("InvalidParameterException", put, events=[
            {"timestamp": now, "message": "b"}, {"timestamp": now - 1, "message": "a"}])
        told = put([{"timestamp": now - 15 * 86_400_000, "message": "old"},
                    ])["rejectedLogEventsInfo"]
        self.assertEqual(1, told["tooOldLogEventEndIndex"])
        told = put([{"timestamp": now + 3 * 3_600_000, "message": "new"}])["rejectedLogEventsInfo"]
        self.assertEqual(0, told["tooNewLogEventStartIndex"])
        self.refused("ResourceNotFoundException", logs.put_log_events, logGroupName="checked",
                     logStreamName="absent", logEvents=[{"timestamp": now, "message": "x"}])

    def test_a_full_batch_and_any_text(self):
        messages = [f"{i} " + "é\t\"\\\u0001\U0001f680" for i in range(10_000)]
        self.filled("full", "s", messages)
        seen, token = [], None
        while True:
            told = logs.get_log_events(logGroupName="full", logStreamName="s", startFromHead=True,
                                       **({"nextToken": token} if token else {}))
            seen += [one["message"] for one in told["events"]]
            if told["nextForwardToken"] == token:
                break
            token = told["nextForwardToken"]
        self.assertEqual(messages, seen)

    def test_everything_is_there_after_kill_9(self):
        self.filled("durable", "s", ["first", "second"])
        server.kill()
        server.start()
        told = logs.get_log_events(logGroupName="durable", logStreamName="s", startFromHead=True)
        self.assertEqual(["first", "second"], [one["message"] for one in told["events"]])
