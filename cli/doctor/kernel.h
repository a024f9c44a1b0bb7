/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - checks of the kernel: its version, AF_XDP, the BPF compiler, TAP. */
#ifndef TOE_CLI_DOCTOR_KERNEL_H
#define TOE_CLI_DOCTOR_KERNEL_H

#include "facts.h"

/* Adds kernel.version, kernel.af_xdp, kernel.bpf_jit, kernel.tun and kernel.cpus. */
void check_kernel(struct facts *f);

#endif
