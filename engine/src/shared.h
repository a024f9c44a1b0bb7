/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - an address that the kernel has too: its routes and neighbours as an engine sees them,
 * and the ports of its flows (ports.h). kernel.h has where they come from.
 */
#ifndef ENGINE_SHARED_H
#define ENGINE_SHARED_H

#include "ports.h"
#include "qp.h"

#define ROUTES_MAX 1024u

/* Numbers, host byte order. */
struct route {
    uint32_t to, gateway; /* gateway 0: on the link */
    uint32_t metric;
    uint8_t len;
    uint8_t nowhere; /* blackhole, unreachable, ..., or a gateway of IPv6: we cannot send there */
};

/* Those by our interface, and those that lead nowhere; the one that counts first. */
struct routes {
    uint32_t count;
    struct route route[ROUTES_MAX];
};

/* Of the process. */
struct shared {
    struct ports *ports;
    int ask_fd; /* engines write the neighbours (4 bytes each) that they ask about */
};

/* What toec_config.link of such an engine is. */
extern const struct toec_link_ops shared_link;

/* The route to take; NULL: none. */
const struct route *routes_find(const struct routes *r, uint32_t to);
void routes_sort(struct routes *r);

/* In the engine's thread: arg is the length of the prefix, a uint8_t. */
void shared_set_prefix(struct engine *e, void *arg);
/* ... a struct routes to copy. */
void shared_set_routes(struct engine *e, void *arg);
struct shared_neighbour {
    uint8_t ip[4], mac[6];
    int known; /* 0: it does not answer */
};
/* ... a struct shared_neighbour. */
void shared_set_neighbour(struct engine *e, void *arg);
/* ... not used: resets every connection; who listens goes on. */
void shared_reset(struct engine *e, void *arg);

/* Opens a connection from one of our ports, as toec_connect_from(); 0 or a TOEC_E_*. Without a
 * shared address it is that. */
int shared_connect(struct slot *s, const struct toec_addr *local, const struct toec_addr *to,
                   uint16_t to_port, uint16_t local_port, const struct toec_buffers *bufs);
/* A flow of this slot is about to be opened by a peer. */
void shared_accept(struct slot *s, uint16_t port);
/* The slot's flow has gone. */
void shared_leave(struct slot *s);
/* The queue pair listens there too: 0 or a TOE_R_*; *kept: for shared_unlisten(). */
int shared_listen(const struct qp *qp, uint16_t port, int *kept);
void shared_unlisten(const struct engine *e, uint16_t port, int kept);

#endif
