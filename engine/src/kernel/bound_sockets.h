/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_sockets.h - does a process hold a TCP port of this machine's kernel? Its descriptors are
 * looked through (pidfd_getfd(2)); nothing of what it says counts, nor what it may change
 * meanwhile.
 */
#ifndef ENGINE_BOUND_H
#define ENGINE_BOUND_H

#include <stdint.h>

#include <toe/core.h>

struct bound;

/* ip: the address of IPv4 that sockets are bound to, or to any; NULL: of IPv6, where link-local
 * ones are of the interface ifindex. NULL: not to be had. */
struct bound *bound_new(const uint8_t ip[4], unsigned ifindex);
void bound_free(struct bound *b);

/* A socket of our own that is bound there and never listens: at ip, or (NULL) of IPv6 alone, at
 * `at` (NULL: any). *port 0: the kernel chooses. reuse: over old connections of the kernel's. -1
 * with errno. */
int bound_make(const uint8_t *ip, const struct toec_addr *at, unsigned ifindex, uint16_t *port,
               int reuse);

#define BOUND_LISTENS 1 /* it listens */
#define BOUND_HELD    2 /* it is bound, and listens or is not connected */

/*
 * A duplicate of a socket of the process that holds the port as wanted: of the family or of both,
 * in our network namespace, for every interface. at: of IPv6 the address wanted, or ::, which
 * serves for each of them; all zero: :: alone. -1: it has none, as far as the first BOUND_MAX
 * sockets tell. May take milliseconds: call it without a lock. Any thread.
 */
int bound_find(struct bound *b, int pid, const uint8_t at[16], uint16_t port, int want);
#define BOUND_MAX 4096u
/* Closes what was found; the port is free when the process has closed its own. */
void bound_close(struct bound *b, int fd);
/* Is this one of them? */
int bound_is(struct bound *b, int fd, const uint8_t at[16], uint16_t port, int want);

#endif
