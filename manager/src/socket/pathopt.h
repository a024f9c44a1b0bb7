/* SPDX-License-Identifier: Apache-2.0 */
/* pathopt.h - options about the path and the packets (pathopt.c). Lock held. */
#ifndef TOE_PATHOPT_H
#define TOE_PATHOPT_H

#include "tsock.h"

/* Remembers and sends what is an option of the path; anything else is left alone. */
TOE_HIDDEN void tpath_set(struct tsock *s, int level, int name, const void *value, socklen_t len);
/* IP_MTU: bytes, or -1 with ENOTCONN. */
TOE_HIDDEN int tpath_mtu(const struct tsock *s);

#endif
