/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.h - whose a port is, of an address of the TOE's own. As Linux has it: listeners of one user
 * may share a port (SO_REUSEPORT), and so may who inherited it; to anybody else it is in use. Of a
 * shared address the kernel is asked instead (ports.h).
 */
#ifndef ENGINE_OWNER_H
#define ENGINE_OWNER_H

#include <stdint.h>

#define OWNER_KIN 8u

/* A number alone may have become another's. */
struct process_id {
    int pid;
    uint64_t born; /* clock ticks since the machine started; 0: there is no such process */
};

/* The program of a queue pair and those it descends from. */
struct owner {
    struct process_id self, parent[OWNER_KIN]; /* nearest first; those behind the last are 0 */
};

/* Of a process that attaches, as /proc has it now. pidfd: the same process, -1: none is known; when
 * it has ended meanwhile the number may be another's, and nothing is known of it. */
void owner_read(struct owner *o, int pid, int pidfd);

struct qp;
struct owners;

/* Who listens where, of all engines of one TOE (engine_config.owners). NULL: no memory. Any thread.
 */
struct owners *owners_new(void);
/* The queue pair listens there: 0, or the TOE_R_* that refuses it; of an engine that has no such
 * table, 0. Once more for each listener. ask 0: it does so already. */
int owners_add(const struct qp *qp, uint16_t port, int ask);
void owners_del(const struct qp *qp, uint16_t port);

/* Not 0 when this queue pair may listen on the port or connect from it. */
int owner_may_use(const struct qp *qp, uint16_t port);

#endif
