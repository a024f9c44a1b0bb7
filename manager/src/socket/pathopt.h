/* SPDX-License-Identifier: Apache-2.0 */
/* pathopt.h - options about the path and the packets (pathopt.c). Lock held. */
#ifndef LIBTOE_PATHOPT_H
#define LIBTOE_PATHOPT_H

#include "sockopt.h"
#include "tsock.h"

/* Actions of the table in sockopt.c: remember and send the value. The placeholder checks and keeps
 * it too, so they return UNHANDLED; what it would reject is left alone. */
TOE_HIDDEN enum verdict tpath_set_tos(struct tsock *s, const struct set_option *o,
                                      const void *value, socklen_t len);
TOE_HIDDEN enum verdict tpath_set_discover(struct tsock *s, const struct set_option *o,
                                           const void *value, socklen_t len);
TOE_HIDDEN enum verdict tpath_set_maxseg(struct tsock *s, const struct set_option *o,
                                         const void *value, socklen_t len);
/* IP_MTU: bytes, or -1 with ENOTCONN. */
TOE_HIDDEN int tpath_mtu(const struct tsock *s);

#endif
