"""The first outputs of tests that failed and passed when they ran again alone."""

import os
import re

FOLDER = os.environ.get("BERTH_TEST_KEPT",
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "flaky"))


def keep_first_output(name, output):
    """Returns the path of the file."""
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.normpath(os.path.join(FOLDER, re.sub(r"[^\w.]+", "_", name) + ".txt"))
    with open(path, "w") as file:
        file.write(output)
    return path
