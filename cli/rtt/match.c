/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - matches answers to packets that left (match.h). An entry is a key and a stamp. A key
 * is the conversation, and for ICMP, tags and TCP the number that the answer repeats.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match.h"

#define ENTRIES 65536u /* a power of two */
#define FLOWS   4096u
#define FLIGHT  64u /* segments of one connection timed at once */
#define PROBES  8u  /* candidate slots of a key */
/* The longest RTO of Linux, as RFC 6298 (2.5) allows: no retransmission comes later. A connection
 * that sends nothing for so long is evicted. */
#define SILENT_NS 120000000000u

struct key {
    uint8_t local[16], remote[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint16_t local_port, remote_port;
    uint32_t number;
    uint8_t proto, pad[3];
};

struct entry {
    struct key key;
    uint64_t stamp; /* 0: free */
    bool again;     /* retransmitted: its answer is ambiguous (Karn) */
    bool answered;
};

/* A segment that waits for its acknowledgement. */
struct segment {
    uint32_t end;
    bool again;
    uint64_t stamp;
};

/* Segments in flight of a TCP connection, by their end: a retransmission may begin elsewhere. The
 * oldest is at `first`. */
struct flow {
    struct key key; /* number 0 */
    uint32_t highest;
    uint32_t isn; /* of its SYN, if seen */
    bool used, syn;
    uint64_t sent; /* time of the last segment */
    unsigned first, count;
    struct segment out[FLIGHT];
};

struct matcher {
    struct rtt *r;
    struct entry *entries;
    struct flow *flows;
    uint64_t swept, now;
    uint64_t last; /* MATCH_ANY: stamp of the last packet; 0: answered */
    uint64_t samples;
    uint64_t *left, *arrived, *lost, *duplicates, *replaced, *ambiguous, *covered, *unmatched,
        *full;
};

struct packet {
    struct key key;
    const uint8_t *payload;
    size_t payload_size; /* of what was captured */
    uint32_t seq, ack, len;
    uint8_t tcp_flags, icmp_type;
};

#define TCP_FIN 1u
#define TCP_SYN 2u
#define TCP_RST 4u
#define TCP_ACK 16u

struct matcher *match_new(struct rtt *r)
{
    struct matcher *m = calloc(1, sizeof *m);

    if (!m || !(m->entries = calloc(ENTRIES, sizeof *m->entries)) ||
        !(m->flows = calloc(FLOWS, sizeof *m->flows))) {
        match_free(m);
        return NULL;
    }
    m->r = r;
    m->left = result_count(&r->result, "sent", "packets that left and match");
    m->arrived = result_count(&r->result, "answers", "packets that arrived and match");
    m->lost = result_count(&r->result, "lost", "no answer within the timeout");
    m->duplicates = result_count(&r->result, "duplicates", "further answers to one packet");
    m->replaced = result_count(&r->result, "replaced", "evicted for a newer one");
    m->ambiguous = result_count(&r->result, "ambiguous", "answers to retransmitted packets (Karn)");
    m->covered = result_count(&r->result, "covered", "acknowledged with a later segment");
    m->unmatched = result_count(&r->result, "unmatched", "answers without a known packet");
    m->full = result_count(&r->result, "table_full", "not timed: the table was full");
    return m;
}

void match_free(struct matcher *m)
{
    if (!m)
        return;
    free(m->entries);
    free(m->flows);
    free(m);
}

/* ---- packets */

static uint16_t be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static void from_to(struct packet *p, const uint8_t *from, const uint8_t *to, size_t n, bool leaves)
{
    uint8_t *a = leaves ? p->key.local : p->key.remote, *b = leaves ? p->key.remote : p->key.local;

    if (n == 4) {
        a[10] = a[11] = b[10] = b[11] = 0xff;
        memcpy(a + 12, from, 4);
        memcpy(b + 12, to, 4);
    } else {
        memcpy(a, from, 16);
        memcpy(b, to, 16);
    }
}

static void ports(struct packet *p, const uint8_t *at, bool leaves)
{
    p->key.local_port = be16(leaves ? at : at + 2);
    p->key.remote_port = be16(leaves ? at + 2 : at);
}

static bool parse_transport(struct packet *p, const uint8_t *at, size_t size, size_t total,
                            bool leaves)
{
    size_t header;

    switch (p->key.proto) {
    case IPPROTO_UDP:
        if (size < 8)
            return false;
        ports(p, at, leaves);
        header = 8;
        break;
    case IPPROTO_TCP:
        header = size >= 20 ? (size_t)(at[12] >> 4) * 4 : 0;
        if (header < 20 || header > total)
            return false;
        ports(p, at, leaves);
        p->seq = be32(at + 4);
        p->ack = be32(at + 8);
        p->tcp_flags = at[13];
        p->len = (uint32_t)(total - header) + ((at[13] & TCP_SYN) != 0) + ((at[13] & TCP_FIN) != 0);
        break;
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        if (size < 8)
            return false;
        p->icmp_type = at[0];
        p->key.number = be32(at + 4);
        header = 8;
        break;
    default:
        return false;
    }
    p->payload = at + header;
    p->payload_size = size > header ? size - header : 0;
    return true;
}

/* Ignores fragments (only the first has ports, and it is not the whole request) and IPv6 with
 * extension headers. */
static bool parse(struct packet *p, const uint8_t *ip, size_t size, bool leaves)
{
    size_t header = 40, total;

    memset(p, 0, sizeof *p);
    if (size >= 20 && ip[0] >> 4 == 4) {
        header = (size_t)(ip[0] & 15) * 4;
        total = be16(ip + 2);
        if (header < 20 || header > size || total < header || (be16(ip + 6) & 0x3fff))
            return false;
        p->key.proto = ip[9];
        from_to(p, ip + 12, ip + 16, 4, leaves);
        total -= header;
    } else if (size >= 40 && ip[0] >> 4 == 6) {
        p->key.proto = ip[6];
        from_to(p, ip + 8, ip + 24, 16, leaves);
        total = be16(ip + 4);
    } else {
        return false;
    }
    size -= header;
    return parse_transport(p, ip + header, size < total ? size : total, total, leaves);
}

/* ---- entries */

static uint32_t hash(const struct key *k)
{
    const uint8_t *p = (const uint8_t *)k;
    uint32_t h = 2166136261u;
    size_t i;

    for (i = 0; i < sizeof *k; i++)
        h = (h ^ p[i]) * 16777619u;
    return h ^ h >> 15;
}

static struct entry *find(struct matcher *m, const struct key *k)
{
    uint32_t h = hash(k), i;

