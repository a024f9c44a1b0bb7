/* SPDX-License-Identifier: Apache-2.0 */
/* pathopt.h - options about the path and the packets (pathopt.c). Lock held. */
#ifndef LIBTOE_PATHOPT_H
#define LIBTOE_PATHOPT_H

#include "sockopt.h"
#include "tsock.h"

/* Actions of the table in sockopt.c: store and send the value. The placeholder checks and stores it
 * too, so they return UNHANDLED; they ignore values that it would reject. */
TOE_HIDDEN enum verdict tpath_set_tos(struct tsock *s, const struct set_option *o,
                                      const void *value, socklen_t len);
TOE_HIDDEN enum verdict tpath_set_discover(struct tsock *s, const struct set_option *o,
                                           const void *value, socklen_t len);
TOE_HIDDEN enum verdict tpath_set_maxseg(struct tsock *s, const struct set_option *o,
                                         const void *value, socklen_t len);
/* Returns IP_MTU in bytes, or -1 with ENOTCONN. */
TOE_HIDDEN int tpath_mtu(const struct tsock *s);

#endif
