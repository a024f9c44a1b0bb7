/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.h - with a shared address: which TCP ports are the TOE's, agreed with the kernel.
 *
 * The kernel has the last word. A port is the TOE's while it is bound there: by a socket of our
 * own, which never listens, or by the host that asks (libtoe's sockets are the kernel's too). What
 * is on the way to the TOE is said to the XDP program (netio_take_port()).
 *
 * One of them serves all engines, for one family: a port of IPv4 says nothing of the same of IPv6.
 * Of IPv4 there is one address, of IPv6 as many as the interface has: who holds the port at one of
 * them has it there, who at :: everywhere (NETIO_TAKE_SOME). Any thread.
 */
#ifndef ENGINE_PORTS_H
#define ENGINE_PORTS_H

#include <stdint.h>
#include <sys/types.h>

#include <toe/core.h>

struct ports;

/* Who tells the XDP program. */
struct ports_ops {
    /* NETIO_TAKE_* for a port, from now on. */
    void (*take)(void *arg, int ip6, uint16_t port, unsigned how);
    /* As netio_take_place(). */
    int (*place)(void *arg, const uint8_t addr[16], uint16_t port, int on);
};
/* ip: the address of IPv4; NULL: of IPv6, of the interface ifindex. NULL: no memory. */
struct ports *ports_new(const uint8_t ip[4], unsigned ifindex, const struct ports_ops *ops,
                        void *arg);
/* Gives all of them back. */
void ports_free(struct ports *p);

/* Who asks, as the control socket knows him since he has attached. */
struct asker {
    int pid;
    uid_t uid;
};

/* A listener's, of each family. */
struct ports_held {
    uint8_t has[2];
    int kept[2]; /* its listening sockets, or -1 */
};

/*
 * One more listens there, at addr (of IPv6; all zero: any). 0, or the TOE_R_* that refuses it. Who
 * comes to a port of another user's must listen there in the kernel too. *kept: his listening
 * socket, which is kept until he goes, so that the kernel gives the port to nobody else; -1: he has
 * none.
 */
int ports_listen(struct ports *p, const struct toec_addr *addr, uint16_t port,
                 const struct asker *who, int *kept);
void ports_unlisten(struct ports *p, uint16_t port, int kept);
/* One more connection to be opened from there (of IPv6; all zero: any address): of this port, or
 * with 0 of one that is chosen: try counts from 0 on, and the more there have been in vain the less
 * likely it is one in use. */
int ports_connect(struct ports *p, const struct toec_addr *from, uint16_t *port, unsigned try,
                  const struct asker *who);
#define PORTS_TRIES 32u
/* One more connection to a port that somebody listens on. */
void ports_accept(struct ports *p, uint16_t port);
/* One connection less; now: the clock's. */
void ports_leave(struct ports *p, uint16_t port, uint64_t now);

/* For a toed that takes over: writes all ports down, and takes one in that was. -1: impossible. */
struct takeover;
struct toec_image_out;
struct toec_image_in;
void ports_save(struct ports *p, struct toec_image_out *o, struct takeover *t);
/* Of which family is it? */
int ports_is_ip6(const struct toec_image_in *in);
int ports_restore(struct ports *p, const struct toec_image_in *in, struct takeover *t);
/* Says all of them to the XDP program, which is another one. */
void ports_say(struct ports *p);

/* From time to time: lets go of what has not been used for as long as TIME-WAIT lasts. Not 0 while
 * there is such. */
int ports_tidy(struct ports *p, uint64_t now);

#endif
