/* SPDX-License-Identifier: Apache-2.0 */
/* interlock.h - one engine per interface (see interlock.c). */
#ifndef ENGINE_INTERLOCK_H
#define ENGINE_INTERLOCK_H

#include <stddef.h>

/* Claims what a netio specification names. Returns a descriptor that holds the claim until it is
 * closed, -1 with a message in err when it is taken, -2 when nothing needs claiming. */
int interlock_claim(const char *spec, char *err, size_t err_size);

/* Writes the name of the claim's abstract socket. Returns 0, or -1 when nothing needs claiming. */
int interlock_name(const char *spec, char *name, size_t size);

/* Returns whether the frames of the specification do not pass this host's network: a wire, files,
 * or a virtual device of DPDK that is one of these. */
int interlock_is_private(const char *spec);

/* Skips the wrappers of a back end: impair(...):SPEC, tee(...):SPEC. Returns NULL when there is no
 * back end. */
const char *interlock_unwrapped(const char *spec);

#endif
