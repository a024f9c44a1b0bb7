# SPDX-License-Identifier: Apache-2.0
"""--help, --describe, completion and the manual page name the same verbs and options.

Usage: test_completion.py TOEHOLD-PROGRAM COMPLETION-SCRIPT
"""

import json
import re
import shlex
import subprocess
import sys
import unittest

TOEHOLD = COMPLETION = None
OWN_HELP = {"bench"}  # other programs


def run(*argv, code=0):
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == code, (argv, done.returncode, done.stderr)
    return done.stdout


def described():
    """The options of each verb that help lists: {verb: {spelling, ...}}."""
    verbs = {}
    for verb in json.loads(run(TOEHOLD, "--describe"))["verbs"]:
        options = verb.get("command", {"options": []})["options"]
        verbs[verb["name"]] = {f"--{o['name']}" for o in options if "help" in o}
        verbs[verb["name"]] |= {"--help", "--version"}
        verbs[verb["name"]] |= {f"-{o['letter']}" for o in options if "letter" in o}
    return verbs


def helped(verb):
    """The options that --help of a verb lists."""
    text = run(TOEHOLD, verb, "--help")
    lines = re.findall(r"^  (-[^\n]*)", text, re.MULTILINE)
    return {s for line in lines for s in re.findall(r"(?<!\S)--?[A-Za-z0-9][a-z0-9-]*", line[:30])}


class Same(unittest.TestCase):
    def test_help_of_each_verb(self):
        verbs = described()
        self.assertGreater(len(verbs), 8)
        for verb in set(verbs) - OWN_HELP:
            self.assertEqual(helped(verb) - {"-h", "-V"}, verbs[verb], verb)
            self.assertEqual(run(TOEHOLD, verb, "-h"), run(TOEHOLD, "help", verb), verb)

    def test_verbs(self):
        text = run(TOEHOLD, "--help")
        self.assertEqual(re.findall(r"^  (\S+)  +\S", text, re.MULTILINE), list(described()))
        message = subprocess.run([TOEHOLD], capture_output=True, text=True).stderr
        for verb in described():
            self.assertRegex(message, rf"\b{verb}\b")

    def test_values_and_ranges(self):
        verbs = {v["name"]: v for v in json.loads(run(TOEHOLD, "--describe"))["verbs"]}
        options = {o["name"]: o for o in verbs["stats"]["command"]["options"]}
        self.assertEqual((options["every"]["min"], options["every"]["max"]), (1, 86400))
        self.assertEqual(options["every"]["value"], "SECONDS")
        self.assertNotIn("value", options["json"])
        self.assertEqual(options["json"]["letter"], "j")
        self.assertIn("dump", verbs["reg"]["command"]["arguments"])

    def test_each_option_is_explained(self):
        for verb in json.loads(run(TOEHOLD, "--describe"))["verbs"]:
            for option in verb.get("command", {"options": []})["options"]:
                if option["name"] != "netio":  # an alias
                    self.assertIn("help", option, f"{verb['name']} --{option['name']}")

    def test_lines_fit_a_terminal(self):
        for verb in set(described()) - OWN_HELP:
            for line in run(TOEHOLD, "help", verb).splitlines():
                self.assertLessEqual(len(line), 100, line)


class Bash(unittest.TestCase):
    def complete(self, *words):
        """What bash offers for the last word."""
        script = run(sys.executable, COMPLETION, "bash", TOEHOLD)
        line = " ".join(shlex.quote(w) for w in words)
        script += f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _toehold\n"
        script += 'printf "%s\\n" "${COMPREPLY[@]}"\n'
        return set(run("bash", "-c", script).split())

    def test_verbs(self):
        self.assertLessEqual({*described(), "help"}, self.complete("toehold", ""))
        self.assertEqual(self.complete("toehold", "help", ""), set(described()))
        self.assertEqual(self.complete("toehold", "doc"), {"doctor"})

    def test_options(self):
        for verb, options in described().items():
            long = {o for o in options if o.startswith("--")}
            self.assertEqual(self.complete("toehold", verb, "--"), long, verb)

    def test_values(self):
        self.assertIn("/etc/passwd", self.complete("toehold", "stats", "--socket", "/etc/passw"))
        self.assertIn("lo", self.complete("toehold", "doctor", "--interface", "l"))
        self.assertIn("lo", self.complete("toehold", "doctor", "-i", "l"))
        self.assertEqual(self.complete("toehold", "stats", "--every", ""), set())
        self.assertEqual(self.complete("toehold", "reg", "du"), {"dump"})
        self.assertIn("cat", self.complete("toehold", "run", "ca"))


class Others(unittest.TestCase):
    def test_zsh(self):
        text = run(sys.executable, COMPLETION, "zsh", TOEHOLD)
        for verb, options in described().items():
            part = re.search(rf"^    {verb}\)\n(.*?)^        ;;", text, re.MULTILINE | re.DOTALL)
            found = re.findall(r"(?:'|,|\{)(--?[A-Za-z0-9][a-z0-9-]*)=?(?=[\[},])", part[1])
            self.assertEqual(set(found) - {"-h", "-V"}, options, verb)
            # each specification is one word, with the quotes and brackets that it needs
            words = shlex.split(re.sub(r"\\\n", "", part[1]))
            self.assertEqual(words[:2], ["_arguments", "-S"])
            for word in words[2:-1]:
                self.assertRegex(word, r"^.*?\[([^\[\]\\]|\\.)*\](:.*)?$")

    def test_manual_page(self):
        text = run(sys.executable, COMPLETION, "man", TOEHOLD).replace("\\-", "-")
        for verb, options in described().items():
            part = re.search(rf"^\.SS toehold {verb}\n(.*?)(?=^\.S[SH])", text, re.M | re.S)
            for option in options:
                self.assertIn(f"\\fB{option}\\fR", part[1], verb)

    def test_wrong_usage(self):
        for argv in ([], ["bash"], ["fish", TOEHOLD], ["bash", TOEHOLD, "more"]):
            run(sys.executable, COMPLETION, *argv, code=2)
        run(sys.executable, COMPLETION, "bash", "/bin/true", code=1)
        run(sys.executable, COMPLETION, "bash", "/nowhere", code=1)


if __name__ == "__main__":
    TOEHOLD, COMPLETION = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
