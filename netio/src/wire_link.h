/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_link.h - how two ends of a wire connect, by a Unix socket at a path.
 *
 * Side a listens there, creates the shared memory and passes it to the process that connects. The
 * connection stays open: a byte on it wakes the other side, and its end shows that the other side
 * is gone. Either side may start first and may restart. No function here blocks, except
 * wire_link_open().
 */
#ifndef TOE_NETIO_WIRE_LINK_H
#define TOE_NETIO_WIRE_LINK_H

#include <sys/types.h>

#include "backend.h"
#include "wire_shm.h"

#define WIRE_PATH_MAX 100

enum wire_side { WIRE_AUTO, WIRE_A, WIRE_B };
enum wire_state { WIRE_UNLINKED, WIRE_BUSY, WIRE_MISMATCH, WIRE_LINKED };

struct wire_link {
    char path[WIRE_PATH_MAX];
    enum wire_side side;
    enum wire_state state; /* BUSY: side a has a peer already; MISMATCH: its MTU differs */
    int peer_gone; /* the memory is kept until wire_link_drop(), as it has the peer's last frames */
    uint32_t mtu;
    uint32_t peer_mtu; /* of a mismatch */
    int epoll_fd;      /* readable when wire_link_service() has something to do */
    int lock_fd;       /* side a: holds the path for as long as it is open */
    int listen_fd;     /* side a */
    dev_t dev;         /* ... and the identity of its file */
    ino_t ino;
    int control_fd; /* to the other side, -1: none */
    int pending_fd; /* side b: connected, memory not received yet */
    unsigned away;  /* side b: calls of wire_link_service() until the next attempt */
    struct wire_shm *shm;
};

/* WIRE_AUTO becomes side a when the path has none, else b. Side b waits up to 200 ms for an answer
 * of a listening side a, so it can report a refusal. Returns 0, or -1. */
int wire_link_open(struct wire_link *l, const char *path, enum wire_side side, uint32_t mtu,
                   const struct netio_err *err);
void wire_link_close(struct wire_link *l);
/* Continues linking, detects the other side's end (peer_gone), consumes wake-ups. Returns 1 when
 * the link has come up, so l->shm has changed. */
int wire_link_service(struct wire_link *l);
/* Drops the link: the other side is gone or broke the rules. */
void wire_link_drop(struct wire_link *l);
void wire_link_wake_peer(const struct wire_link *l);

#endif
