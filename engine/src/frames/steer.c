/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.c - several engines behind one address. A symmetric hash of the flow selects its home
 * engine, whichever queue the NIC put the frame in (docs/ARCHITECTURE.md rule 4: only rings between
 * cores).
 *
 * Policy. TCP goes to the engine of its 4-tuple, an ICMP error to the engine of the segment it
 * quotes. ARP replies go to all engines, since each stack has its own neighbour cache. ARP requests
 * and pings are answered by the engine they arrive at. TCP fragments are dropped and counted, as
 * only the first one carries ports; a peer that does path MTU discovery sends none. With one engine
 * nothing is steered and fragments are reassembled. For IPv6 the same applies. Neighbour and router
 * advertisements, redirects, and solicitations for duplicate address detection go to all engines.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine_state.h"
#include "steer.h"
#include "wiretap.h"

#define HANDOVER_ENTRIES 256u
#define HANDOVER_BUDGET  64u

#define ETH_LEN     14u
#define TYPE_IP4    0x0800u
#define TYPE_ARP    0x0806u
#define TYPE_IP6    0x86ddu
#define ARP_REPLY   2u
#define PROTO_ICMP  1u
#define PROTO_TCP   6u
#define PROTO_ICMP6 58u
#define IP6_LEN     40u
#define EXT_MAX     8u /* extension headers skipped at most */

/* The engine that received the frame keeps it too, and records it in a capture. */
#define COPY 0x80000000u

/* A ring from one engine to another: single producer, single consumer. */
struct ring {
    _Alignas(LINE) atomic_uint head;
    _Alignas(LINE) atomic_uint tail;
    uint32_t *len, *flags; /* flags: TOEC_RX_*, COPY */
    uint8_t *frames;
};

/* What other engines need to wake an engine. */
struct bell {
    _Alignas(LINE) atomic_int sleeping;
    int fd;
};

/* The state shared by engines. This struct itself is read-only once they run. */
struct handover {
    uint32_t count, frame_size;
    struct bell *bells;
    struct ring *rings; /* [from * count + to] */
};

void handover_free(struct handover *h)
{
    uint32_t i;

    if (!h)
        return;
    for (i = 0; h->rings && i < h->count * h->count; i++) {
        free(h->rings[i].len);
        free(h->rings[i].flags);
        free(h->rings[i].frames);
    }
    free(h->rings);
    free(h->bells);
    free(h);
}

struct handover *handover_new(uint32_t count, uint32_t frame_size)
{
    struct handover *h = lines_calloc(1, sizeof(*h));
    uint32_t i;

    if (!h)
        return NULL;
    h->count = count;
    h->frame_size = frame_size;
    h->bells = lines_calloc(count, sizeof(*h->bells));
    h->rings = lines_calloc((size_t)count * count, sizeof(*h->rings));
    if (!h->bells || !h->rings) {
        handover_free(h);
        return NULL;
    }
    for (i = 0; i < count * count; i++) {
        if (i / count == i % count)
            continue;
        h->rings[i].len = lines_calloc(HANDOVER_ENTRIES, sizeof(*h->rings[i].len));
        h->rings[i].flags = lines_calloc(HANDOVER_ENTRIES, sizeof(*h->rings[i].flags));
        h->rings[i].frames = lines_calloc(HANDOVER_ENTRIES, frame_size);
        if (!h->rings[i].len || !h->rings[i].flags || !h->rings[i].frames) {
            handover_free(h);
            return NULL;
        }
    }
    return h;
}

void steer_set_engine(struct handover *h, uint32_t id, const struct engine *e)
{
    h->bells[id].fd = e->wake_fd;
}

void steer_sleeps(struct engine *e, int on)
{
    if (e->cfg.handover)
        atomic_store(&e->cfg.handover->bells[e->cfg.id].sleeping, on);
}

/* Like engine_wake(), without access to the engine. */
static void wake(const struct bell *b)
{
    uint64_t one = 1;

    if (write(b->fd, &one, sizeof(one)) < 0)
        return; /* the counter is full: it is being woken already */
}

static uint32_t be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

