/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h - restricts toed to the rights and system calls that it needs while it serves. */
#ifndef ENGINE_SANDBOX_H
#define ENGINE_SANDBOX_H

#include <stddef.h>

#include "options.h"

/*
 * Drops the rights of the calling thread (privilege.h) and limits its system calls
 * (sandbox_filter.h), both for all threads that it starts later. Logs what remains, and a warning
 * about what cannot be restricted: DPDK, --no-sandbox, a kernel without seccomp. Returns -1 to
 * continue, or an exit code with a message in err.
 */
int sandbox_enter(const struct options *o, char *err, size_t err_size);

#endif
