# SPDX-License-Identifier: Apache-2.0
"""toed --moderation (SEEDS S3.1, S3.3): frames wait while an engine sleeps, nothing is lost, and it
changes while traffic flows. How the delay follows the load: engine/tests/test_moderation.c."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.lab.robot import PORT

pytestmark = pytest.mark.toehold_only


def write(file: Path, moderation: str) -> None:
    file.write_text(f'[toed]\nmoderation = "{moderation}"\nspin-us = 0\n')


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("moderation") / "toehold.toml"
    write(file, "500")
    return file


@pytest.fixture(scope="module")
def _shared_lab(settings):
    with labs.Lab(args=["--config", settings]) as lab:
        yield lab


def reload(lab, settings: Path, moderation: str) -> None:
    write(settings, moderation)
    before = len(lab.toed.proc.text())
    lab.toed.proc.send_signal(signal.SIGHUP)
    said = f"-> {moderation} ({settings}:2)"
    proc.wait_until(lambda: said in lab.toed.proc.text()[before:], said, proc=lab.toed.proc)


def delay(lab) -> int:
    return lab.toed.stats()["engines"][0]["netio"]["rx_delay_us"]


def transfer(lab) -> None:
    """Move a megabyte each way and compare every byte."""
    server = lab.script("transfer.py", "serve", lab.ip, PORT, 1_000_000, 7, says="ready")
    peer = lab.peer_script("transfer.py", "client", lab.ip, PORT, 1_000_000, 7)
    for end in (server, peer):
        assert end.wait(60) == 0, end.tail()
        assert "ok" in end.text()


def test_frames_wait_and_all_arrive(lab):
    assert delay(lab) == 500
    before = lab.counter("moderated_sleeps")
    transfer(lab)
    assert lab.counter("moderated_sleeps") > before
    # The sum of several engines' delays would mean nothing.
    assert "rx_delay_us" not in lab.toed.stats()["total"]["netio"]


def test_it_changes_without_a_restart(lab, settings):
    reload(lab, settings, "off")
    before = lab.counter("moderated_sleeps")
    transfer(lab)
    assert delay(lab) == 0
    assert lab.counter("moderated_sleeps") == before
    reload(lab, settings, "auto")
    transfer(lab)
    reload(lab, settings, "250")
    assert delay(lab) == 250


def test_without_load_auto_delays_nothing(make_lab):
    lab = make_lab(args=["--no-config", "--spin-us", "0"])
    lab.client.ping(lab.ip, count=5)
    assert delay(lab) == 0
    assert lab.counter("moderated_sleeps") == 0


@pytest.mark.parametrize("value", ["30", "1000", "-1", "on", "", "0x10", "100us", "Auto"])
def test_wrong_delays_are_rejected(value):
    argv = [paths.built("toed"), "--no-config", "--netif", "wire:/nonexistent/w"]
    done = proc.run([*argv, "--ip", "10.0.0.1/24", "--moderation", value], check=False)
    assert done.returncode == 2
    want = "want auto, off, 10, 25, 50, 100, 250 or 500"
    assert done.stderr == f"toed: --moderation {value}: {want}\n"
