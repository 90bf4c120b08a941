#!/usr/bin/env python3
"""House rules that no compiler checks: layering, doors to libraries, the pure zone, dead headers, links.

    tools/tidy/tidy.py [ROOT]     prints FILE:LINE: what is wrong, and how; exits with 1 if anything is

The folder table is read from ARCHITECTURE.md, as the build reads it.
"""

import os
import re
import sys

PURE = ("json", "api", "model", "placement", "reconcile", "control", "acs", "auth", "container", "agent/core")

# Header of a library from outside -> folders that may include it. The first pattern that fits counts.
DOORS = [
    (r"boost/json(\.hpp|/)", ("json",)),
    (r"boost/", ("net",)),
    (r"openssl/", ("crypto", "net")),
    (r"sqlite3\.h$", ("sqlite",)),
    (r"re2/", ("placement",)),
    (r"CLI/", ("cli", "sim/main")),
    (r"(fmt|spdlog)/", ("base",)),
    (r"(dlfcn\.h$|nvml|hwloc)", ("gpu",)),
    (r"(gtest|gmock|benchmark)/|rapidcheck", ()),
]
# Programs and helpers of tests; sqlite's fault-injecting file system is one too.
TEST_FILE = re.compile(r"(_test|_bench|_fuzz)\.cpp$|(^|/)testing[^/]*\.(h|cpp)$|_test_[a-z_]*\.h$")
TEST_LIBRARY = re.compile(r"(gtest|gmock|benchmark)/|rapidcheck")

# Pattern in code (comments and texts removed) -> why it may not stand in the pure zone.
IMPURE = [
    (r"#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|future|fstream|filesystem|iostream)>",
     "threads, files and streams are edges: move it out of the pure zone"),
    (r"std::chrono::\w*_clock\b", "time is an argument (base::Time), not a clock"),
    (r"\brandom_device\b|\bsystem_seed\b", "randomness is an argument (base::Random&)"),
    (r"\bSystemClock\b", "time is an argument (base::Time), not a clock"),
    (r"\bgetenv\b", "the environment is read by cli/ and handed in as a value"),
    (r"\b(throw|try|catch)\b", "errors are base::Result; exceptions stop at a library's door"),
    (r"\bunordered_(multi)?(map|set)\b", "its order differs from run to run: use std::map, or list the file here"),
    (r"#\s*include\s*\"base/(log|queue)\.h\"", "the pure zone returns what happened; it logs and queues nothing"),
]
# Files of the pure zone that may break a rule, and why.
EXCEPTIONS = {
    # The one door to a library that throws.
    ("src/json/value.cpp", "throw"), ("src/json/text.cpp", "throw"), ("src/json/events.cpp", "throw"),
    # Looked up by key and never iterated.
    ("src/auth/signing_key.h", "unordered_"), ("src/auth/signing_key.cpp", "unordered_"),
    ("src/placement/fleet.h", "unordered_"), ("src/placement/cluster.h", "unordered_"),
    ("src/placement/place.cpp", "unordered_"),
}

# What a line at the left edge of an unnamed namespace defines: a type, an alias, a constant, a function.
NAME_DEFINED = re.compile(
    r"(?:struct|class|enum class|enum|union) (?P<type>\w+)[ {;:]|using (?P<alias>\w+) =|"
    r"(?:inline )?(?:const|constexpr) [\w:<>,&* ]*?(?P<constant>\w+)(?:\[\w*\])*\s*[={(]|"
    r"(?:\[\[\w+\]\] )?[A-Za-z_][\w:<>,&* ]*?[\s&*>](?P<function>\w+)\(")
# Functions of one name for several types, each beside what it is about.
OVERLOADED = {"apply_one", "encode", "key_of", "parse_into"}

MACHINE_PATHS = re.compile(r"(?<![\w.])/(home|Users|root)/\w+")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?![^\n]*#\d+)")
MUTEX = re.compile(r"\bstd::(recursive_|shared_|timed_|recursive_timed_|shared_timed_)?mutex\b|"
                   r"\bstd::condition_variable(_any)?\b|#\s*include\s*<(mutex|shared_mutex|condition_variable)>|"
                   r"\bpthread_(mutex|rwlock|spin)_")