/* Returns the home of the TCP segment whose IPv4 header is at ip; its ports must be within len. */
static uint32_t tcp_home(const uint8_t *ip, uint32_t len, uint32_t here, uint32_t count)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    uint32_t ihl = (ip[0] & 15u) * 4;
    struct toec_addr a, b;

    if (ihl < 20 || len < ihl + 4)
        return here;
    memcpy(a.b, mapped, sizeof(mapped));
    memcpy(b.b, mapped, sizeof(mapped));
    memcpy(a.b + 12, ip + 12, 4);
    memcpy(b.b + 12, ip + 16, 4);
    return toec_rss_hash(&a, &b, (uint16_t)be16(ip + ihl), (uint16_t)be16(ip + ihl + 2)) % count;
}

static int icmp_is_error(unsigned type)
{
    return type == 3 || type == 11 || type == 12; /* unreachable, time, parameter */
}

static uint32_t ip4_home(const uint8_t *ip, uint32_t len, uint32_t here, uint32_t count)
{
    uint32_t ihl, quoted;
    int fragment;

    if (len < 20)
        return here;
    ihl = (ip[0] & 15u) * 4;
    fragment = (be16(ip + 6) & 0x3fff) != 0; /* MF or an offset */
    if (ip[9] == PROTO_TCP)
        return fragment ? STEER_DROP : tcp_home(ip, len, here, count);
    quoted = ihl + 8;
    if (ip[9] != PROTO_ICMP || fragment || ihl < 20 || len < quoted + 20 ||
        !icmp_is_error(ip[ihl]) || ip[quoted + 9] != PROTO_TCP)
        return here;
    return tcp_home(ip + quoted, len - quoted, here, count);
}

/* ---- IPv6 ---- */

/* Returns the offset of the upper-layer header of the packet at ip, 0 when it is not within len.
 * Sets *fragment if there is a fragment header of a non-atomic fragment. */
static uint32_t ip6_upper(const uint8_t *ip, uint32_t len, uint8_t *proto, int *fragment)
{
    uint32_t at = IP6_LEN, i;

    *proto = ip[6];
    *fragment = 0;
    for (i = 0; i < EXT_MAX && at + 8 <= len; i++) {
        switch (*proto) {
        case 0:
        case 43:
        case 60:
            *proto = ip[at];
            at += (ip[at + 1] + 1u) * 8;
            break;
        case 44:
            *proto = ip[at];
            *fragment |= (be16(ip + at + 2) & 0xfff9) != 0;
            at += 8;
            if (*fragment)
                return at;
            break;
        default:
            return at;
        }
    }
    return 0;
}

/* Returns the home of the TCP segment whose header is at offset l4 of the packet at ip. */
static uint32_t tcp6_home(const uint8_t *ip, uint32_t l4, uint32_t len, uint32_t here,
                          uint32_t count)
{
    struct toec_addr a, b;

    if (len < l4 + 4)
        return here;
    memcpy(a.b, ip + 8, 16);
    memcpy(b.b, ip + 24, 16);
    return toec_rss_hash(&a, &b, (uint16_t)be16(ip + l4), (uint16_t)be16(ip + l4 + 2)) % count;
}

static uint32_t icmp6_home(const uint8_t *ip, uint32_t l4, uint32_t len, uint32_t here,
                           uint32_t count)
{
    static const uint8_t unspecified[16];
    uint32_t quoted = l4 + 8;

    switch (ip[l4]) {
    case 1:
    case 2:
    case 3:
    case 4: /* errors: the quoted TCP has no extension headers, as the stacks send none */
        if (len < quoted + IP6_LEN || ip[quoted + 6] != PROTO_TCP)
            return here;
        return tcp6_home(ip + quoted, IP6_LEN, len - quoted, here, count);
    case 134:
    case 136:
    case 137:
        return STEER_ALL;
    case 135:
        return memcmp(ip + 8, unspecified, 16) == 0 ? STEER_ALL : here;
    default:
        return here;
    }
}

static uint32_t ip6_home(const uint8_t *ip, uint32_t len, uint32_t here, uint32_t count)
{
    uint8_t proto;
    uint32_t l4;
    int fragment;

    if (len < IP6_LEN)
        return here;
    l4 = ip6_upper(ip, len, &proto, &fragment);
    if (l4 == 0 || l4 >= len)
        return here;
    if (proto == PROTO_TCP)
        return fragment ? STEER_DROP : tcp6_home(ip, l4, len, here, count);
    return proto == PROTO_ICMP6 && !fragment ? icmp6_home(ip, l4, len, here, count) : here;
}

