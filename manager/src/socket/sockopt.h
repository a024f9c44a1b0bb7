/* SPDX-License-Identifier: Apache-2.0 */
/* sockopt.h - what sockopt.c, sockopt_get.c and tcpinfo.c share. */
#ifndef TOE_SOCKOPT_H
#define TOE_SOCKOPT_H

#include <linux/tcp.h>

#include "libtoe.h"

enum verdict {
    DONE,      /* dealt with here */
    WRONG,     /* errno is set */
    UNHANDLED, /* the placeholder's */
};

/* The kernel's names of the algorithms, by the value of TOE_OPT_CC. */
#define SOCKOPT_CCS 4
extern TOE_HIDDEN const char sockopt_cc[SOCKOPT_CCS][16]; /* TCP_CA_NAME_MAX */

/* A rate as a flow can be told it. */
static inline uint32_t pacing_value(uint64_t rate)
{
    return rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
}

/* A socket of the kernel's like s, to be closed: a shared connection has no placeholder that knows
 * options of TCP and IP. */
TOE_HIDDEN int tsockopt_other(const struct tsock *s);
/* TCP_INFO (tcp(7)) from the flow record, which costs the TOE no command. Lock held. */
TOE_HIDDEN void tsock_tcp_info(const struct tsock *s, struct tcp_info *out);

#endif
