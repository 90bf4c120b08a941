"""The certificate of a server that goes on: a new one is served without a restart."""

import os
import shutil
import ssl
import socket
import subprocess
import tempfile
import unittest

from harness import Server, wait_for


class Certificates(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="berth-tls-")
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, name):
        """A certificate that vouches for itself, in place of the one before."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", f"{self.folder}/key.new", "-out", f"{self.folder}/cert.new"],
                       check=True, capture_output=True)
        for kind in ("key", "cert"):
            os.rename(f"{self.folder}/{kind}.new", f"{self.folder}/{kind}.pem")

    def connect(self, server):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", server.port), 10)
        one = context.wrap_socket(plain, server_hostname="localhost")
        self.addCleanup(one.close)
        return one

    def served(self, server):
        return self.connect(server).getpeercert(binary_form=True)

    def test_replaced_files_are_served_to_new_connections_and_open_ones_stay(self):
        self.make("first")
        server = Server("--tls-cert", f"{self.folder}/cert.pem", "--tls-key",
                        f"{self.folder}/key.pem", command="server",
                        environment={"SSL_CERT_FILE": f"{self.folder}/cert.pem"})
        self.addCleanup(server.close)
        first, open_one = self.served(server), self.connect(server)
        self.make("second")
        wait_for(lambda: self.served(server) != first, "the second certificate is served", 30)
        open_one.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertIn(b" 200 ", open_one.recv(4096))
        self.assertIn("new certificate", server.output())


if __name__ == "__main__":
    unittest.main()
