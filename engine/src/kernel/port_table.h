/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_table.h - the table behind ports.h: which ports are held, by which socket of the kernel, at
 * which addresses, and what the XDP program does with them. Lock held, where not said otherwise.
 */
#ifndef ENGINE_PORT_TABLE_H
#define ENGINE_PORT_TABLE_H

#include <pthread.h>

#include "ports.h"

#define PORTS_ALL 65536u

struct port {
    uint32_t listeners, flows;
    uint32_t kept;   /* number of listeners' sockets kept */
    uid_t uid;       /* its first user */
    int fd_plus_1;   /* the socket that holds it, plus 1; 0: the listeners' sockets do, or none */
    uint16_t at;     /* its index in held[] */
    uint8_t held;    /* it is in held[] */
    uint8_t chosen;  /* chosen by the kernel, for connections */
    uint8_t opened;  /* ... and one was established, so it may be in TIME-WAIT */
    uint8_t mixed;   /* the kernel may have connections with it */
    uint8_t lent;    /* fd_plus_1 is a host's socket; others may share the port */
    uint8_t wide;    /* at every address; else at those in `place` */
    uint8_t guarded; /* only TIME-WAIT uses it; fd_plus_1 is a socket of toed, 0: to be made */
    uint8_t wait_reuse; /* all of TIME-WAIT is of sockets with SO_REUSEADDR */
    uint8_t places;
    struct toec_addr wait_at; /* IPv6: where TIME-WAIT is; all zero: at several addresses */
    struct toec_addr *place;  /* PORT_PLACES of them; NULL: none yet */
    uint64_t free_at;         /* when it expires; 0: it is in use */
    uint64_t wait_until;      /* the end of the last TIME-WAIT; 0: there was none */
};

struct ports {
    pthread_mutex_t lock;
    uint8_t ip[4];
    int ip6;
    unsigned ifindex;
    struct bound *bound;
    const struct ports_ops *ops;
    void *arg;
    uint32_t count, chosen;
    uint32_t low;                   /* the first unprivileged port */
    const struct port_range *range; /* NULL: any port */
    struct port *port;
    uint16_t held[PORTS_ALL];
};

/* addresses of one port: as many as there are */
#define PORT_PLACES TOEC_GIVEN_MAX

/* Configures the XDP program for the port. */
void port_announce(struct ports *p, uint16_t number);

/* Returns whether `at` means every address of the family: always for IPv4, which has one. */
int port_is_any(const struct ports *p, const struct toec_addr *at);
/* Returns whether the TOE has the port at this address. */
int port_has_place(const struct ports *p, const struct port *e, const struct toec_addr *at);
/* Adds an address at which the TOE has the port. Returns 0, or a TOE_R_*. */
int port_add_place(struct ports *p, uint16_t number, const struct toec_addr *at);

/* Adds a port. fd: the socket that holds it; -1: the host's socket does. */
void port_add(struct ports *p, uint16_t number, int fd, uid_t uid);
/* Forgets the addresses of a port. */
void port_free_places(struct ports *p, uint16_t number);
/* Removes a port and releases all that it has. */
void port_del(struct ports *p, uint16_t number);
/* Closes the socket that holds the port. */
void port_let_go(const struct ports *p, struct port *e);

/* Binds a socket that never listens; *port 0: the kernel chooses, as in bound_make(). Returns it,
 * or -1. */
int port_bind(const struct ports *p, const struct toec_addr *at, uint16_t *port, uint32_t within,
              int reuse);

/* Holds a port that nothing but TIME-WAIT uses, until that ends (port_guard.c). */
void port_guard(struct ports *p, uint16_t number);
/* Ends the guard because the port is used again, maybe at other addresses; TIME-WAIT is
 * remembered. */
void port_unguard(struct ports *p, uint16_t number);
/* Notes that a connection of the port, at the local address, has entered TIME-WAIT. reuse: its
 * socket had SO_REUSEADDR. */
void port_wait(struct port *e, const struct toec_addr *at, int reuse, uint64_t now);

/* How long a port is held after its last connection: TIME-WAIT plus a margin. */
#define PORT_LINGER (61 * NS_PER_S)

#endif
