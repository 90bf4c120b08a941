#!/usr/bin/env python3
"""Plants each violation in a small tree and sees it caught, and good code left alone."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tidy  # noqa: E402

TABLE = """# Shape
```
src/base/        values       -> nothing
src/json/        JSON         -> base
src/model/       records      -> base json
src/net/         HTTP         -> base
src/agent/core/  pure         -> base model
src/agent/       driver       -> base model agent/core net
```
"""
GOOD = {
    "ARCHITECTURE.md": TABLE + "See [the table](ARCHITECTURE.md#shape) and [the web](https://example.com).\n",
    "src/base/time.h": "#pragma once\n",
    "src/base/queue.h": "#pragma once\n#include <mutex>\nstd::mutex lock;\n",
    "src/model/state.h": '#pragma once\n#include "base/time.h"\n',
    "src/model/state.cpp": '#include "model/state.h"\n// We try not to throw.\nconst char* t = "throw getenv";\n'
                           "int n = 1'000'000;\n",
    "src/model/state_test.cpp": "#include <gtest/gtest.h>\n#include <thread>\n",
    "src/net/http.cpp": '#include <boost/beast.hpp>\n#include <openssl/ssl.h>\n#include "base/queue.h"\n',
    "src/agent/core/step.h": '#pragma once\n#include "model/state.h"\n',
    "src/agent/driver.cpp": '#include "agent/core/step.h"\n#include <thread>\n',
}


class TidyTest(unittest.TestCase):
    def problems(self, extra):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**GOOD, **extra}.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            return tidy.Tree(root).check()

    def caught(self, path, text, what):
        found = self.problems({path: text})
        self.assertTrue(any(p == path and what in w for p, _, w in found), f"{what!r} not in {found}")
        self.assertTrue(all(p == path for p, _, _ in found), found)

    def test_good_code_is_left_alone(self):
        self.assertEqual(self.problems({}), [])

    def test_an_include_without_an_arrow_is_caught(self):
        self.caught("src/net/a.cpp", '#include "model/state.h"\n', "may not include model/")

    def test_the_longest_folder_counts(self):
        self.caught("src/agent/core/a.cpp", '#include "agent/core/step.h"\n#include "agent/driver.h"\n', "not under src/")
        found = self.problems({"src/agent/driver.h": "#pragma once\n",
                               "src/agent/core/a.cpp": '#include "agent/driver.h"\n'})
        self.assertEqual([(p, "may not include agent/" in w) for p, _, w in found], [("src/agent/core/a.cpp", True)])

    def test_the_line_is_told(self):
        found = self.problems({"src/net/a.cpp": '\n\n#include "model/state.h"\n'})
        self.assertEqual([line for _, line, _ in found], [3])

    def test_a_library_outside_its_door_is_caught(self):
        for header, folder in [("boost/json.hpp", "model"), ("boost/asio.hpp", "model"), ("openssl/evp.h", "model"),
                               ("sqlite3.h", "net"), ("re2/re2.h", "net"), ("CLI/CLI.hpp", "net"),
                               ("fmt/format.h", "net"), ("spdlog/spdlog.h", "net"), ("dlfcn.h", "net"),
                               ("boost/beast.hpp", "json")]:
            with self.subTest(header):
                self.caught(f"src/{folder}/a.cpp", f"#include <{header}>\n", "only: go through")

    def test_a_test_library_outside_tests_is_caught(self):
        for header in ("gtest/gtest.h", "gmock/gmock.h", "rapidcheck.h", "rapidcheck/gtest.h", "benchmark/benchmark.h"):
            with self.subTest(header):
                self.caught("src/net/a.cpp", f"#include <{header}>\n", "tests only")

    def test_impure_code_in_the_pure_zone_is_caught(self):
        for line in ("#include <thread>", "#include <fstream>", "#include <filesystem>", "#include <iostream>",
                     "auto t = std::chrono::steady_clock::now();", "std::random_device d;", "getenv(\"A\");",
                     "throw 1;", "try { f(); }", "std::unordered_map<int, int> m;", "base::SystemClock c;",
                     "base::system_seed();", '#include "base/queue.h"'):
            with self.subTest(line):
                self.caught("src/agent/core/a.cpp", line + "\n", ":")

    def test_the_same_code_outside_the_pure_zone_is_fine(self):
        self.assertEqual(self.problems({"src/net/a.cpp": "#include <thread>\nvoid f() { try { g(); } catch (...) {} }\n"}), [])

    def test_a_mutex_outside_base_is_caught(self):
        self.caught("src/net/a.cpp", "std::mutex m;\n", "mutex")
        self.caught("src/net/a.cpp", "#include <condition_variable>\n", "mutex")

    def test_a_name_of_two_files_of_a_folder_is_caught(self):
        for one in ("struct Row {\n  int name;\n};", "using Row = int;", "constexpr int Row = 3;", "int Row(int x) {\n}",
                    "[[nodiscard]] const std::string& Row(\n    int x) {\n}", "constexpr std::array<int, 2> Row{1, 2};"):
            with self.subTest(one):
                found = self.problems({"src/net/a.cpp": f"namespace net {{\nnamespace {{\n\n{one}\n\n}}  // namespace\n}}\n",
                                       "src/net/b.cpp": "namespace net {\nnamespace {\nint f() {\n}\nenum class Row { A };\n}\n}\n"})
                self.assertEqual([(p, line) for p, line, _ in found], [("src/net/b.cpp", 5)], found)
                self.assertIn("Row is also the name of something in src/net/a.cpp", found[0][2])

    def test_a_name_of_another_place_is_left_alone(self):
        hidden = "namespace net {\nnamespace {\nint row() {\n  int inner(3);\n}\n}\n}\n"
        for path, text in [("src/base/b.cpp", hidden), ("src/net/b_test.cpp", hidden),
                           ("src/net/b.cpp", hidden.replace("net {", "net::tls {")),
                           ("src/net/b.cpp", hidden.replace("row", "line")),
                           ("src/net/b.cpp", "namespace net {\nnamespace {\nint x();\n}\nint row() {\n}\n}\n")]:
            self.assertEqual(self.problems({"src/net/a.cpp": hidden, path: text}), [], path)

    def test_a_body_on_a_line_of_its_own_stands_in_braces(self):
        for bare in ("if (a)\n  b();", "for (int i : f(1))\n  b();", "if (a &&\n    b)\n  c();", "if (a) {\n  b();\n} else\n  c();",
                     "while (a)  // Why.\n  b();", "do\n  b();\nwhile (a);"):
            self.caught("src/net/a.cpp", f"void f() {{\n{bare}\n}}\n", "stands in braces")
        for good in ("if (a) b();", "if (a) {\n  b();\n}", "if (a) b(\n    c);", "for (;;) {\n}", "do {\n} while (a);",
                     "const bool f = g(if_(\n    a));", "#define X(a) \\\n  if (a)   \\\n    b()"):
            self.assertEqual(self.problems({"src/net/a.cpp": f"void f() {{\n{good}\n}}\n"}), [], good)

    def test_tests_of_a_room_may_drive_the_whole_house(self):
        table = TABLE.replace("```\n", "```\nsrc/net/room/  a room  -> base\n", 1)
        include = '#include "net/a.h"\n'
        files = {"ARCHITECTURE.md": table, "src/net/a.h": "#pragma once\n"}
        self.assertEqual(self.problems({**files, "src/net/room/a_test.cpp": include}), [])
        found = self.problems({**files, "src/net/room/a.cpp": include})
        self.assertEqual([(path, line) for path, line, _ in found], [("src/net/room/a.cpp", 1)], found)

    def test_a_header_without_pragma_once_is_caught(self):
        found = self.problems({"src/net/a.h": "int f();\n", "src/net/a.cpp": '#include "net/a.h"\n'})
        self.assertEqual(found, [("src/net/a.h", 1, "no #pragma once")])

    def test_a_dead_header_is_caught(self):
        self.caught("src/net/dead.h", "#pragma once\n", "no file includes")

    def test_a_folder_without_a_row_is_caught(self):
        self.caught("src/new/a.cpp", "int a;\n", "no row")

    def test_an_arrow_to_nowhere_is_caught(self):
        self.caught("ARCHITECTURE.md", TABLE.replace("-> base json", "-> base json ghost"), "ghost")

    def test_a_todo_without_a_number_is_caught(self):
        self.caught("src/net/a.cpp", "// TODO: later\n", "TODO")
        self.assertEqual(self.problems({"src/net/a.cpp": "// TODO(#12): later\n"}), [])

    def test_a_broken_link_is_caught(self):
        self.caught("docs/a.md", "[x](../README.md)\n", "broken link")
        self.assertEqual(self.problems({"docs/a.md": "[x](../src/base/time.h) `[y](no.md)`\n"}), [])

    def test_a_path_of_one_machine_is_caught(self):
        self.caught("docs/a.md", "see /home/ada/berth/x\n", "one machine")
        self.caught("docs/a.md", "see /root/berth/docker.sock\n", "one machine")


if __name__ == "__main__":
    unittest.main()
