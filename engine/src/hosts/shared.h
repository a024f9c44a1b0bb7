/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - an address shared with the kernel: routes and neighbours as the engine uses them, and
 * the ports of its flows (ports.h). process/kernel.h supplies them.
 */
#ifndef ENGINE_SHARED_H
#define ENGINE_SHARED_H

#include <string.h>

#include "kernel/ports.h"
#include "kernel/routes.h"
#include "qp.h"

/* One per process. */
struct shared {
    struct ports *ports[2]; /* of IPv4, of IPv6 */
    int ask_fd;             /* engines write a struct toec_addr for each neighbour to resolve */
};

/* toec_config.link of an engine with a shared address. */
extern const struct toec_link_ops shared_link;

/* In the engine's thread: sets the prefix length; arg is a uint8_t. */
void shared_set_prefix(struct engine *e, void *arg);
/* ... the routes; arg is a struct routes to copy. */
void shared_set_routes(struct engine *e, void *arg);
struct shared_neighbour {
    struct toec_addr addr;
    uint8_t mac[6];
    int known; /* 0: it does not answer */
};
/* ... a neighbour; arg is a struct shared_neighbour. */
void shared_set_neighbour(struct engine *e, void *arg);
/* ... the stack's own IPv6 addresses; arg is a struct addresses6. Connections from an address that
 * is gone are reset. */
void shared_set_addresses6(struct engine *e, void *arg);
/* Resets every IPv4 connection; listeners remain. arg is not used. */
void shared_reset(struct engine *e, void *arg);

/* Opens a connection from one of the TOE's ports, like toec_connect_from(). Returns 0 or a
 * TOEC_E_*. Without a shared address it only calls toec_connect_from(). */
int shared_connect(struct slot *s, const struct toec_addr *local, const struct toec_addr *to,
                   uint16_t to_port, uint32_t local_port, const struct toec_buffers *bufs);
/* Called before a peer opens a flow of this slot. */
void shared_accept(struct slot *s, const struct toec_addr *local, uint16_t port);
/* Called when the slot's flow has ended. */
void shared_leave(struct slot *s);
/* Adds a listener of the queue pair; addr as in LISTEN. Returns 0 or a TOE_R_*, and in *held the
 * argument for shared_unlisten(). */
int shared_listen(const struct qp *qp, const struct toec_addr *addr, int v6only, uint16_t port,
                  struct ports_held *held);
void shared_unlisten(const struct engine *e, uint16_t port, const struct ports_held *held);

#endif
