/* SPDX-License-Identifier: Apache-2.0 */
/* ip6.h - IPv6 addresses of the TOE, of commands and of flows (ip6.c). Lock held. */
#ifndef LIBTOE_IP6_H
#define LIBTOE_IP6_H

#include "name.h"
#include "qp.h"

/* What the TOE has of IPv6 now; false: nothing. */
TOE_HIDDEN bool tip6_get(struct toedev_ip6 *out);
/* The index of the TOE's interface; 0: not known, or it has none. */
TOE_HIDDEN uint32_t tip6_interface(void);
/* Is it one of the TOE's own addresses? */
TOE_HIDDEN bool tip6_own(const struct toedev_ip6 *t, const struct tname *n);
/* A link-local address without an interface has that of the socket, where it has one (bind(),
 * SO_BINDTOIFINDEX). */
TOE_HIDDEN void tip6_scope(int fd, struct tname *n);
/* Is it on the link of the TOE? */
TOE_HIDDEN bool tip6_on_link(const struct toedev_ip6 *t, const struct in6_addr *a);
/* Writes an entry of the address table; its index is good for one command. local may be NULL. */
TOE_HIDDEN uint32_t tip6_entry(struct tqp *qp, const struct in6_addr *a,
                               const struct in6_addr *local);
/* The names of a connection of IPv6, from its flow record. */
TOE_HIDDEN void tip6_names(struct tsock *s);

#endif
