/* SPDX-License-Identifier: Apache-2.0 */
/* sockopt.h - what sockopt.c and sockopt_get.c share. Lock held. */
#ifndef LIBTOE_SOCKOPT_H
#define LIBTOE_SOCKOPT_H

#include "tsock.h"

enum verdict {
    DONE,      /* handled here */
    WRONG,     /* errno is set */
    UNHANDLED, /* pass to the placeholder */
};

/* A row of the table of setsockopt(). */
struct set_option {
    int level, name;
    enum verdict (*set)(struct tsock *s, const struct set_option *o, const void *value,
                        socklen_t len);
    uint16_t option; /* TOE_OPT_* to send to the flow */
    uint16_t at;     /* offset of the stored value in struct tsock */
    int32_t min, max;
};

/* The kernel's names of the algorithms, by the value of TOE_OPT_CC. */
#define SOCKOPT_CCS 5
extern TOE_HIDDEN const char sockopt_cc[SOCKOPT_CCS][16]; /* TCP_CA_NAME_MAX */

/* Creates a kernel socket like s, which the caller closes: a shared connection has no placeholder
 * with options of TCP and IP. */
TOE_HIDDEN int tsockopt_other(const struct tsock *s);
/* IP_FREEBIND and IPV6_FREEBIND are one option of Linux. libtoe sets it itself in bind(). */
static inline bool tsockopt_is_freebind(int level, int name)
{
    return (level == IPPROTO_IP && name == IP_FREEBIND) ||
           (level == IPPROTO_IPV6 && name == IPV6_FREEBIND);
}
/* Convert TCP_DEFER_ACCEPT as Linux rounds it: seconds to expiries of the SYN-ACK's timer, and
 * back. */
TOE_HIDDEN uint8_t tdefer_times(int seconds);
TOE_HIDDEN int tdefer_seconds(uint8_t times);

#endif
