/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover.h - a new toed takes over from the one that runs (docs/UPGRADE.md): it asks on the
 * control socket, is given all that there is, and serves on.
 *
 *   new -> old   hello of kind TOEDEV_HELLO_TAKE_OVER
 *   old -> new   welcome, then its options as text; the new one ends the talk when they are others
 *   new -> old   GO: engines stop, all is written down (takeover_save.c), the interface is closed
 *   old -> new   IMAGE with a memfd, then its descriptors, FDS_MOST in each message
 *   new -> old   DONE: all of it has been read (takeover_restore.c), the interface is open
 *   old -> new   YOURS: the point of no return; the old one ends, the new one's engines run
 *
 * Until it says YOURS the old one goes on where it stopped when the new one says anything else, has
 * gone, or takes longer than TAKEOVER_TIME; it says BACK then, and takes the interface back when
 * the new one has ended: who does not is killed. An end without a word after DONE is that of a
 * process that was killed: the new one goes on.
 */
#ifndef ENGINE_TAKEOVER_H
#define ENGINE_TAKEOVER_H

#include <toe/image.h>

#include "hosts/qp.h"
#include "round/engine.h"

#define TAKEOVER_TIME (20 * NS_PER_S)
#define FDS_MOST      200u /* in a message; SCM_MAX_FD of Linux is 253 */

/* ---- what is handed over: an image in sections, and descriptors it names by their places ---- */

enum { SECTION_PROCESS = 1, SECTION_ENGINE, SECTION_CORE };

struct takeover {
    uint8_t *bytes; /* of the image, being made or as received */
    size_t n, room;
    int *fds; /* being made: borrowed; received: owned until they are taken, then -1 */
    uint32_t fd_count, fd_room;
    int failed; /* no memory */
    size_t section;
};

/* The engine's clock when it was stopped. */
void takeover_section(struct takeover *t, uint32_t kind, uint32_t engine);
void takeover_section_end(struct takeover *t);
/* Its place + 1, for an image; 0 for -1. */
uint32_t takeover_fd(struct takeover *t, int fd);
/* The descriptor, which is the caller's from now on; -1: none. */
int takeover_take_fd(struct takeover *t, uint64_t place);
int takeover_put(void *arg, const void *data, toec_u32 n);
/* The section of this kind and engine; NULL: there is none. */
const uint8_t *takeover_find(const struct takeover *t, uint32_t kind, uint32_t engine, size_t *n);
/* Closes descriptors that nobody has taken (own), and frees the rest. */
void takeover_free(struct takeover *t, int own);

/* ---- engines (takeover_save.c, takeover_restore.c) ---- */

/* What was found, for people. */
struct takeover_tally {
    uint32_t qps, flows, listeners;
};

/* It is paused. Returns 0, or -1: no memory. */
int takeover_save_engine(struct engine *e, struct takeover *t);
/* Into an engine that has no queue pairs yet, and no thread. 0, or a sentence. */
const char *takeover_restore_engine(struct engine *e, struct takeover *t,
                                    struct takeover_tally *tally);

/* One table for both. */
struct saved_slot {
    uint32_t index, state, pending, flags, reason, soft_error, cookie, tx_used, una, rx_told,
        pend_data, pend_acked, urgent_at, generation, record_seq, member, port;
};
struct saved_member {
    uint32_t qp, id, backlog, weak;
};
struct saved_group {
    uint8_t addr[16];
    uint32_t v6only, port, core_id;
};
struct takeover_table {
    const struct toec_field *row;
    unsigned count;
};
extern const struct takeover_table takeover_t_qp, takeover_t_slot, takeover_t_group,
    takeover_t_member;

#define SAVED_FLOW       1u /* has a flow, whose handle is known */
#define SAVED_CONNECTING 2u /* ... CONNECT without answer */
#define SAVED_ACTIVE     4u
#define SAVED_TOLD       8u
#define SAVED_ACCEPTED   16u
#define SAVED_COUNTED    32u
#define SAVED_HALF       64u
#define SAVED_FAST       128u
#define SAVED_DOOMED     256u
#define SAVED_ABORT      512u
#define SAVED_MEMBER     1024u /* of the listener `member` */

enum {
    TREC_ENGINE = 0x6501,
    TREC_COUNTER,
    TREC_QP,
    TREC_SLOT, /* of the queue pair before */
    TREC_GROUP,
    TREC_MEMBER, /* of the group before */
    TREC_HEAD = 0x6601,
    TREC_CLIENT,
    TREC_PORT
};

/* Fields beside those of the tables. */
enum {
    TTAG_AREA = 200,
    TTAG_IRQ,
    TTAG_DOORBELL,
    TTAG_KEPT, /* a listening socket */
    TTAG_NAME,
    TTAG_VALUE,
    TTAG_HELD, /* a bit for each family that a listener has the port of; none: of IPv4 */
    TTAG_KEPT6,
    TTAG_ORDERS = 1, /* of an engine */
    TTAG_OFFLOAD,
    TTAG_KEYS = 100,
    TTAG_PID = 1, /* of a client */
    TTAG_UID,
    TTAG_DEADLINE,
    TTAG_QP,
    TTAG_ENGINE,
    TTAG_FD,
    TTAG_PIDFD,
    TTAG_VERSION = 1, /* of the process */
    TTAG_ENGINES,
    TTAG_NEXT_QP,
    TTAG_STARTED,
    TTAG_LISTEN_FD,
    TTAG_LOCK_FD,
    TTAG_HEIR_FD
};
#define TAKEOVER_VERSION 1u

#endif
