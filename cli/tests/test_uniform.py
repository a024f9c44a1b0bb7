# SPDX-License-Identifier: Apache-2.0
"""The options of all verbs: what is the same has the same name, letter and unit in each.

Usage: test_uniform.py TOEHOLD-PROGRAM
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOEHOLD = None

# What each verb is for. A verb that reports has -j, --json; one that changes something of the
# system or of a TOE has -n, --dry-run. A new verb belongs to one of these sets, or to several.
REPORTS = {"doctor", "flows", "trace", "top", "capture", "stats", "config", "offload", "reg", "rtt"}
REPORTS |= {"tune"}
CHANGES = {"run", "offload", "reg", "tune"}
OTHER_FORMAT = {"metrics"}  # OpenMetrics
OTHER_PROGRAM = {"bench"}

# The value that an option takes wherever it exists.
VALUES = {
    "bar": "BAR",
    "config": "FILE",
    "count": None,
    "duration": "SECONDS",
    "every": "SECONDS",
    "interface": "IF",
    "profile": "NAME",
    "socket": "PATH",
    "svg": "FILE",
}
# Other words for the same, each with the one that all verbs use.
OTHER_WORDS = {
    "time": "duration",
    "seconds": "duration",
    "interval": "every",
    "iface": "interface",
    "device": "interface",
    "output": "write",
    "out": "write",
    "samples": "count",
    "dry": "dry-run",
    "silent": "quiet",
    "format": "json",
    "path": "socket",
}
LETTERS = {
    "a": "all",
    "b": "bar",
    "c": "count",
    "h": "help",
    "i": "interface",
    "j": "json",
    "n": "dry-run",
    "q": "quiet",
    "v": "verbose",
    "w": "write",
    "V": "version",
}


def run(*argv, code=0):
    done = subprocess.run([TOEHOLD, *argv], capture_output=True, text=True, check=False)
    assert done.returncode == code, (argv, done.returncode, done.stdout, done.stderr)
    return done


def options():
    """(verb, option) of all options that help lists."""
    return [
        (verb["name"], option)
        for verb in json.loads(run("--describe").stdout)["verbs"]
        for option in verb.get("command", {"options": []})["options"]
        if "help" in option
    ]


def verbs_with(name, letter):
    return {v for v, o in options() if (o["name"], o.get("letter")) == (name, letter)}


class Uniform(unittest.TestCase):
    def test_every_verb_is_classified(self):
        verbs = {v["name"] for v in json.loads(run("--describe").stdout)["verbs"]}
        self.assertEqual(verbs, REPORTS | CHANGES | OTHER_FORMAT | OTHER_PROGRAM)

    def test_what_reports_has_json(self):
        self.assertEqual(verbs_with("json", "j"), REPORTS)

    def test_what_changes_has_a_dry_run(self):
        self.assertEqual(verbs_with("dry-run", "n"), CHANGES)

    def test_every_verb_is_quiet_or_verbose(self):
        verbs = REPORTS | CHANGES | OTHER_FORMAT
        self.assertEqual(verbs_with("quiet", "q"), verbs)
        self.assertEqual(verbs_with("verbose", "v"), verbs)
        for verb in verbs:
            done = run(verb, "-q", "-v", code=2)
            message = f"toehold: {verb}: give --quiet or --verbose, not both\n"
            self.assertEqual((done.stdout, done.stderr), ("", message))

    def test_details_and_notices(self):
        """--verbose prints what is done; --quiet leaves out all but errors."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.toml"
            file.write_text("[toed]\nspin-us = 7\n")
            none = f"{folder}/none.sock"
            shown = run("config", "get", "-v", "--config", str(file), "toed.spin-us")
            self.assertEqual(shown.stdout, "7\n")
            self.assertEqual(shown.stderr, f"toehold: settings of {file}\n")
            for verb in ("flows", "trace", "stats", "metrics", "offload", "capture"):
                done = run(verb, "--verbose", "--socket", none, code=4)
                self.assertIn(f"toehold: connecting to the TOE at {none}\n", done.stderr)
                done = run(verb, "-q", "--socket", none, code=4)
                self.assertRegex(done.stderr, "^toehold: no toed answers at [^\n]*\n$")
            command = ("--socket", none, "--", "true")
            self.assertIn("true runs on the kernel's TCP", run("run", *command).stderr)
            self.assertEqual(run("run", "-q", *command).stderr, "")
            self.assertRegex(run("run", "-v", *command).stderr, "executes /[^\n]*true\n")
            self.assertIn(
                "refused (--require)", run("run", "-q", "--require", *command, code=4).stderr
            )

    def test_help_and_version_of_every_verb(self):
        version = run("--version").stdout
        self.assertRegex(version, r"^toehold \d+\.\d+\.\d+")
        for verb in REPORTS | CHANGES | OTHER_FORMAT:
            self.assertEqual(run(verb, "--version").stdout, version)
            self.assertEqual(run(verb, "-V").stdout, version)
            self.assertEqual(run(verb, "-h").stdout, run(verb, "--help").stdout)

    def test_a_name_has_one_letter(self):
        letters = collections.defaultdict(set)
        for verb, option in options():
            letters[option["name"]].add(option.get("letter"))
            if option.get("letter") in LETTERS:
                self.assertEqual(option["name"], LETTERS[option["letter"]], verb)
        self.assertGreater(len(letters), 20)
        for name, found in letters.items():
            self.assertEqual(len(found), 1, f"--{name} has {found}")

    def test_a_letter_has_one_name(self):
        names = collections.defaultdict(set)
        for _, option in options():
            if "letter" in option:
                names[option["letter"]].add(option["name"])
        for letter, found in names.items():
            self.assertEqual(len(found), 1, f"-{letter} is {found}")

    def test_a_name_has_one_value(self):
        for verb, option in options():
            name, value = option["name"], option.get("value")
            self.assertNotIn(name, OTHER_WORDS, f"{verb}: use --{OTHER_WORDS.get(name)}")
            if VALUES.get(name):
                self.assertEqual(value, VALUES[name], f"{verb} --{name}")

    def test_a_time_names_its_unit(self):
        """Seconds are the value SECONDS; other units end the name."""
        units = {"seconds": None, "milliseconds": "-ms", "microseconds": "-us", "MiB": "-mib"}
        for verb, option in options():
            end = units.get(option.get("unit"))
            if end:
                self.assertTrue(option["name"].endswith(end), f"{verb} --{option['name']}")
            if option.get("unit") == "seconds":
                self.assertEqual(option["value"], "SECONDS", f"{verb} --{option['name']}")
            if option.get("value") == "SECONDS":
                self.assertNotRegex(option["name"], "-(ms|us)$", verb)

    def test_the_load_generator(self):
        """`bench` is another program, whose help is a text."""
        text = run("bench", "--help").stdout
        for option in (
            "-j, --json",
            "-q, --quiet",
            "-v, --verbose",
            "-h, --help",
            "-V, --version",
            "--duration",
        ):
            self.assertRegex(text, rf"(?m)^  {re.escape(option)} ")
        self.assertNotRegex(text, r"--(time|seconds)\b")
        version = run("--version").stdout.split(" (")[0]
        for words in (["-V"], ["--version"], ["pingpong", "-V"], ["serve", "bulk", "--version"]):
            self.assertEqual(run("bench", *words).stdout.strip(), version)
        for words in (["-j"], ["-q"], ["-v"], ["--duration", "1"], ["--time", "1"]):
            done = run("bench", "pingpong", *words, code=2)
            self.assertNotIn("unknown option", done.stderr)
            self.assertIn("--to", done.stderr)


if __name__ == "__main__":
    TOEHOLD = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
