/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_filter.h - writes the seccomp program that decides which system calls toed may make. Only
 * memory of the caller is used, so nothing can fail half-way or leave a call out.
 */
#ifndef ENGINE_SANDBOX_FILTER_H
#define ENGINE_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

/* Needs of a configuration: calls that only some of them make. */
#define SANDBOX_XDP       1u /* bpf(2), AF_XDP sockets */
#define SANDBOX_SHARED    2u /* sockets of programs (pidfd_getfd(2)) */
#define SANDBOX_SANITIZER 4u /* what a sanitizer's runtime does besides */

/* The longest program, in instructions; the kernel's own limit is 4096. */
#define SANDBOX_MOST 512u

/* What a refused call returns: EPERM. A call that is newer than this table: ENOSYS, so that the C
 * library uses the older one, which the table has. */

/*
 * Writes the program for these needs, for the process pid. Returns the number of instructions; 0:
 * this processor has no table, or the room is too small.
 */
unsigned sandbox_write(uint32_t needs, uint32_t pid, struct sock_filter *out, unsigned room);

#endif
