/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mld.c - reports the groups we listen to (RFC 3810) to switches with MLD snooping: the
 * solicited-node groups of our addresses. Queries of version 1 are answered with version 2 too.
 */
#include "mld.h"

#include "ip6_addr.h"
#include "ip6_out.h"

#define ROBUSTNESS   2     /* RFC 3810 9.1 */
#define CHANGE_MS    1000u /* Unsolicited Report Interval, 9.11 */
#define MAX_RECORDS  2     /* of a report: limited by the header buffer */
#define MAX_QUERY_MS 10000u
#define REPORT_LEN   8

/* RFC 3810 5.2.14: the source is unspecified until a link-local address is usable. */
static void report(struct toec_stack *s, const struct toec_addr *const *own, unsigned n,
                   unsigned type)
{
    static const toec_u8 alert[TOEC_OUT_EXT] = {
        TOEC_NH_ICMP6, 0, TOEC_IP6OPT_ROUTER_ALERT, 2, 0, 0, TOEC_IP6OPT_PADN, 0};
    const struct toec_own6 *from = toec_own_link_local(s);
    struct toec_addr none, to, group;
    struct toec_outbuf o;
    toec_u8 *m = toec_out_l4(&o);
    unsigned i;

    memset(&o, 0, sizeof(o));
    memset(&none, 0, sizeof(none));
    toec_addr_group(&to, TOEC_GROUP_MLDV2);
    m[TOEC_ICMP6_TYPE] = TOEC_ICMP6_MLD2_REPORT;
    toec_put16(m + TOEC_MLD_COUNT, n);
    for (i = 0; i < n; i++) {
        toec_u8 *r = m + REPORT_LEN + i * TOEC_MLD_RECORD;

        toec_addr_solicited(&group, own[i]);
        r[0] = (toec_u8)type;
        memcpy(r + 4, group.b, 16);
    }
    memcpy(m - TOEC_OUT_EXT, alert, TOEC_OUT_EXT);
    o.ext_len = TOEC_OUT_EXT;
    o.ext_next = TOEC_NH_HOP_BY_HOP;
    o.src = from ? &from->addr : &none;
    o.dst = &to;
    o.proto = TOEC_NH_ICMP6;
    o.sum_off = TOEC_ICMP6_SUM;
    o.l4_len = (toec_u16)(REPORT_LEN + n * TOEC_MLD_RECORD);
    if (toec_ip6_send_to(s, 0, 1, &o) == 0)
        TOEC_COUNT(s, mld_reports_sent);
}

static void report_many(struct toec_stack *s, unsigned which, unsigned type)
{
    const struct toec_addr *batch[MAX_RECORDS];
    unsigned i, n = 0;

    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        const struct toec_own6 *own = &s->ip6.own[i];

        if (!(which >> i & 1) || own->state == TOEC_OWN_FREE || own->state == TOEC_OWN_DUPLICATE)
            continue;
        batch[n++] = &own->addr;
        if (n == MAX_RECORDS) {
            report(s, batch, n, type);
            n = 0;
        }
    }
    if (n)
        report(s, batch, n, type);
}

static toec_time within(struct toec_stack *s, toec_u32 ms, toec_time now)
{
    return now + (toec_time)(toec_rand32(s) % (ms ? ms : 1)) * TOEC_NS_PER_MS;
}

void toec_mld_join(struct toec_stack *s, unsigned i, toec_time now)
{
    s->ip6.mld_changed |= (toec_u16)(1u << i);
    s->ip6.mld_left = ROBUSTNESS;
    toec_timer_set(s, &s->ip6.mld, TOEC_TMR_IP6_MLD, now); /* before duplicate address detection */
}

/* Another own address may have the same group, which then stays in use. */
void toec_mld_leave(struct toec_stack *s, const struct toec_addr *own)
{
    struct toec_addr group;

    toec_addr_solicited(&group, own);
    if (!toec_own_group(s, &group))
        report(s, &own, 1, TOEC_MLD_TO_IN);
}

void toec_mld_timer(struct toec_stack *s, toec_time now)
{
    if (s->ip6.mld_left == 0) { /* the answer to a query */
        report_many(s, ~0u, TOEC_MLD_EXCLUDE);
        return;
    }
    report_many(s, s->ip6.mld_changed, TOEC_MLD_TO_EX);
    if (--s->ip6.mld_left)
        toec_timer_set(s, &s->ip6.mld, TOEC_TMR_IP6_MLD, within(s, CHANGE_MS, now));
    else
        s->ip6.mld_changed = 0;
}

/* RFC 3810 5.1.14, 6.2. A pending change report includes all that is new and is sent soon, so it
 * replaces the answer. */
void toec_mld_query(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    toec_u32 ms = toec_get16(in->l4 + TOEC_ICMP6_REST);

    if (in->ttl != 1 || !toec_addr_is_link_local(&in->src) || in->l4_len < TOEC_ND_LEN) {
        TOEC_COUNT(s, mld_bad);
        return;
    }
    TOEC_COUNT(s, mld_queries);
    if (in->l4_len > TOEC_ND_LEN && ms >= 32768u) /* RFC 3810 5.1.3: mantissa and exponent */
        ms = MAX_QUERY_MS;
    if (s->ip6.mld_left == 0 && !toec_timer_pending(&s->ip6.mld))
        toec_timer_set(s, &s->ip6.mld, TOEC_TMR_IP6_MLD,
                       within(s, TOEC_MIN(ms, MAX_QUERY_MS), now));
}
