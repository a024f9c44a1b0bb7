/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.h - the XDP program of an interface, shared by all queues this process opens on it.
 */
#ifndef TOE_NETIO_STEER_H
#define TOE_NETIO_STEER_H

#include "backend.h"

enum steer_mode { STEER_AUTO, STEER_NATIVE, STEER_GENERIC };

struct steer;

/* Attaches the program to the interface, or takes one more reference to the program that this
 * process has attached there. The program is detached with the last reference, and when the process
 * ends in any way. Thread-safe. Returns NULL and a sentence in err on failure. Of cfg it uses ip,
 * vlan, shared, and heir: the link of a previous process (steer_link()), whose program stays
 * attached until steer_settle(); and standby: then it takes a share in the program and its maps
 * that another process has attached, which stays attached until the last of them ends. */
struct steer *steer_attach(const char *ifname, const struct netio_config *cfg, enum steer_mode mode,
                           const struct netio_err *err);
int steer_link(const struct steer *s);
/* Replaces the attached program by this one, atomically for all frames. */
int steer_settle(struct steer *s, const struct netio_err *err);
/* As netio_take_port(). steer_dropped() returns how many frames were dropped because they are
 * fragments of such traffic. */
void steer_take_port(struct steer *s, int ip6, uint16_t port, unsigned how);
/* As netio_take_place(). */
int steer_take_place(const struct steer *s, const uint8_t addr[16], uint16_t port, int on);
uint64_t steer_dropped(const struct steer *s);
/* Sets the IPv6 addresses to steer for one socket; replaces its previous ones. Thread-safe. */
void steer_set_ip6(struct steer *s, const uint8_t before[][16], unsigned before_n,
                   const uint8_t addrs[][16], unsigned count);
/* The same when a socket ends. The program may stay attached for another process that takes over.
 * It keeps steering addresses that no socket of this process uses any more, so their frames are
 * dropped. */
void steer_drop_ip6(struct steer *s, const uint8_t before[][16], unsigned before_n);
void steer_detach(struct steer *s);
/* Sends the frames of a queue to this AF_XDP socket until it is closed. Returns 0 or an errno. */
int steer_enter(const struct steer *s, uint32_t queue, int fd);
/* As netio_tend(): checks whether the program is still on the interface. Thread-safe. */
int steer_tend(struct steer *s, const struct netio_err *text);
/* Returns whether it is attached in generic mode. */
int steer_is_generic(const struct steer *s);
/* Returns "native", "generic", or "generic (no native: REASON)". */
const char *steer_mode_text(const struct steer *s);

/* Waits after EBUSY: within a second of its end, a predecessor's socket or link may still exist.
 * Sleeps briefly; returns 0 when *waited_ms has reached the limit (3 s) and the caller must give
 * up. */
int steer_wait_busy(unsigned *waited_ms);

#endif
