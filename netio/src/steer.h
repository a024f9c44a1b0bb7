/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.h - the XDP program of an interface, shared by all queues this process opens on it.
 */
#ifndef TOE_NETIO_STEER_H
#define TOE_NETIO_STEER_H

#include "backend.h"

enum steer_mode { STEER_AUTO, STEER_NATIVE, STEER_GENERIC };

struct steer;

/* Attaches the program to the interface, or takes one more reference to what this process has
 * attached there. The program leaves the interface with the last reference, and with the process
 * however that ends. Thread-safe. NULL and a sentence in err on failure.
 * link: of a process that had it attached (steer_link()), to be taken over; the program stays its
 * own until steer_settle(). -1: none. */
struct steer *steer_attach(const char *ifname, const uint8_t ip[4], int shared,
                           enum steer_mode mode, int link, const struct netio_err *err);
int steer_link(const struct steer *s);
/* Puts the program into the place of the one that is there, at once for all frames. */
int steer_settle(struct steer *s, const struct netio_err *err);
/* As netio_take_port(), and how many frames were dropped because they are fragments of it. */
void steer_take_port(struct steer *s, int ip6, uint16_t port, unsigned how);
/* As netio_take_place(). */
int steer_take_place(const struct steer *s, const uint8_t addr[16], uint16_t port, int on);
uint64_t steer_dropped(const struct steer *s);
/* The addresses of IPv6 to steer for one socket, instead of those it gave before. Thread-safe. */
void steer_set_ip6(struct steer *s, const uint8_t before[][16], unsigned before_n,
                   const uint8_t addrs[][16], unsigned count);
/* The same when a socket ends. The program may be there still, for another process that takes over:
 * what nobody here wants any more it goes on to steer, to nobody. */
void steer_drop_ip6(struct steer *s, const uint8_t before[][16], unsigned before_n);
void steer_detach(struct steer *s);
/* From now on the frames of a queue go to this AF_XDP socket, until it is closed. Returns 0 or an
 * errno. */
int steer_enter(const struct steer *s, uint32_t queue, int fd);
/* As netio_tend(): is the program on the interface still? Thread-safe. */
int steer_tend(struct steer *s, const struct netio_err *text);
/* Is it attached in generic mode? */
int steer_is_generic(const struct steer *s);
/* "native", "generic", or "generic (no native: REASON)". */
const char *steer_mode_text(const struct steer *s);

/* An AF_XDP restart within a second finds the predecessor's socket or link not yet gone (EBUSY).
 * Sleeps a little; returns 0 when *waited_ms has reached its end (3 s) and the caller gives up. */
int steer_wait_busy(unsigned *waited_ms);

#endif
