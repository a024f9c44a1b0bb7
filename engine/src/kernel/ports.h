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

/* A search for a port from which one connection can be opened; all zero at its beginning. */
struct ports_search {
    unsigned tries;
    int walks;                       /* each port in turn from now on */
    int no_new;                      /* only those that the TOE has already */
    uint32_t first, count, at, left; /* of the walk: the range, the next one in it */
};
/* Adds a connection to be opened from this address (for IPv6; all zero: any) and port. *port 0: a
 * port is chosen, and when it cannot be used for the connection, the caller repeats the call with
 * the same search. TOE_R_ADDRNOTAVAIL: every port was tried. `search` is not used for a port that
 * the host has named. */
int ports_connect(struct ports *p, const struct toec_addr *from, uint16_t *port,
                  struct ports_search *search, const struct asker *who);
/* Adds a connection to a port that has a listener. */
void ports_accept(struct ports *p, uint16_t port);
/* What a connection leaves behind. */
enum ports_left {
    PORTS_UNOPENED, /* nothing: it was never established */
    PORTS_ENDED,
    PORTS_WAITS,      /* an entry in TIME-WAIT */
    PORTS_WAITS_REUSE /* ... of a socket with SO_REUSEADDR */
};
/* Removes a connection; now: by engine_clock(). While there is an entry in TIME-WAIT the kernel
 * gives the port to no other socket, or only to sockets with SO_REUSEADDR. at: the local address of
 * that entry; NULL: there is none. */
void ports_leave(struct ports *p, uint16_t port, enum ports_left left, const struct toec_addr *at,
                 uint64_t now);

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
 * non-zero while ports remain that it will release. */
int ports_tidy(struct ports *p, uint64_t now);

#endif