    for (i = 0; i < PROBES; i++) {
        struct entry *e = &m->entries[(h + i) % ENTRIES];

        if (e->stamp && !memcmp(&e->key, k, sizeof *k))
            return e;
    }
    return NULL;
}

/* Returns a slot for a key: free, or that of an answered entry. */
static struct entry *place(struct matcher *m, const struct key *k)
{
    uint32_t h = hash(k), i;
    struct entry *done = NULL;

    for (i = 0; i < PROBES; i++) {
        struct entry *e = &m->entries[(h + i) % ENTRIES];

        if (!e->stamp)
            return e;
        if (e->answered && !done)
            done = e;
    }
    return done;
}

static void leave(struct matcher *m, const struct key *k, uint64_t stamp, bool newest)
{
    struct entry *e = find(m, k);

    if (e && !newest && !e->answered) {
        e->again = true;
        return;
    }
    if (e && !e->answered)
        ++*m->replaced;
    if (!e)
        e = place(m, k);
    if (!e) {
        ++*m->full;
        return;
    }
    *e = (struct entry){.key = *k, .stamp = stamp};
}

static uint32_t flow_name(struct matcher *m, const struct key *k)
{
    char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN], name[2 * INET6_ADDRSTRLEN + 32];
    bool ip4 = k->local[10] == 0xff && k->local[0] == 0;

    inet_ntop(ip4 ? AF_INET : AF_INET6, k->local + (ip4 ? 12 : 0), a, sizeof a);
    inet_ntop(ip4 ? AF_INET : AF_INET6, k->remote + (ip4 ? 12 : 0), b, sizeof b);
    if (k->local_port || k->remote_port)
        snprintf(name, sizeof name, ip4 ? "%s:%u %s:%u" : "[%s]:%u [%s]:%u", a, k->local_port, b,
                 k->remote_port);
    else
        snprintf(name, sizeof name, "%s %s", a, b);
    return result_flow(&m->r->result, name);
}

static void take_sample(struct matcher *m, const struct key *k, uint64_t left, uint64_t stamp)
{
    if (stamp < left) {
        ++*result_count(&m->r->result, "backwards", "answers stamped before their packets");
        return;
    }
    result_sample(&m->r->result, rtt_at(m->r), stamp - left, m->samples++, flow_name(m, k));
}

