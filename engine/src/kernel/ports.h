/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.h - with a shared address: which TCP ports belong to the TOE, in agreement with the kernel.
 *
 * The kernel decides. A port belongs to the TOE while it is bound in the kernel: by a socket of
 * toed, which never listens, or by the host that requests it (libtoe's sockets are kernel sockets
 * too). netio_take_port() configures which ports the XDP program directs to the TOE.
 *
 * One struct ports serves all engines, for one family: IPv4 and IPv6 ports are independent. There
 * is one IPv4 address, and as many IPv6 addresses as the interface has. A socket bound to one IPv6
 * address holds the port there only, a socket bound to :: at every address (NETIO_TAKE_SOME). Any
 * thread.
 */
#ifndef ENGINE_PORTS_H
#define ENGINE_PORTS_H

#include <stdint.h>
#include <sys/types.h>

#include <toe/core.h>

#include "port_range.h"

struct ports;

/* The functions that configure the XDP program. */
struct ports_ops {
    /* Sets NETIO_TAKE_* for a port. */
    void (*take)(void *arg, int ip6, uint16_t port, unsigned how);
    /* Like netio_take_place(). */
    int (*place)(void *arg, const uint8_t addr[16], uint16_t port, int on);
};
/* ip: the IPv4 address; NULL: IPv6, on the interface ifindex. Returns NULL without memory. */
struct ports *ports_new(const uint8_t ip[4], unsigned ifindex, const struct ports_ops *ops,
                        void *arg);
/* Releases all ports and frees p. */
void ports_free(struct ports *p);

/* The requesting process, as identified by the control socket when it attached. */
struct asker {
    int pid;
    uid_t uid;
    uint32_t within; /* for ports_connect(): IP_LOCAL_PORT_RANGE of its socket, or 0 */
};

/* The ports a listener holds, by family. */
struct ports_held {
    uint8_t has[2];
    int kept[2]; /* duplicates of its listening sockets, or -1 */
};

/*
 * Adds a listener at addr (for IPv6; all zero: any). Returns 0, or the TOE_R_* that refuses it. To
 * join a port of another user, a process must listen on it in the kernel too. *kept: a duplicate of
 * its listening socket, kept until the listener is removed, so that the kernel does not give the
 * port to another process; -1: it has none.
 */
int ports_listen(struct ports *p, const struct toec_addr *addr, uint16_t port,
                 const struct asker *who, int *kept);
void ports_unlisten(struct ports *p, uint16_t port, int kept);
/* Adds a connection to be opened from this address (for IPv6; all zero: any) and port. *port 0: a
 * port is chosen; `try` counts the attempts from 0, and later attempts are less likely to choose a
 * port in use. */
int ports_connect(struct ports *p, const struct toec_addr *from, uint16_t *port, unsigned try,
                  const struct asker *who);
#define PORTS_TRIES 32u
/* Adds a connection to a port that has a listener. */
void ports_accept(struct ports *p, uint16_t port);
/* Removes a connection; now: by engine_clock(). opened: 0 if it was never established, and so is
 * not in TIME-WAIT. */
void ports_leave(struct ports *p, uint16_t port, int opened, uint64_t now);

/* Save all ports for a toed that takes over, and restore one of them. -1: impossible. */
struct takeover;
struct toec_image_out;
struct toec_image_in;
void ports_save(struct ports *p, struct toec_image_out *o, struct takeover *t);
/* Returns whether the saved port is of IPv6. */
int ports_is_ip6(const struct toec_image_in *in);
int ports_restore(struct ports *p, const struct toec_image_in *in, struct takeover *t);
/* Configures all ports in a new XDP program. */
void ports_announce(struct ports *p);

/* Sets the ports that ports_connect() may choose; r must stay valid. The kernel, which chooses new
 * ones, has the same range. */
void ports_set_range(struct ports *p, const struct port_range *r);

/* Called periodically: releases ports that have been unused for the duration of TIME-WAIT. Returns
 * non-zero while ports chosen by ports_connect() remain. */
int ports_tidy(struct ports *p, uint64_t now);

#endif
