/* SPDX-License-Identifier: Apache-2.0 */
/* ip6.h - IPv6 addresses of the TOE, of commands and of flows (ip6.c). Lock held. */
#ifndef LIBTOE_IP6_H
#define LIBTOE_IP6_H

#include "name.h"
#include "qp.h"

/* Reads the TOE's current IPv6 settings; false: it has none. */
TOE_HIDDEN bool tip6_get(struct toedev_ip6 *out);
/* Returns the index of the TOE's interface; 0: not known, or none. */
TOE_HIDDEN uint32_t tip6_interface(void);
/* Returns whether n is one of the TOE's own addresses. */
TOE_HIDDEN bool tip6_own(const struct toedev_ip6 *t, const struct tname *n);
/* Gives a link-local address without an interface that of the socket, if any (bind(),
 * SO_BINDTOIFINDEX). */
TOE_HIDDEN void tip6_scope(int fd, struct tname *n);
/* Returns whether a is on the TOE's link. */
TOE_HIDDEN bool tip6_on_link(const struct toedev_ip6 *t, const struct in6_addr *a);
/* Writes an entry of the address table. Its index is valid for one command. local may be NULL. */
TOE_HIDDEN uint32_t tip6_entry(struct tqp *qp, const struct in6_addr *a,
                               const struct in6_addr *local);
/* Reads the local address of an IPv6 connection that is not open yet from the record of `slot`. */
TOE_HIDDEN void tip6_local(struct tsock *s, uint32_t slot);
/* Reads the names of an IPv6 connection from its flow record. */
TOE_HIDDEN void tip6_names(struct tsock *s);

#endif
