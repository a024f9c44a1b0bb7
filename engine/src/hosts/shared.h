/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - an address that the kernel has too: its routes and neighbours as an engine sees them,
 * and the ports of its flows (ports.h). kernel.h has where they come from.
 */
#ifndef ENGINE_SHARED_H
#define ENGINE_SHARED_H

#include <string.h>

#include "kernel/ports.h"
#include "kernel/routes.h"
#include "qp.h"

/* Of the process. */
struct shared {
    struct ports *ports[2]; /* of IPv4, of IPv6 */
    int ask_fd; /* engines write the neighbours (a struct toec_addr each) that they ask about */
};

/* What toec_config.link of such an engine is. */
extern const struct toec_link_ops shared_link;

/* In the engine's thread: arg is the length of the prefix, a uint8_t. */
void shared_set_prefix(struct engine *e, void *arg);
/* ... a struct routes to copy. */
void shared_set_routes(struct engine *e, void *arg);
struct shared_neighbour {
    struct toec_addr addr;
    uint8_t mac[6];
    int known; /* 0: it does not answer */
};
/* ... a struct shared_neighbour. */
void shared_set_neighbour(struct engine *e, void *arg);
/* ... a struct addresses6: its own of IPv6 from now on. Connections from one that has gone are
 * reset. */
void shared_set_addresses6(struct engine *e, void *arg);
/* ... not used: resets every connection of IPv4; who listens goes on. */
void shared_reset(struct engine *e, void *arg);

/* Opens a connection from one of our ports, as toec_connect_from(); 0 or a TOEC_E_*. Without a
 * shared address it is that. */
int shared_connect(struct slot *s, const struct toec_addr *local, const struct toec_addr *to,
                   uint16_t to_port, uint16_t local_port, const struct toec_buffers *bufs);
/* A flow of this slot is about to be opened by a peer. */
void shared_accept(struct slot *s, const struct toec_addr *local, uint16_t port);
/* The slot's flow has gone. */
void shared_leave(struct slot *s);
/* The queue pair listens there too, at addr as of LISTEN: 0 or a TOE_R_*; *held: for
 * shared_unlisten(). */
int shared_listen(const struct qp *qp, const struct toec_addr *addr, int v6only, uint16_t port,
                  struct ports_held *held);
void shared_unlisten(const struct engine *e, uint16_t port, const struct ports_held *held);

#endif
