"""A disk that becomes read-only under a running server: nothing acknowledged is lost, every answer
says why, and the server goes on by itself once the disk is writable again."""

import glob
import os
import subprocess
import tempfile
import unittest

from harness import Server, wait_for


class LoopDisk:
    """An ext4 file system in a file, which the kernel turns read-only at an error, as it does with
    a machine's own disk."""

    def __init__(self, mebibytes=32):
        self.folder = tempfile.mkdtemp(prefix="berth-loop-")
        self.image = os.path.join(self.folder, "image")
        self.path = os.path.join(self.folder, "disk")
        os.mkdir(self.path)
        with open(self.image, "wb") as file:
            file.truncate(mebibytes << 20)
        subprocess.run(["mkfs.ext4", "-q", self.image], check=True)
        self.mounted = False
        self.mount()

    def mount(self):
        subprocess.run(["mount", "-o", "loop,errors=remount-ro", self.image, self.path],
                       check=True)
        self.mounted = True

    def fail(self):
        """An error of the device: what is written from now on is refused with EROFS."""
        device = os.path.basename(subprocess.run(
            ["findmnt", "-no", "SOURCE", self.path], capture_output=True, text=True,
            check=True).stdout.strip())
        with open(f"/sys/fs/ext4/{device}/trigger_fs_error", "w") as trigger:
            trigger.write("a test's error")

    def unmount(self):
        subprocess.run(["umount", self.path], check=True)
        self.mounted = False
        # A container that starts meanwhile has the mount too for a moment, and with it the failed
        # file system lives on.
        wait_for(lambda: not self.devices(), "the image to be nobody's device")

    def devices(self):
        return subprocess.run(["losetup", "-j", self.image], capture_output=True, text=True,
                              check=True).stdout

    def repair(self):
        """After unmount(): as an operator would."""
        done = subprocess.run(["e2fsck", "-fy", self.image], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise AssertionError(done)
        self.mount()

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.path], check=True)
        os.rmdir(self.path)
        os.unlink(self.image)
        os.rmdir(self.folder)


class ReadOnlyDisk(unittest.TestCase):
    def setUp(self):
        self.disk = LoopDisk()
        self.addCleanup(self.disk.close)
        self.server = Server(command="server", data=os.path.join(self.disk.path, "data"))
        self.addCleanup(self.server.close)
        self.acknowledged = set()
        for number in range(10):
            self.assertEqual(200, self.create(f"before-{number}").status)

    def create(self, name):
        reply = self.server.call("CreateCluster", {"clusterName": name})
        if reply.status == 200:
            self.acknowledged.add(name)
        return reply

    def there(self):
        pages = self.server.client("ecs").get_paginator("list_clusters").paginate()
        return {arn.rsplit("/", 1)[1] for page in pages for arn in page["clusterArns"]}

    def assert_refused(self, names, cause):
        for name in names:
            reply = self.create(name)
            self.assertEqual(500, reply.status, reply)
            self.assertEqual("ServerException", reply.error())
            self.assertIn(os.path.join(self.server.data, "state.db"), reply.json()["message"])
            self.assertRegex(reply.json()["message"].lower(), cause)
            self.assertTrue(self.server.process.alive(), self.server.output()[-3000:])

    def test_a_file_system_that_the_kernel_has_turned_read_only(self):
        self.disk.fail()
        self.assert_refused([f"during-{number}" for number in range(5)], "read-only")
        self.server.kill()
        self.disk.unmount()
        self.disk.repair()
        self.server.start()
        self.assertLessEqual(self.acknowledged, self.there())
        self.assertEqual(200, self.create("after").status)

    def test_files_that_may_not_be_written_for_a_while(self):
        for turn in range(2):
            # Not the index that SQLite has in memory: a write to a mapped page that may not be
            # written would end any process.
            files = glob.glob(os.path.join(self.server.data, "state.db"))
            files += glob.glob(os.path.join(self.server.data, "state.db-wal"))
            subprocess.run(["chattr", "+i", *files, self.server.data], check=True)
            try:
                self.assert_refused([f"during-{turn}-{number}" for number in range(5)],
                                    "not permitted|read-only")
            finally:
                subprocess.run(["chattr", "-i", *files, self.server.data], check=True)
            wait_for(lambda: self.create(f"after-{turn}").status == 200, "calls work again", 30)
            self.assertLessEqual(self.acknowledged, self.there())
        self.server.kill()
        self.server.start()
        self.assertLessEqual(self.acknowledged, self.there())


if __name__ == "__main__":
    unittest.main()
