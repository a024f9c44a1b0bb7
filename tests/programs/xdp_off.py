#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""xdp_off.py PROGRAM: detaches the XDP program with that id from its interface, even if attached by
a link, like `bpftool link detach`; `ip link set ... xdp off` cannot."""

import ctypes
import sys

bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
PROGRAM_AT = 8  # offset of prog_id in struct bpf_link_info


def links():
    number = ctypes.c_uint32(0)
    while bpf.bpf_link_get_next_id(number, ctypes.byref(number)) == 0:
        fd = bpf.bpf_link_get_fd_by_id(number)
        if fd >= 0:
            yield fd


wanted = int(sys.argv[1])
for fd in links():
    info = ctypes.create_string_buffer(128)
    size = ctypes.c_uint32(len(info))
    if bpf.bpf_obj_get_info_by_fd(fd, info, ctypes.byref(size)) == 0:
        program = int.from_bytes(info.raw[PROGRAM_AT : PROGRAM_AT + 4], sys.byteorder)
        if program == wanted:
            sys.exit(-bpf.bpf_link_detach(fd))
sys.exit("no link has this program")
