/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privilege.h - the rights that toed keeps while it serves: the user of --run-as, the capabilities
 * of its back end, no new privileges (docs/SECURITY.md, "Rights of toed").
 */
#ifndef ENGINE_PRIVILEGE_H
#define ENGINE_PRIVILEGE_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* The longest text of privilege_text(). */
#define PRIVILEGE_TEXT 400u

/* Finds the user and group of --run-as and checks that this process may become them. Returns -1 to
 * continue, or an exit code with a message in err. */
int privilege_find(struct options *o, char *err, size_t err_size);

/* Makes the user of --run-as the real user, with all rights kept, so that a running toed of that
 * user may end this process if a take-over hangs. Returns 0, or -1 with errno. */
int privilege_mark(const struct options *o);

/* Returns the capabilities that the back end of netif needs while toed serves, a bit for each
 * number of linux/capability.h; UINT64_MAX: not known, all are kept (DPDK). */
uint64_t privilege_needed(const char *netif, int shared);

/*
 * Drops the rights of the calling thread, which later threads inherit: user and groups, then all
 * capabilities but `keep`. Other threads that exist keep theirs. Cannot be undone. Returns 0, or -1
 * with a message in err.
 */
int privilege_drop(const struct options *o, uint64_t keep, char *err, size_t err_size);

/* Writes the present rights as text: "user 0, cap_net_admin". */
void privilege_text(char *out, size_t size);

#endif
