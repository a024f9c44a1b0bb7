/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pathopt.c - options about the path and the packets (ip(7), ipv6(7), tcp(7)): IP_TOS,
 * IPV6_TCLASS, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, TCP_MAXSEG, IP_MTU.
 *
 * The placeholder keeps and checks them, as Linux does. What it accepts is sent to the TOE.
 */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>

#include "option_apply.h"
#include "pathopt.h"
#include "record.h"
#include "tsock.h"

/* As Linux has them: TCP_MIN_MSS, MAX_TCP_WINDOW. */
#define MSS_MIN 88
#define MSS_MAX 32767

#define DISCOVER_MAX 5 /* IP_PMTUDISC_OMIT */

void tpath_set(struct tsock *s, int level, int name, const void *value, socklen_t len)
{
    int v = 0;

    if (len >= sizeof v)
        memcpy(&v, value, sizeof v);
    else if (len >= 1)
        v = *(const uint8_t *)value; /* ip(7): a byte will do */
    else
        return;
    if ((level == IPPROTO_IP && name == IP_TOS) || (level == IPPROTO_IPV6 && name == IPV6_TCLASS)) {
        s->opts.tos = (uint8_t)(v == -1 ? 0 : v);
        tpath_option(s, TOE_OPT_TOS, s->opts.tos);
    } else if ((level == IPPROTO_IP && name == IP_MTU_DISCOVER) ||
               (level == IPPROTO_IPV6 && name == IPV6_MTU_DISCOVER)) {
        if (v < 0 || v > DISCOVER_MAX)
            return;
        s->opts.discover = (uint8_t)(v + 1);
        tpath_option(s, TOE_OPT_MTU_DISCOVER, (uint32_t)v);
    } else if (level == IPPROTO_TCP && name == TCP_MAXSEG) {
        if (v != 0 && (v < MSS_MIN || v > MSS_MAX))
            return;
        s->opts.maxseg = (uint16_t)v;
        tpath_option(s, TOE_OPT_MAXSEG, (uint32_t)v);
    }
}

int tpath_mtu(const struct tsock *s)
{
    struct toedev_flow_record r;

    if (s->state != TS_OPEN || !tsock_record(s, &r) || !r.pmtu)
        return terr(ENOTCONN);
    return r.pmtu;
}
