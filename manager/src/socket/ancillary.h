/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ancillary.h - control messages of recvmsg(): what is left to read (TCP_INQ of tcp(7)) and when
 * the bytes were received (SO_TIMESTAMP and its kin, socket(7)). Lock held.
 */
#ifndef LIBTOE_ANCILLARY_H
#define LIBTOE_ANCILLARY_H

#include <linux/net_tstamp.h>

#include "tsock.h"

struct msghdr;

/* Bits of tsock_opts.stamps: as sk_flags of Linux. */
#define TSTAMP_ON  1u /* SO_TIMESTAMP or SO_TIMESTAMPNS */
#define TSTAMP_NS  2u /* SO_TIMESTAMPNS */
#define TSTAMP_NEW 4u /* the variant with 64-bit times on all machines */

/* Derives s->stamped from the options. */
static inline void tancillary_options(struct tsock *s)
{
    s->stamped =
        (s->opts.stamps & TSTAMP_ON) || (s->opts.timestamping & SOF_TIMESTAMPING_RX_SOFTWARE);
}
/* Notes when the bytes before stream offset `end` were received: `at` of DATA_RECEIVED. */
TOE_HIDDEN void tancillary_received(struct tsock *s, uint32_t end, uint32_t at);
/* After recvmsg() got n bytes, up to stream offset `end`: writes its control messages. */
TOE_HIDDEN void tancillary_put(struct tsock *s, struct msghdr *msg, size_t n, uint32_t end);
/* Appends a control message, as put_cmsg() of Linux. `used` counts the bytes of msg_control. */
TOE_HIDDEN void tancillary_append(struct msghdr *msg, size_t *used, int level, int type,
                                  const void *data, size_t len);

#endif
