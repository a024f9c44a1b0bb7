# SPDX-License-Identifier: Apache-2.0
"""bench/fileset.py: the files of SPECweb99 and the order of requests; bench/memory_limit.py;
bench/offload_web.py: what functions of a profile do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench import fileset, memory_limit, offload_web
from tests.lab import proc

REQUESTS = 40_000


@pytest.fixture(scope="module")
def order() -> list[str]:
    return fileset.order(10, REQUESTS, seed=7)


def share(of: Counter, key: str) -> float:
    return of[key] / REQUESTS


def test_sizes_of_the_classes():
    assert [fileset.size(c, 0) for c in range(4)] == [102, 1020, 10_200, 102_000]
    assert fileset.size(3, 8) == 918_000
    assert sum(fileset.size(c, n) for c in range(4) for n in range(9)) == fileset.DIRECTORY


def test_the_mix_of_classes(order):
    by_class = Counter(path.split("/class")[1][0] for path in order)
    for of_class, wanted in enumerate(fileset.CLASSES):
        assert share(by_class, str(of_class)) == pytest.approx(wanted, abs=0.01)


def test_files_and_directories_follow_zipf(order):
    files = Counter(path[-1] for path in order)
    # SPECweb99's own shares of the files of a class.
    for number, wanted in enumerate((0.039, 0.059, 0.088, 0.177, 0.353, 0.118, 0.071, 0.05, 0.044)):
        assert share(files, str(number)) == pytest.approx(wanted, abs=0.01)
    directories = Counter(path.split("/")[1] for path in order)
    assert directories["dir00000"] == pytest.approx(10 * directories["dir00009"], rel=0.2)


def test_the_seed_decides(order):
    assert fileset.order(10, REQUESTS, seed=7) == order
    assert fileset.order(10, REQUESTS, seed=8) != order


def test_files_are_those_of_the_order(tmp_path: Path):
    fileset.create(tmp_path / "a", 1, seed=7)
    fileset.create(tmp_path / "b", 1, seed=7)
    written = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").glob("*/*"))
    assert len(written) == 36
    for path in written:
        content = (tmp_path / "a" / path).read_bytes()
        assert content == (tmp_path / "b" / path).read_bytes()
        of_class, number = str(path).split("class")[1].split("_")
        assert len(content) == fileset.size(int(of_class), int(number))
    assert {str(p) for p in written} >= {path[1:] for path in fileset.order(1, 100, seed=1)}


@pytest.mark.skipif(bool(memory_limit.missing()), reason=str(memory_limit.missing()))
def test_a_limit_of_memory_holds_a_process():
    with proc.Proc(["sleep", "1000"], name="sleep") as sleeper:
        with memory_limit.MemoryLimit(64 << 20) as limit:
            limit.add([sleeper.pid])
            files = [limit.folder / name for name in ("memory.max", "memory.limit_in_bytes")]
            assert [f.read_text().strip() for f in files if f.exists()] == [str(64 << 20)]
            assert str(sleeper.pid) in (limit.folder / "cgroup.procs").read_text().split()
            sleeper.stop()
        assert not limit.folder.exists()


@pytest.mark.parametrize(
    ("function", "part"),
    [
        ("[k] csum_partial", "checksums"),
        ("[k] skb_segment", "segmentation"),
        ("[k] tcp_gso_segment", "segmentation"),
        ("[k] __pi_memcpy", "segmentation"),
        ("[k] native_write_msr", "interrupts"),
        ("[k] _raw_spin_unlock_irqrestore", "interrupts"),
        ("[k] filemap_get_read_batch", "disk and files"),
        ("[k] __d_lookup_rcu", "disk and files"),
        ("[k] ext4_mpage_readpages", "disk and files"),
        ("[k] pskb_expand_head", "segmentation"),
        ("[k] read_tsc", "the rest of the kernel"),
        ("[k] slab_update_freelist.isra.0", "the rest of the kernel"),
        ("[k] tcp_ack", "the rest of the kernel"),
        ("[.] find_with_hash", "programs"),
    ],
)
def test_what_functions_do(function: str, part: str):
    assert offload_web.part_of(function) == part


def test_parts_add_up():
    profile = [
        {"percent": 2.5, "function": "[k] csum_partial"},
        {"percent": 1.5, "function": "[k] __skb_checksum"},
        {"percent": 30.0, "function": "[.] main"},
    ]
    found = {name: share for name, share in offload_web.parts(profile).items() if share}
    assert found == {"checksums": 4.0, "programs": 30.0}
