/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.h - which user owns a port, for an address that only the TOE has. The rules are those of
 * Linux: listeners of one user may share a port (SO_REUSEPORT), as may processes that inherited it.
 * For all others the port is in use. For a shared address the kernel decides (ports.h).
 */
#ifndef ENGINE_OWNER_H
#define ENGINE_OWNER_H

#include <stdint.h>

#define OWNER_KIN 8u

/* Identifies a process. The pid alone is not enough: it may have been reused. */
struct process_id {
    int pid;
    uint64_t born; /* start time in clock ticks since boot; 0: no such process */
};

/* The process of a queue pair and its ancestors. */
struct owner {
    struct process_id self, parent[OWNER_KIN]; /* nearest first, the rest 0 */
};

/* Reads the owner of a process that attaches from /proc. pidfd: the same process, -1: unknown. If
 * that process has ended, its pid may have been reused, and the owner is left unknown. */
void owner_read(struct owner *o, int pid, int pidfd);

/* Returns non-zero when the process is an ancestor of the owner. */
int owner_is_child_of(const struct owner *o, const struct process_id *p);

struct qp;
struct owners;

/* Allocates the table of ports and their listeners, for all engines of one TOE
 * (engine_config.owners). NULL: no memory. Any thread. */
struct owners *owners_new(void);
/* Adds one listener of the queue pair on the port. Returns 0, or the TOE_R_* that refuses it;
 * always 0 without a table. ask 0: no check, it listens already. */
int owners_add(const struct qp *qp, uint16_t port, int ask);
void owners_del(const struct qp *qp, uint16_t port);

/* Returns non-zero when this queue pair may listen on the port or connect from it. */
int owner_may_use(const struct qp *qp, uint16_t port);

#endif
