/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arp.c - Address Resolution Protocol (RFC 826), announcements and defence (RFC 5227).
 */
#include "arp.h"

#include "../wire/wire_arp.h"
#include "ip4_out.h"
#include "stack.h"

/* RFC 5227 1.1 */
#define PROBE_WAIT_MS     1000u
#define PROBE_NUM         3u
#define PROBE_MIN_MS      1000u
#define PROBE_MAX_MS      2000u
#define ANNOUNCE_WAIT     (2 * TOEC_NS_PER_S)
#define ANNOUNCE_NUM      2                    /* RFC 5227 1.1 */
#define ANNOUNCE_INTERVAL (2 * TOEC_NS_PER_S)  /* RFC 5227 1.1 */
#define DEFEND_INTERVAL   (10 * TOEC_NS_PER_S) /* RFC 5227 1.1 */
#define MIN_FRAME         60                   /* IEEE 802.3 without the frame check sequence */

static int send_arp(struct toec_stack *s, const toec_u8 *eth_dst, const struct toec_arp *a)
{
    toec_u8 frame[MIN_FRAME];
    struct toec_tx tx;

    memset(frame, 0, sizeof(frame));
    toec_eth_emit(frame, eth_dst, s->cfg.mac, TOEC_ETHERTYPE_ARP);
    toec_arp_emit(frame + TOEC_ETH_LEN, a);
    memset(&tx, 0, sizeof(tx));
    tx.hdr = frame;
    tx.hdr_len = MIN_FRAME;
    return toec_transmit(s, &tx);
}

static const toec_u8 broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* The neighbour's timer repeats a lost request. */
void toec_arp_request(struct toec_stack *s, toec_u32 ip, const toec_u8 *mac)
{
    struct toec_arp a;

    memset(&a, 0, sizeof(a));
    a.op = TOEC_ARP_REQUEST;
    memcpy(a.sha, s->cfg.mac, 6);
    a.spa = s->ip4;
    a.tpa = ip;
    if (send_arp(s, mac ? mac : broadcast, &a) == 0)
        TOEC_COUNT(s, arp_requests_sent);
}

/* R826-01 */
static void reply(struct toec_stack *s, const struct toec_arp *request)
{
    struct toec_arp a;

    a.op = TOEC_ARP_REPLY;
    memcpy(a.sha, s->cfg.mac, 6);
    a.spa = s->ip4;
    memcpy(a.tha, request->sha, 6);
    a.tpa = request->spa;
    if (send_arp(s, request->sha, &a) == 0)
        TOEC_COUNT(s, arp_replies_sent);
    else
        TOEC_COUNT(s, tx_unresolved_drop);
}

/* ---- probing, announcement and defence ---- */

static toec_time random_ms(struct toec_stack *s, toec_u32 from, toec_u32 to)
{
    return (toec_time)(from + toec_rand32(s) % (to - from)) * TOEC_NS_PER_MS;
}

void toec_arp_init(struct toec_stack *s, toec_time now)
{
    memset(&s->arp, 0, sizeof(s->arp));
    s->arp.announcements = ANNOUNCE_NUM;
    if (!s->cfg.arp_probe) {
        toec_timer_set(s, &s->arp.announce, TOEC_TMR_ANNOUNCE, 0); /* at the first poll */
        return;
    }
    /* R826-04: until probing has succeeded the stack has no address, and answers no request for it
     */
    s->arp.tested = s->ip4;
    s->ip4 = 0;
    s->arp.probes = PROBE_NUM;
    toec_timer_set(s, &s->arp.announce, TOEC_TMR_ANNOUNCE, now + random_ms(s, 0, PROBE_WAIT_MS));
}

/* Sends the next probe (RFC 5227 2.1.1). Returns not 0 while probing continues. */
static int test(struct toec_stack *s, toec_time now)
{
    toec_time wait = ANNOUNCE_WAIT;

    if (s->arp.probes) {
        toec_arp_request(s, s->arp.tested, 0); /* from 0.0.0.0, as the stack has no address yet */
        if (--s->arp.probes)
            wait = random_ms(s, PROBE_MIN_MS, PROBE_MAX_MS);
        toec_timer_set(s, &s->arp.announce, TOEC_TMR_ANNOUNCE, now + wait);
        return 1;
    }
    s->ip4 = s->arp.tested;
    s->arp.tested = 0;
    return 0;
}

/* RFC 5227 2.1.1: a host that claims the address, or probes for it too, keeps it. */
static void objection(struct toec_stack *s, const struct toec_arp *a)
{
    int probe = a->spa == 0 && a->op == TOEC_ARP_REQUEST && a->tpa == s->arp.tested;

    if (a->spa != s->arp.tested && !probe)
        return;
    TOEC_COUNT(s, arp_conflict);
    memcpy(s->arp.claimer, a->sha, 6);
    s->arp.taken = 1;
    s->arp.tested = 0;
    toec_timer_cancel(s, &s->arp.announce);
}

