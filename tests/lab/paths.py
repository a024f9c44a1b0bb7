# SPDX-License-Identifier: Apache-2.0
"""Where things are: the source tree, the build under test, the folder for output."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out"

# Programs that this tree builds, and where meson puts them.
_BUILT = {
    "toed": "engine/toed",
    "toehold": "cli/toehold",
    "toehold-bench": "bench/load/toehold-bench",
    "toe-ideal": "bench/ideal/toe-ideal",
    "netsim": "core/sim/netsim",
    "prop": "core/tests/prop/prop",
    "count_core": "bench/count/count_core",
    "line": "bench/line/line",
    "patterns": "bench/patterns/patterns",
    "bare": "bench/bare/bare",
    "relay": "bench/relay/relay",
    "lwip_echo": "bench/lwip/lwip_echo",
    "pairs": "bench/pairs/pairs",
    "sums": "bench/sums/sums",
    "count_engine": "bench/count/count_engine",
    "test_tcp_ends": "core/tests/test_tcp_ends",
    "attack_cost": "core/tests/attack/attack_cost",
    "echo_tap": "examples/echo_tap",
    "echo_tap_one": "examples/echo_tap_one",
    "echo_dpdk": "examples/echo_dpdk",
    "echo_uv": "examples/echo_uv",
    "bare_echo32": "examples/bare_riscv/bare_echo32",
    "bare_echo64": "examples/bare_riscv/bare_echo64",
    "echo_libuv": "tests/echo_libuv",
    "http_libevent": "tests/http_libevent",
    "bynumber": "tests/bynumber",
    "ringuser": "tests/ringuser",
    "libfailalloc.so": "tests/libfailalloc.so",
    "libwrongsum.so": "tests/libwrongsum.so",
    "hostile": "tests/hostile",
    "woken": "tests/woken",
    "steer.bpf.o": "netio/steer.bpf.o",
    "vlan.bpf.o": "tests/vlan.bpf.o",
    "libtoe_preload.so": "manager/libtoe_preload.so",
    "linux_6_1.so": "netio/tests/linux_6_1.so",
}


def build_dir(name: str) -> Path:
    """The build that a program is taken from: TOEHOLD_BUILD, or build/ of this tree.

    TOEHOLD_TOED_BUILD names another build for the TOEs alone: one with sanitizers serves programs
    that are themselves built without.
    """
    chosen = os.environ.get("TOEHOLD_BUILD", "build")
    if name in ("toed", "toe-ideal"):
        chosen = os.environ.get("TOEHOLD_TOED_BUILD", chosen)
    return ROOT / chosen


def built(name: str) -> Path:
    """The path of a program of this tree; FileNotFoundError with advice when it is not built."""
    path = build_dir(name) / _BUILT[name]
    if not path.exists():
        raise FileNotFoundError(f"{path} is not built: run `make build` in {ROOT}")
    return path