TEXT_SUFFIXES = (".cpp", ".h", ".c", ".py", ".mjs", ".md", ".cmake", ".txt", ".json", ".sh")
SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__", "corpus"}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def code_of(text):
    """The text with comments and the insides of texts blanked, lines kept."""
    pattern = re.compile(
        r'R"([^()\s\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)

    def blank(match):
        found = match.group(0)
        line = text.rfind("\n", 0, match.start()) + 1
        if found[0] == '"' and re.match(r"\s*#\s*include\s*$", text[line:match.start()]):
            return found
        if found[0] == "'" and match.start() > 0 and text[match.start() - 1].isalnum():
            return found  # 1'000'000
        return re.sub(r"[^\n]", " ", found)

    return pattern.sub(blank, text)


def own_names(code):
    """Yields (line, namespace, name) of what the unnamed namespaces of a file define."""
    open_blocks = []  # The name of a namespace, "" of an unnamed one, None of any other block.
    for number, line in enumerate(code.split("\n"), 1):
        namespace = re.match(r"namespace (?:(\S+) )?\{", line)
        if open_blocks and open_blocks[-1] == "" and not namespace:
            found = NAME_DEFINED.match(line)
            name = found and next(filter(None, found.groups()))
            if name and name not in OVERLOADED and not re.match(r"TEST|RC_|using namespace|return|template", line):
                yield number, "::".join(filter(None, open_blocks)), name
        for brace in re.findall(r"[{}]", line):
            if brace == "}":
                del open_blocks[-1:]
            else:
                open_blocks.append((namespace.group(1) or "") if namespace else None)
                namespace = None


CONTROLLED = re.compile(r"\s*(?:\} )?(?:else )?(?:if|for|while)\b")


def bare_bodies(code):
    """Yields the line numbers of conditions and loops whose body stands on a line of its own without braces."""
    lines = code.split("\n")
    for first, line in enumerate(lines):
        if first > 0 and lines[first - 1].endswith("\\"):
            continue  # A macro.
        if re.match(r"\s*(?:\} )?(?:else|do)\s*$", line):
            yield first + 1
        header = CONTROLLED.match(line)
        depth, last, at = 0, first, header.end() if header else 0
        while header and last < len(lines):
            for at in range(at, len(lines[last])):
                depth += {"(": 1, ")": -1}.get(lines[last][at], 0)
                if depth == 0 and lines[last][at] == ")":
                    break
            else:
                last, at = last + 1, 0
                continue
            if not lines[last][at + 1:].strip():
                yield last + 1
            break


def is_pure(folder):
    return folder in PURE or folder.split("/")[0] in PURE


class Tree:
    def __init__(self, root):
        self.root = root
        self.problems = []
        self.folders = self.folder_table()
        self.files = sorted(self.walk())

    def say(self, path, line, what):
        self.problems.append((path, line, what))

    def walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if name.endswith(TEXT_SUFFIXES) or path in ("x", ".ci/run"):
                    yield path

    def folder_table(self):
        table = {}
        for row in re.findall(r"^src/([a-z0-9_/]+)/ .* -> (.*)$", read(os.path.join(self.root, "ARCHITECTURE.md")), re.M):
            table[row[0]] = set(row[1].split()) - {"nothing"}
        for folder, arrows in table.items():
            for arrow in arrows - set(table):
                self.say("ARCHITECTURE.md", 1, f"src/{folder}/ points to {arrow}, which has no row")
        if not table:
            self.say("ARCHITECTURE.md", 1, "has no folder table: rows are `src/a/ what it is -> b c`")
        return table

    def folder_of(self, path):
        """The row that a src-relative path belongs to: the longest prefix."""
        parts = path.split("/")[:-1]
        while parts:
            if "/".join(parts) in self.folders:
                return "/".join(parts)
            parts.pop()
        return None

    def check(self):
        included = set()
        for path in self.files:
            text = read(os.path.join(self.root, path))
            self.check_text(path, text)
            if path.startswith("src/") and path.endswith((".h", ".cpp")):
                self.check_source(path, text, included)
            if path.endswith(".md"):
                self.check_links(path, text)
        for path in self.files:
            if path.startswith("src/") and path.endswith(".h") and path[4:] not in included:
                self.say(path, 1, "no file includes this header: use it or remove it")
        self.check_own_names()
        return self.problems

    def check_own_names(self):
        """The sources of a folder are compiled together: what two of them call by one name collides."""
        seen = {}
        for path in self.files:
            if not path.startswith("src/") or not path.endswith(".cpp") or re.search(r"_(bench|fuzz)\.cpp$", path):
                continue
            program = (self.folder_of(path[4:]), path.endswith("_test.cpp"))
            for number, namespace, name in own_names(code_of(read(os.path.join(self.root, path)))):
                first = seen.setdefault((program, namespace, name), path)
                if first != path:
                    self.say(path, number, f"{name} is also the name of something in {first}: "
                                           "if it is the same, share it, else say in its name what it is")

    def check_text(self, path, text):
        if path.startswith("tools/tidy/"):  # The rules themselves name what they forbid.
            return
        for number, line in enumerate(text.split("\n"), 1):
            if MACHINE_PATHS.search(line):
                self.say(path, number, "a path of one machine: make it relative, or an option")
            if TODO.search(line):
                self.say(path, number, "a TODO without an issue: write TODO(#number) or do it")

    def check_source(self, path, text, included):
        code = code_of(text)
        folder = self.folder_of(path[4:])
        if folder is None:
            self.say(path, 1, "this folder has no row in ARCHITECTURE.md's table")
            return
        if path.endswith(".h") and not re.search(r"^#pragma once$", code, re.M):
            self.say(path, 1, "no #pragma once")
        for number in bare_bodies(code):
            self.say(path, number, "what does not stand on this line stands in braces")
        for number, line in enumerate(code.split("\n"), 1):
            include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if include:
                self.check_include(path, number, folder, include.group(1), include.group(2), included)
            if folder != "base" and MUTEX.search(line):
                self.say(path, number, "a mutex outside base/: threads talk through base::Queue")
            if is_pure(folder) and not TEST_FILE.search(path):
                self.check_pure(path, number, line)

    def check_include(self, path, number, folder, quote, name, included):
        door = next((folders for pattern, folders in DOORS if re.match(pattern, name)), None)
        if quote == '"':
            included.add(name)
            target = self.folder_of(name)
            if not os.path.exists(os.path.join(self.root, "src", name)):
                self.say(path, number, f'"{name}" is not under src/: write the path from there')
            elif target is not None and target not in self.reach_of(path, folder):
                self.say(path, number, f"{folder}/ may not include {target}/: ARCHITECTURE.md has no such arrow")
            return
        if TEST_LIBRARY.match(name):
            if not TEST_FILE.search(path):
                self.say(path, number, f"<{name}> belongs in tests only")
        elif door is not None and folder not in door:
            self.say(path, number, f"<{name}> is included in {' and '.join(door)}/ only: go through that folder")

    def reach_of(self, path, folder):
        """The folders that a file may include. Tests of a room may drive the whole house."""
        reach = {folder} | self.folders[folder]
        house = folder.split("/")[0]
        if TEST_FILE.search(path) and house in self.folders:
            reach |= {house} | self.folders[house]
        return reach

    def check_pure(self, path, number, line):
        for pattern, why in IMPURE:
            found = re.search(pattern, line)
            if found and not self.excepted(path, found.group(0)):
                self.say(path, number, f"{found.group(0).strip()}: {why}")

    @staticmethod
    def excepted(path, found):
        kind = "throw" if found in ("throw", "try", "catch") else "unordered_" if "unordered_" in found else found
        return (path, kind) in EXCEPTIONS

    def check_links(self, path, text):
        text = re.sub(r"```.*?```|`[^`\n]*`", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
        for match in re.finditer(r"\]\(([^)\s]+)\)", text):
            target = match.group(1).split("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            base = self.root if target.startswith("/") else os.path.join(self.root, os.path.dirname(path))
            if not os.path.exists(os.path.join(base, target.lstrip("/"))):
                self.say(path, text.count("\n", 0, match.start()) + 1, f"broken link: {target}")


def main(arguments):
    root = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    tree = Tree(os.path.normpath(root))
    problems = tree.check()
    for path, line, what in problems:
        print(f"{path}:{line}: {what}")
    print(f"tidy: {len(tree.files)} files, {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