/* Returns whether --timeout-ms have passed. False when the clock was set back. */
static bool too_late(const struct matcher *m, uint64_t left, uint64_t now)
{
    return now > left && now - left >= (uint64_t)m->r->o.timeout_ms * 1000000u;
}

static void arrive(struct matcher *m, const struct key *k, uint64_t stamp)
{
    struct entry *e = find(m, k);

    if (e && !e->answered && too_late(m, e->stamp, stamp)) {
        ++*m->lost; /* expired before the answer, though not yet swept */
        e->stamp = 0;
        e = NULL;
    }
    if (!e) {
        ++*m->unmatched;
    } else if (e->answered) {
        ++*m->duplicates;
    } else {
        e->answered = true;
        if (e->again)
            ++*m->ambiguous;
        else
            take_sample(m, k, e->stamp, stamp);
    }
}

/* Counts an entry without an answer: lost, or at the end in flight. */
static void give_up(struct matcher *m, uint64_t stamp)
{
    if (too_late(m, stamp, m->now))
        ++*m->lost;
    else
        ++*result_count(&m->r->result, "in_flight", "not answered yet at the end");
}

static void expire_entries(struct matcher *m, uint64_t now, bool end)
{
    uint32_t i;

    for (i = 0; i < ENTRIES; i++) {
        struct entry *e = &m->entries[i];

        if (!e->stamp || (!end && !too_late(m, e->stamp, now)))
            continue;
        if (!e->answered)
            give_up(m, e->stamp);
        e->stamp = 0;
    }
    if (m->last && (end || too_late(m, m->last, now))) {
        give_up(m, m->last);
        m->last = 0;
    }
}

static struct segment *segment(struct flow *f, unsigned i)
{
    return &f->out[(f->first + i) % FLIGHT];
}

static void drop_first(struct flow *f)
{
    f->first = (f->first + 1) % FLIGHT;
    f->count--;
}

static void expire_flows(struct matcher *m, uint64_t now, bool end)
{
    uint32_t i;

    for (i = 0; i < FLOWS; i++) {
        struct flow *f = &m->flows[i];

        while (f->count && (end || too_late(m, segment(f, 0)->stamp, now))) {
            give_up(m, segment(f, 0)->stamp);
            drop_first(f);
        }
        if (!f->count && now > f->sent && now - f->sent >= SILENT_NS)
            f->used = false;
    }
}

void match_expire(struct matcher *m, uint64_t now)
{
    uint64_t limit = (uint64_t)m->r->o.timeout_ms * 1000000u;
    bool end = now == UINT64_MAX;

    if (!end && now - m->swept < limit / 4 + 1)
        return;
    m->swept = now;
    if (!end)
        m->now = now;
    expire_entries(m, now, end);
    expire_flows(m, now, end);
}

/* ---- TCP */

/* Returns a slot for a connection: free, or of the least recently active one without segments in
 * flight. NULL: none. */
static struct flow *flow_place(struct matcher *m, uint32_t h)
{
    struct flow *best = NULL;
    uint32_t i;

    for (i = 0; i < PROBES; i++) {
        struct flow *f = &m->flows[(h + i) % FLOWS];

        if (!f->used)
            return f;
        if (!f->count && (!best || f->sent < best->sent))
            best = f;
    }
    return best;
}

/* Finds a connection; the first segment that leaves creates it. NULL: none. */
static struct flow *flow_of(struct matcher *m, const struct packet *p, bool leaves)
{
    struct key k = p->key;
    struct flow *f;
    uint32_t h, i;

    k.number = 0;
    h = hash(&k);
    for (i = 0; i < PROBES; i++) {
        f = &m->flows[(h + i) % FLOWS];
        if (f->used && !memcmp(&f->key, &k, sizeof k))
            return f;
    }
    if (!leaves)
        return NULL;
    f = flow_place(m, h);
    if (f)
        *f = (struct flow){.key = k, .used = true, .highest = p->seq};
    else
        ++*m->full;
    return f;
}

/* A SYN with another number than the last: a new connection reuses the ports. */
static void restart_flow(struct matcher *m, struct flow *f, const struct packet *p)
{
    if (f->syn && f->isn == p->seq)
        return; /* a retransmitted SYN */
    *m->replaced += f->count;
    f->count = 0;
    f->syn = true;
    f->isn = f->highest = p->seq;
}

