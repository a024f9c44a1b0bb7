/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_sockets.h - checks whether a process holds a TCP port in this machine's kernel, by
 * searching its descriptors (pidfd_getfd(2)). The result depends neither on what the process claims
 * nor on what it changes during the search.
 */
#ifndef ENGINE_BOUND_H
#define ENGINE_BOUND_H

#include <stdint.h>

#include <toe/core.h>

struct bound;

/* ip: match sockets bound to this IPv4 address or to any. ip NULL: match IPv6 sockets, with
 * link-local addresses on the interface ifindex. Returns NULL when not available. */
struct bound *bound_new(const uint8_t ip[4], unsigned ifindex);
void bound_free(struct bound *b);

/* Creates a socket that is bound to the port and never listens: at ip, or with ip NULL an IPv6-only
 * socket at `at` (NULL: any address). *port 0: the kernel chooses the port, within the value of
 * IP_LOCAL_PORT_RANGE if not 0. reuse: bind although old connections of the kernel use the port.
 * Returns -1 with errno. */
int bound_make(const uint8_t *ip, const struct toec_addr *at, unsigned ifindex, uint16_t *port,
               uint32_t within, int reuse);

/* Creates such a socket at a port that a host's socket may still have, too. reuse: sockets with
 * SO_REUSEADDR may be bound beside it, and listen. */
int bound_guard(const uint8_t *ip, const struct toec_addr *at, unsigned ifindex, uint16_t port,
                int reuse);

#define BOUND_LISTENS 1 /* it listens */
#define BOUND_HELD    2 /* it is bound, and listens or is not connected */

/*
 * Returns a duplicate of a socket of the process that holds the port as wanted: of the family or of
 * both, in our network namespace, not bound to an interface. at: the IPv6 address wanted, which a
 * socket bound to :: also matches; all zero: only ::. Returns -1 when none of its first BOUND_MAX
 * sockets matches. May take milliseconds: call it without a lock. Any thread.
 */
int bound_find(struct bound *b, int pid, const uint8_t at[16], uint16_t port, int want);
#define BOUND_MAX 4096u
/* Closes the duplicate. The port is free once the process has closed its socket too. */
void bound_close(struct bound *b, int fd);
/* Returns whether fd is such a socket. */
int bound_is(struct bound *b, int fd, const uint8_t at[16], uint16_t port, int want);

#endif
