# SPDX-License-Identifier: Apache-2.0
"""Runs the proofs of src/<block>/formal/*.toml with sby and boolector (edges.toml: handshakes;
table.toml: the flow table; proofs.toml: the others). A proof counts when it holds, and when it
fails with each of its faults in the design. A proof or a fault that gateware/proved.txt lists with
the same sources, options and tools is not run again, but with --all, --long, or by name.

    [name]
    top = "module"            # the bench; its ports are free inputs
    files = ["src/x/y.sv"]    # relative to gateware/; "commands": the contract's package
    mode = "prove"            # bmc: up to depth; prove: by induction, for all time; random: no
                              # proof, top drives itself at random, for faults too deep for one
    depth = 10
    fault_depth = 12          # of the runs that show its faults; default: depth
    fault_mode = "prove"      # for faults too deep for a run: the fault is found when induction,
                              # which holds without it, fails
    long = false              # only with --long
    faults_long = false       # its faults only with --long
    parameters = { N = 2 }
    bare = false              # without the design's own assertions
    mapped = false            # memories as registers; all are zero initially, as in an FPGA
    [[name.faults]]
    file = "src/x/y.sv"
    old = "text that occurs there once"
    new = "text instead"
    why = "what is wrong then"
"""

import argparse
import json
import os
import shutil
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from . import commands
from .proved import Record, digest
from .tools import GATEWARE, OUT, SHIM, VERILATOR_ROOT, run

WORK = OUT / "formal"
RECORD = GATEWARE / "proved.txt"

SBY = """[options]
mode {mode}
depth {depth}
expect pass,fail
timeout {timeout}

[engines]
smtbmc --nounroll boolector

[script]
read_slang -j 1 --top {top} {parameters} {defines} {names}
prep -top {top}
{more}
async2sync
chformal -early

[files]
{files}
"""


def load() -> dict[str, dict]:
    proofs = {}
    for path in sorted(GATEWARE.glob("src/*/formal/*.toml")):
        block = path.parent.parent.name
        for name, proof in tomllib.loads(path.read_text()).items():
            if f"{block}-{name}" in proofs:
                raise ValueError(f"{path}: there is a proof {block}-{name} already")
            proofs[f"{block}-{name}"] = proof
    return proofs


def source(file: str) -> Path:
    return commands.generate() if file == "commands" else GATEWARE / file


def mutated(fault: dict) -> str:
    text = (GATEWARE / fault["file"]).read_text()
    times = text.count(fault["old"])
    if times != 1:
        raise ValueError(f"{fault['file']}: '{fault['old']}' occurs there {times} times, not once")
    return text.replace(fault["old"], fault["new"])