static void tcp_leaves(struct matcher *m, const struct packet *p, uint64_t stamp)
{
    uint32_t end = p->seq + p->len;
    struct flow *f;
    unsigned i;

    if (p->len == 0 || (p->tcp_flags & TCP_RST) || !(f = flow_of(m, p, true)))
        return;
    ++*m->left;
    f->sent = stamp;
    if (p->tcp_flags & TCP_SYN)
        restart_flow(m, f, p);
    if ((int32_t)(p->seq - f->highest) < 0) {
        /* Retransmitted: an ACK from there on may belong to either copy (Karn). */
        for (i = 0; i < f->count; i++)
            if ((int32_t)(segment(f, i)->end - p->seq) > 0)
                segment(f, i)->again = true;
        if ((int32_t)(end - f->highest) <= 0)
            return;
    }
    f->highest = end;
    if (f->count == FLIGHT)
        ++*m->full;
    else
        *segment(f, f->count++) = (struct segment){.end = end, .stamp = stamp};
}

/* Removes the segments that an ACK covers; the one that ends at the ACK gives a sample. */
static void tcp_arrives(struct matcher *m, const struct packet *p, uint64_t stamp)
{
    struct flow *f;

    if (!(p->tcp_flags & TCP_ACK) || !(f = flow_of(m, p, false)))
        return;
    ++*m->arrived;
    while (f->count && (int32_t)(segment(f, 0)->end - p->ack) <= 0) {
        const struct segment *s = segment(f, 0);

        if (too_late(m, s->stamp, stamp))
            ++*m->lost;
        else if (s->again)
            ++*m->ambiguous;
        else if (s->end == p->ack)
            take_sample(m, &f->key, s->stamp, stamp);
        else
            ++*m->covered;
        drop_first(f);
    }
}

/* ---- by mode */

static bool counts(const struct matcher *m, const struct packet *p)
{
    const struct rtt_options *o = &m->r->o;

    return (!o->local_port || p->key.local_port == o->local_port) &&
           (!o->remote_port || p->key.remote_port == o->remote_port);
}

static bool is_request(const struct packet *p)
{
    return (p->key.proto == IPPROTO_ICMP && p->icmp_type == 8) ||
           (p->key.proto == IPPROTO_ICMPV6 && p->icmp_type == 128);
}

static bool is_reply(const struct packet *p)
{
    return (p->key.proto == IPPROTO_ICMP && p->icmp_type == 0) ||
           (p->key.proto == IPPROTO_ICMPV6 && p->icmp_type == 129);
}

/* MATCH_ANY: any arrival answers the last packet that left. */
static void any(struct matcher *m, bool leaves, uint64_t stamp)
{
    const struct key none = {0};

    if (leaves) {
        ++*m->left;
        *m->replaced += m->last != 0;
        m->last = stamp;
        return;
    }
    ++*m->arrived;
    if (m->last && too_late(m, m->last, stamp)) {
        ++*m->lost;
        m->last = 0;
    }
    if (m->last)
        take_sample(m, &none, m->last, stamp);
    else
        ++*m->unmatched;
    m->last = 0;
}

static void keyed(struct matcher *m, const struct key *k, bool leaves, bool newest, uint64_t stamp)
{
    ++*(leaves ? m->left : m->arrived);
    if (leaves)
        leave(m, k, stamp, newest);
    else
        arrive(m, k, stamp);
}

void match_packet(struct matcher *m, const uint8_t *ip, size_t size, bool leaves, uint64_t stamp)
{
    unsigned long tag = m->r->o.tag_offset;
    struct packet p;

    m->now = stamp;
    if (!parse(&p, ip, size, leaves))
        return;
    switch (m->r->o.match) {
    case MATCH_ANY:
        any(m, leaves, stamp);
        break;
    case MATCH_UDP:
        if (p.key.proto == IPPROTO_UDP && counts(m, &p))
            keyed(m, &p.key, leaves, true, stamp);
        break;
    case MATCH_ICMP:
        if (leaves ? is_request(&p) : is_reply(&p))
            keyed(m, &p.key, leaves, false, stamp);
        break;
    case MATCH_TAG:
        if ((p.key.proto == IPPROTO_UDP || p.key.proto == IPPROTO_TCP) && counts(m, &p) &&
            p.payload_size >= tag + 4) {
            p.key.number = be32(p.payload + tag);
            keyed(m, &p.key, leaves, false, stamp);
        }
        break;
    default:
        if (p.key.proto == IPPROTO_TCP && counts(m, &p)) {
            if (leaves)
                tcp_leaves(m, &p, stamp);
            else
                tcp_arrives(m, &p, stamp);
        }
    }
}
