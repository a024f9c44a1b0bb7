# SPDX-License-Identifier: Apache-2.0
"""Python's own tests of sockets, with their servers at an address instead of 127.0.0.1.

    python_suite.py ADDRESS LEAVE_OUT MODULE...

Runs the modules except tests whose name matches LEAVE_OUT. Prints the result of each as JSON: "ok",
"skip" or why it failed. A test that takes a minute ends the program. "localhost" must be ADDRESS
already (/etc/hosts); here only the number in the sources is another.
"""

import faulthandler
import importlib.abc
import importlib.machinery
import json
import os
import re
import sys
import unittest

address, leave_out, *modules = sys.argv[1:]
LIMIT_S = 60


class Elsewhere(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        source = self.get_source(fullname).replace("127.0.0.1", address)
        return compile(source, self.get_filename(fullname), "exec")


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if not fullname.startswith("test."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Elsewhere(spec.loader.name, spec.loader.path)
        return spec


class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.by_name = {}

    def startTest(self, test):  # noqa: N802
        super().startTest(test)
        self.by_name[test.id()] = "ok"
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)

    def failed(self, test, error):
        self.by_name[test.id()] = repr(error[1])

    def addFailure(self, test, err):  # noqa: N802
        self.failed(test, err)

    def addError(self, test, err):  # noqa: N802
        self.failed(test, err)

    def addSubTest(self, test, subtest, err):  # noqa: N802
        if err:
            self.failed(test, err)

    def addSkip(self, test, reason):  # noqa: N802
        self.by_name[test.id()] = "skip"


def flat(tests):
    for one in tests:
        if isinstance(one, unittest.TestSuite):
            yield from flat(one)
        else:
            yield one


sys.meta_path.insert(0, Finder())
answer = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the tests print too
import test.support  # noqa: E402

# tests of the loopback require "network" too; the namespace has no route to the outside.
test.support.use_resources = ["cpu", "network"]
found = unittest.defaultTestLoader.loadTestsFromNames(modules)
outcomes = Outcomes()
unittest.TestSuite(t for t in flat(found) if not re.search(leave_out, t.id())).run(outcomes)
faulthandler.cancel_dump_traceback_later()
json.dump(outcomes.by_name, answer)
