/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - listeners: one group per address and port, whose members are queue pairs.
 */
#ifndef ENGINE_LISTEN_H
#define ENGINE_LISTEN_H

#include "kernel/ports.h"
#include "qp.h"

struct flow_list {
    struct slot *first, *last;
    uint32_t count;
};

struct listen_member {
    struct listen_group *group;
    struct qp *qp;
    uint32_t id;            /* the host's */
    uint32_t backlog, used; /* used: established, not accepted */
    uint32_t flows;         /* used, plus half-open flows */
    int weak;
    int served; /* its process has accepted a flow */
    int stuck; /* its host leaves flows alone that others wait for, until it is heard (relieve.c) */
    struct flow_list announced; /* established, of which the host was notified (waiting.h) */
    const struct slot *oldest;  /* at the last check, and which flow that was (relieve.c) */
    uint32_t generation;
    struct ports_held held; /* ports held in the kernel, with a shared address */
    uint8_t keys[32];       /* FASTOPEN_KEY, as far as received */
    uint32_t key_bytes;
    struct listen_member *next; /* of the queue pair */
};

struct listen_group {
    struct engine *engine;
    struct toec_addr addr;
    int v6only; /* of :: */
    uint16_t port;
    uint32_t core_id;
    struct listen_member **members;
    uint32_t count, room;
    int due;                 /* flows may have to move (listen_relieve()) */
    int turns;               /* has or had WEAK members */
    int stranded;            /* flows are reset instead of waiting (stranded.h) */
    struct flow_list parked; /* established, with WEAK members (waiting.h) */
    uint64_t check_at;       /* when flows that are left alone move; UINT64_MAX: there are none */
    struct listen_group *next;
};

#define LISTENERS_PER_QP 1024u

/* Both return 0 or a TOE_R_*. */
int listen_add(struct qp *qp, const struct toec_addr *addr, int v6only, uint16_t port, uint32_t id,
               uint32_t backlog, int weak);
int listen_remove(struct qp *qp, uint32_t id);
/* Sets an OPTION of a listener. It applies to the whole port, whichever member sets it. */
int listen_option(struct qp *qp, uint32_t id, uint16_t option, uint32_t arg0, uint32_t arg1);
void listen_remove_all(struct qp *qp);

/* Restore groups and members saved by another process (takeover_restore.c). The stack has its
 * listeners already. NULL: no memory. */
struct listen_group *listen_restore_group(struct engine *e, const uint8_t addr[16], int v6only,
                                          uint16_t port, uint32_t core_id);
struct listen_member *listen_restore_member(struct listen_group *g, struct qp *qp);
struct listen_member *listen_member_of(struct qp *qp, uint32_t id);

/* Takes a free slot of the member selected by the hash, else of another member with room; NULL:
 * refuse. */
struct slot *listen_pick(struct listen_group *g, uint32_t hash);
/* Moves a half-open flow, now established, whose listener has gone to another listener. -1: there
 * is none. */
int listen_reopen(struct slot *s, struct toec_tcb *flow);
/* Adds an established flow to its listener's backlog. */
void listen_enter(struct slot *s);
/* Takes a free slot of the member's queue pair for a flow of the listener. NULL: none is free. */
struct slot *listen_take(struct listen_member *m);
/* Handles an ACCEPT: the flow leaves its listener, which may get another one. */
void listen_accepted(struct slot *s);
/* Removes a flow that is accepted, closed or gone from its listener. */
void listen_leave(struct slot *s);

#endif
