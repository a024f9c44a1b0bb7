/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pathopt.c - options about the path and the packets (ip(7), ipv6(7), tcp(7)): IP_TOS,
 * IPV6_TCLASS, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, TCP_MAXSEG, IP_MTU.
 *
 * The placeholder checks and stores them, as Linux does. Values that it accepts are sent to the
 * TOE.
 */
#include <netinet/in.h>
#include <string.h>

#include "option_apply.h"
#include "pathopt.h"
#include "record.h"
#include "sockopt.h"
#include "tsock.h"

/* Limits of Linux: TCP_MIN_MSS, MAX_TCP_WINDOW. */
#define MSS_MIN 88
#define MSS_MAX 32767

#define DISCOVER_MAX 5 /* IP_PMTUDISC_OMIT */
#define ECN_BITS     3 /* TCP sets them itself (INET_ECN_MASK) */

/* Reads an int, or one byte (ip(7)). False: the value is empty. */
static bool read_value(const void *value, socklen_t len, int *v)
{
    if (len >= sizeof *v)
        memcpy(v, value, sizeof *v);
    else if (len >= 1)
        *v = *(const uint8_t *)value;
    return len >= 1;
}

enum verdict tpath_set_tos(struct tsock *s, const struct set_option *o, const void *value,
                           socklen_t len)
{
    int v;

    if (!read_value(value, len, &v))
        return UNHANDLED;
    if (v == -1 && o->level == IPPROTO_IPV6)
        v = 0;
    s->opts.tos[o->level == IPPROTO_IPV6] = (uint8_t)(v & ~ECN_BITS);
    tpath_send_tos(s);
    return UNHANDLED;
}

enum verdict tpath_set_discover(struct tsock *s, const struct set_option *o, const void *value,
                                socklen_t len)
{
    int v;

    if (!read_value(value, len, &v) || v < 0 || v > DISCOVER_MAX)
        return UNHANDLED;
    s->opts.discover[o->level == IPPROTO_IPV6] = (uint8_t)(v + 1);
    tpath_send_discover(s);
    return UNHANDLED;
}

enum verdict tpath_set_maxseg(struct tsock *s, const struct set_option *o, const void *value,
                              socklen_t len)
{
    int v;

    if (!read_value(value, len, &v) || (v != 0 && (v < MSS_MIN || v > MSS_MAX)))
        return UNHANDLED;
    s->opts.maxseg = (uint16_t)v;
    tpath_option(s, o->option, (uint32_t)v);
    return UNHANDLED;
}

int tpath_mtu(const struct tsock *s)
{
    struct toedev_flow_record r;

    if (s->state != TS_OPEN || !tsock_record(s, &r) || !r.pmtu)
        return terr(ENOTCONN);
    return r.pmtu;
}
