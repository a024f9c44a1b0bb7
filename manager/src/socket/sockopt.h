/* SPDX-License-Identifier: Apache-2.0 */
/* sockopt.h - what sockopt.c and sockopt_get.c share. Lock held. */
#ifndef LIBTOE_SOCKOPT_H
#define LIBTOE_SOCKOPT_H

#include "tsock.h"

enum verdict {
    DONE,      /* dealt with here */
    WRONG,     /* errno is set */
    UNHANDLED, /* the placeholder's */
};

/* A row of the table of setsockopt(). */
struct set_option {
    int level, name;
    enum verdict (*set)(struct tsock *s, const struct set_option *o, const void *value,
                        socklen_t len);
    uint16_t option; /* TOE_OPT_* that the flow gets */
    uint16_t at;     /* offset in struct tsock of what is kept */
    int32_t min, max;
};

/* The kernel's names of the algorithms, by the value of TOE_OPT_CC. */
#define SOCKOPT_CCS 4
extern TOE_HIDDEN const char sockopt_cc[SOCKOPT_CCS][16]; /* TCP_CA_NAME_MAX */

/* A socket of the kernel's like s, to be closed: a shared connection has no placeholder that knows
 * options of TCP and IP. */
TOE_HIDDEN int tsockopt_other(const struct tsock *s);
/* TCP_DEFER_ACCEPT as Linux rounds it: how often the SYN-ACK's timer expires in so many seconds,
 * and the seconds of so many times. */
TOE_HIDDEN uint8_t tdefer_times(int seconds);
TOE_HIDDEN int tdefer_seconds(uint8_t times);

#endif