uint32_t steer_home(const uint8_t *frame, uint32_t len, uint32_t here, uint32_t count)
{
    if (len < ETH_LEN)
        return here;
    if (be16(frame + 12) == TYPE_IP4)
        return ip4_home(frame + ETH_LEN, len - ETH_LEN, here, count);
    if (be16(frame + 12) == TYPE_IP6)
        return ip6_home(frame + ETH_LEN, len - ETH_LEN, here, count);
    if (be16(frame + 12) == TYPE_ARP && len >= ETH_LEN + 8 &&
        be16(frame + ETH_LEN + 6) == ARP_REPLY)
        return STEER_ALL;
    return here; /* the stack counts what it drops */
}

/* copy: 0 or COPY. */
static void hand_over(struct engine *e, uint32_t to, const struct netio_frame *f, uint32_t copy)
{
    struct handover *h = e->cfg.handover;
    struct ring *r = &h->rings[e->cfg.id * h->count + to];
    unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);
    unsigned slot = head % HANDOVER_ENTRIES;

    if (f->len > h->frame_size ||
        head - atomic_load_explicit(&r->tail, memory_order_acquire) == HANDOVER_ENTRIES) {
        engine_count(e, EC_handover_full);
        if (wiretap_on(e) && !copy)
            wiretap_drop(e, f, DROP_handover_full);
        return;
    }
    memcpy(r->frames + (size_t)slot * h->frame_size, f->data, f->len);
    r->len[slot] = f->len;
    r->flags[slot] = copy | (f->flags & NETIO_F_L4_CSUM_OK ? TOEC_RX_L4_CSUM_OK : 0);
    /* sequentially consistent, as is the other's flag: it sees the frame, or we see it asleep */
    atomic_store(&r->head, head + 1);
    if (atomic_load(&h->bells[to].sleeping))
        wake(&h->bells[to]);
    engine_count(e, EC_handover_sent);
    if (wiretap_on(e) && !copy)
        wiretap_hand_over(e, f);
}

int steer_out(struct engine *e, const struct netio_frame *f)
{
    uint32_t home, i;

    if (e->cfg.count <= 1)
        return 1;
    home = steer_home(f->data, f->len, e->cfg.id, e->cfg.count);
    if (home == e->cfg.id)
        return 1;
    if (home == STEER_DROP) {
        engine_count(e, EC_fragment_unsteered);
        if (wiretap_on(e))
            wiretap_drop(e, f, DROP_fragment_unsteered);
        return 0;
    }
    if (home != STEER_ALL) {
        hand_over(e, home, f, 0);
        return 0;
    }
    for (i = 0; i < e->cfg.count; i++)
        if (i != e->cfg.id)
            hand_over(e, i, f, COPY);
    return 1;
}

/* Delivers the frames of one ring to the stack. */
static unsigned take(struct engine *e, struct ring *r)
{
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed), n = 0;

    while (n < HANDOVER_BUDGET && atomic_load_explicit(&r->head, memory_order_acquire) != tail) {
        unsigned slot = tail % HANDOVER_ENTRIES;
        struct toec_packet p;

        memset(&p, 0, sizeof(p));
        p.data = r->frames + (size_t)slot * e->cfg.handover->frame_size;
        p.len = p.head_len = r->len[slot];
        p.flags = r->flags[slot] & ~COPY;
        if (wiretap_on(e) && !(r->flags[slot] & COPY))
            wiretap_input_alone(e, &p, 0);
        else
            toec_input(e->stack, &p, e->now);
        atomic_store_explicit(&r->tail, ++tail, memory_order_release);
        engine_count(e, EC_handover_received);
        n++;
    }
    return n;
}

unsigned steer_in(struct engine *e)
{
    struct handover *h = e->cfg.handover;
    unsigned n = 0;
    uint32_t i;

    for (i = 0; h && i < h->count; i++)
        if (i != e->cfg.id)
            n += take(e, &h->rings[i * h->count + e->cfg.id]);
    return n;
}

int steer_waiting(const struct engine *e)
{
    const struct handover *h = e->cfg.handover;
    uint32_t i;

    for (i = 0; h && i < h->count; i++) {
        struct ring *r = &h->rings[i * h->count + e->cfg.id];

        if (i != e->cfg.id && atomic_load(&r->head) != atomic_load(&r->tail))
            return 1;
    }
    return 0;
}