enum toec_ip4_state toec_ip4_state(const struct toec_stack *s, toec_u8 mac[6])
{
    memcpy(mac, s->arp.claimer, 6);
    if (s->arp.tested)
        return TOEC_IP4_TESTED;
    if (s->arp.taken)
        return TOEC_IP4_TAKEN;
    return s->ip4 ? TOEC_IP4_OWN : TOEC_IP4_NONE;
}

/* RFC 5227 2.3: announces our address with an ARP request for it, so that others drop stale
 * entries. */
void toec_arp_announce_timer(struct toec_stack *s, toec_time now)
{
    if (s->arp.tested && test(s, now))
        return;
    toec_arp_request(s, s->ip4, 0);
    if (--s->arp.announcements > 0)
        toec_timer_set(s, &s->arp.announce, TOEC_TMR_ANNOUNCE, now + ANNOUNCE_INTERVAL);
}

/* R826-04: another host claims our address. RFC 5227 2.4 (b): at most one announcement per
 * interval. */
static void conflict(struct toec_stack *s, const struct toec_arp *a, toec_time now)
{
    TOEC_COUNT(s, arp_conflict);
    memcpy(s->arp.claimer, a->sha, 6);
    if (now < s->arp.defend_after)
        return;
    s->arp.defend_after = now + DEFEND_INTERVAL;
    toec_arp_request(s, s->ip4, 0);
}

/* ---- input ---- */

/* R826-02, "merge": updates the address of a known sender, whatever the packet is. */
static void merge(struct toec_stack *s, struct toec_neigh *n, const struct toec_arp *a, int for_us,
                  toec_time now)
{
    int asked = n->state == TOEC_NEIGH_INCOMPLETE || (n->state == TOEC_NEIGH_PROBE && n->tries > 0);
    int changed = !n->unresolved && !toec_mac_eq(n->mac, a->sha);

    if (changed)
        TOEC_COUNT(s, neigh_changed);
    if (changed || n->unresolved)
        memcpy(n->mac, a->sha, 6);
    if (asked && for_us && a->op == TOEC_ARP_REPLY)
        toec_neigh_reachable(s, n, now);
    else if (changed || n->unresolved) /* an unsolicited claim is verified when it is used */
        toec_neigh_stale(s, n, now);
}

/* RFC 826 "add": adds a host that requests our address, since it is about to send to us. */
static void learn(struct toec_stack *s, const struct toec_arp *a, toec_time now)
{
    struct toec_addr addr;
    struct toec_neigh *n;

    toec_addr_set4(&addr, a->spa);
    n = toec_neigh_add(s, &addr, TOEC_NEIGH_LEARN, now);
    if (!n) {
        TOEC_COUNT(s, arp_not_learned);
        return;
    }
    memcpy(n->mac, a->sha, 6);
    toec_neigh_stale(s, n, now);
}

void toec_arp_input(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3, toec_time now)
{
    struct toec_arp a;
    struct toec_addr spa;
    struct toec_neigh *n;
    int for_us;

    TOEC_COUNT(s, arp_rx);
    if (s->cfg.link) { /* the other stack handles ARP */
        TOEC_COUNT(s, arp_not_learned);
        return;
    }
    if (p->head_len < l3 + TOEC_ARP_LEN || toec_arp_parse(&a, p->data + l3) < 0 ||
        toec_mac_is_group(a.sha) || toec_mac_is_zero(a.sha) || toec_mac_eq(a.sha, s->cfg.mac)) {
        TOEC_COUNT(s, arp_bad);
        return;
    }
    if (s->arp.tested) {
        objection(s, &a);
        return;
    }
    if (a.spa == s->ip4) {
        conflict(s, &a, now);
        return;
    }
    for_us = a.tpa == s->ip4;
    if (a.spa != 0) { /* 0: a probe (RFC 5227 2.1.1), which is answered but not learned from */
        if (!toec_ip4_on_link_host(s->ip4, s->mask4, a.spa)) {
            TOEC_COUNT(s, arp_off_link);
            return;
        }
        toec_addr_set4(&spa, a.spa);
        n = toec_neigh_find(s, &spa);
        if (n)
            merge(s, n, &a, for_us, now);
        else if (for_us && a.op == TOEC_ARP_REQUEST)
            learn(s, &a, now);
    }
    if (for_us && a.op == TOEC_ARP_REQUEST)
        reply(s, &a);
}