def lay_out(name: str, proof: dict, fault: dict | None) -> tuple[Path, list[str]]:
    """Makes a folder with the sources; returns it and the file names."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in proof["files"]:
        text = source(file).read_text()
        if fault and fault["file"] == file:
            text = mutated(fault)
        (folder / source(file).name).write_text(text)
    return folder, [source(f).name for f in proof["files"]]


# Benches loop over bytes: --unroll-count 2 keeps the C++ small.
RANDOM = ["--binary", "--assert", "--timing", "-Wno-fatal", "-Wno-lint", "--x-initial", "0"]
RANDOM += ["--unroll-count", "2", "-CFLAGS", "-O1"]


def run_random(name: str, proof: dict, fault: dict | None) -> tuple[bool, str]:
    """Returns whether the properties held all the time, and the output."""
    folder, names = lay_out(name, proof, fault)
    command = [VERILATOR_ROOT / "bin" / "verilator", *RANDOM]
    command += ["--top-module", proof["top"], "-Mdir", "obj", "-o", "bench", *names]
    built = run(command, cwd=folder, capture_output=True, text=True)
    if built.returncode:
        raise RuntimeError(f"{name} does not build:\n{(built.stdout + built.stderr)[-2000:]}")
    bench = [folder / "obj" / "bench", f"+seed={proof.get('seed', 1)}"]
    done = run(bench, cwd=folder, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def sby_script(proof: dict, fault: dict | None) -> str:
    names = [source(f).name for f in proof["files"]]
    parameters = " ".join(f"-G {k}={v}" for k, v in proof.get("parameters", {}).items())
    return SBY.format(
        # A fault is normally found by a run that shows it (bmc).
        mode=proof.get("fault_mode", "bmc") if fault else proof["mode"],
        depth=proof.get("fault_depth", proof["depth"]) if fault else proof["depth"],
        top=proof["top"],
        more="memory_map\nsetundef -zero -init" if proof.get("mapped") else "",
        timeout=3600 if proof.get("long") else 900,
        parameters=parameters,
        defines="-D SYNTHESIS" if proof.get("bare") else "",
        names=" ".join(names),
        files="\n".join(names),
    )


def digest_of(proof: dict, fault: dict | None) -> str:
    """Of all that a run depends on: sources, fault, options, versions of the tools."""
    parts = [(GATEWARE / "requirements.txt").read_text()]
    parts += [mutated(fault)] if fault else []
    parts += [source(file).read_text() for file in proof["files"]]
    if proof["mode"] == "random":
        parts += [*RANDOM, proof["top"], str(proof.get("seed", 1))]
    else:
        parts += [sby_script(proof, fault), str(fault and proof.get("fault_mode"))]
    return digest(parts)


def run_sby(name: str, proof: dict, fault: dict | None) -> tuple[bool, str]:
    """Returns whether the properties hold, and the tail of sby's output."""
    folder, _ = lay_out(name, proof, fault)
    (folder / "proof.sby").write_text(sby_script(proof, fault))
    done = run(
        [SHIM / "sby", "-f", "-d", "run", "proof.sby"], cwd=folder, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    status = folder / "run" / "status"
    verdict = status.read_text().split()[0] if status.exists() else "ERROR"
    if fault and proof.get("fault_mode") == "prove" and verdict == "UNKNOWN":
        verdict = "FAIL"
    if verdict in ("PASS", "FAIL"):
        return verdict == "PASS", said
    raise RuntimeError(f"{name}: sby decided nothing:\n" + "\n".join(said.splitlines()[-12:]))


def jobs_of(name: str, proof: dict) -> list[tuple[str, str, dict, dict | None]]:
    faults = proof.get("faults", [])
    if not faults:
        raise ValueError(f"{name}: a proof without a fault that it finds proves nothing")
    jobs = [(name, "holds", proof, None)]
    return jobs + [(f"{name}-fault{n}", f["why"], proof, f) for n, f in enumerate(faults, 1)]


def attempt(job: tuple[str, str, dict, dict | None], record: Record | None) -> dict:
    """Runs a proof or one of its faults, unless the record has it."""
    name, title, proof, fault = job
    start = time.monotonic()
    now = ""
    try:
        now = digest_of(proof, fault)
        if record and record.has(name, now):
            print(f"ok     {name}: {title} (unchanged since it passed)", flush=True)
            return {"name": name, "title": title, "passed": True, "recorded": True, "digest": now}
        runs = run_random if proof["mode"] == "random" else run_sby
        holds, said = runs(name, proof, fault)
        passed = holds is (fault is None)
        tail = "\n".join(said.splitlines()[-25:])
        why = "" if passed else "the fault is not found" if fault else tail
    except (OSError, ValueError, RuntimeError) as e:
        passed, why = False, str(e)
    seconds = time.monotonic() - start
    kind = "fault found: " if fault and passed else ""
    print(f"{'ok    ' if passed else 'FAILED'} {name}: {kind}{title} ({seconds:.0f} s)", flush=True)
    if why:
        print(why, flush=True)
    result = {"name": name, "title": title, "passed": passed, "seconds": round(seconds, 1)}
    return {**result, "recorded": False, "digest": now}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/gateware formal")
    parser.add_argument("--long", action="store_true", help="the long ones too")
    parser.add_argument("--all", action="store_true", help="also what the record has")
    parser.add_argument("--record", action="store_true", help=f"add what passes to {RECORD.name}")
    parser.add_argument("--json", type=Path, help="append a line of JSON per proof")
    parser.add_argument("name", nargs="*", help="proofs; all when none is named")
    options = parser.parse_args(argv)
    proofs = load()
    if unknown := set(options.name) - set(proofs):
        parser.error(f"no proof {', '.join(sorted(unknown))}; there are {', '.join(proofs)}")
    chosen = {
        n: p
        for n, p in proofs.items()
        if (n in options.name if options.name else options.long or not p.get("long"))
    }
    jobs = [job for name, proof in chosen.items() for job in jobs_of(name, proof)]
    if not (options.long or options.name):
        jobs = [job for job in jobs if not (job[3] and job[2].get("faults_long"))]
    record = Record(RECORD)
    trusted = None if options.all or options.long or options.name else record
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = []
        for done in as_completed([pool.submit(attempt, job, trusted) for job in jobs]):
            results.append(done.result())
            if options.json:
                with options.json.open("a") as f:
                    f.write(json.dumps(results[-1]) + "\n")
    bad = [r["name"] for r in results if not r["passed"]]
    if options.record:
        names = [job[0] for name, proof in proofs.items() for job in jobs_of(name, proof)]
        record.write({r["name"]: r["digest"] for r in results if r["passed"]}, names)
    same = sum(r["recorded"] for r in results)
    print(f"{same} unchanged since they passed ({RECORD.name}), {len(results) - same} run")
    print(f"{len(results) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad or not results else 0
