/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c - fuzz target: any frames into a stack with a listener. This reaches every header parser
 * of core/: Ethernet, ARP, IPv4 and its options, IPv6 and its extension headers, fragments, ICMP
 * and what it quotes, neighbour discovery and router advertisements, UDP, TCP.
 *
 * Input: a list of [control][length, 2 bytes][frame]. Control: 1 fix the IPv4 header checksum, 2
 * fix the checksum of TCP, UDP or ICMP, 4 only the headers are contiguous, 8 the destination is the
 * stack's Ethernet address, 16 some time passes before, 32 much time, 64 the target of neighbour
 * discovery is an address of the stack, 128 the UDP reply is long. Checks: core/ reads headers only
 * within head_len and payload only within the frame (memory ends there); the frames sent are well
 * formed; all pool entries are free at the end.
 */
#include <toe/core.h>
#include <toe/counters.h>

#include "fuzz.h"

#define FRAME_MAX 2048u
#define SECOND    1000000000ull
#define LONG      3000u /* an answer of UDP in fragments */
#define HEADERS   256u  /* longest that TCP over IPv4 with all options is, and more */

static const uint8_t own_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t own_ip6[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum)
{
    size_t i;

    for (i = 0; i + 1 < n; i += 2)
        sum += get16(p + i);
    if (n & 1)
        sum += (uint32_t)p[n - 1] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

/* ---- the port: the payload of a frame has its own memory, named by `opaque` ---- */

static const uint8_t udp_bytes[2 * LONG]; /* the UDP payload sent */

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    const uint8_t *h = tx->hdr;
    uint32_t most = tx->src ? tx->src->len : tx->owner == udp_bytes ? sizeof(udp_bytes) : 0;

    (void)user;
    FUZZ_CHECK(tx->hdr_len >= 14 && tx->hdr_len + tx->len <= 1514);
    FUZZ_CHECK(memcmp(h + 6, own_mac, 6) == 0);
    if (get16(h + 12) == 0x0806) {
        FUZZ_CHECK(tx->hdr_len >= 42 && tx->hdr_len <= 60 && tx->len == 0);
        return 0;
    }
    if (get16(h + 12) == 0x86dd) {
        FUZZ_CHECK(tx->hdr_len >= 54 && h[14] >> 4 == 6);
        FUZZ_CHECK(get16(h + 18) + 54 == tx->hdr_len + tx->len);
        FUZZ_CHECK(tx->len == 0 || tx->off + tx->len <= most);
        return 0;
    }
    FUZZ_CHECK(get16(h + 12) == 0x0800 && tx->hdr_len >= 34 && h[14] == 0x45);
    FUZZ_CHECK(get16(h + 16) + 14 == tx->hdr_len + tx->len);
    FUZZ_CHECK(sum16(h + 14, 20, 0) == 0xffff);
    FUZZ_CHECK(tx->len == 0 ||
               tx->off + tx->len <= most); /* the application has written nothing to TCP */
    return 0;
}

static const uint8_t *payload(const struct toec_packet *p, uint32_t off, uint32_t len)
{
    const uint8_t *whole = p->opaque ? p->opaque : p->data;

    FUZZ_CHECK(off <= p->len && len <= p->len - off);
    return whole + off;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    (void)user;
    (void)owner;
    (void)off;
    (void)toec_sum(payload(p, p_off, len), len); /* reads it */
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return toec_sum(payload(p, p_off, len), len);
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    memcpy(dst, payload(p, p_off, len), len);
}

static int opened;

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    (void)user;
    (void)listener_owner;
    (void)info;
    out->owner = &opened;
    out->tx_size = out->rx_size = 4096;
    opened++;
    return 0;
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    (void)user;
    (void)flow;
    (void)arg;
    FUZZ_CHECK(owner == &opened);
    if (ev == TOEC_EV_GONE)
        opened--;
    FUZZ_CHECK(opened >= 0);
}

/* ---- UDP: a server that answers, and a client of each family ---- */

static struct toec_udp *server, *clients[2];
static struct toec_udp_in asked; /* of the server, and not yet answered, when len or port is set */

static void heard(void *user, void *owner, const struct toec_udp_in *d)
{
    (void)user;
    (void)toec_sum(payload(d->pkt, d->off, d->len), d->len);
    if (owner == &server)
        asked = *d;
}

static void refused(void *user, void *owner, const struct toec_udp_err *e)
{
    (void)user;
    FUZZ_CHECK(owner == &server || owner == &clients[0] || owner == &clients[1]);
    FUZZ_CHECK(e->reason);
}

static const struct toec_udp_ops udp_ops = {heard, refused};

static void open_udp(struct toec_stack *s)
{
    struct toec_udp_bind any = {.local_port = 53}, four = {.local_port = 54, .remote_port = 9}, six;

    memcpy(four.remote.b, ((const uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 2}),
           16);
    six = four;
    memcpy(six.remote.b, own_ip6, 16);
    six.remote.b[15] = 2;
    FUZZ_CHECK(toec_udp_open(s, &any, &server, &server) == 0);
    FUZZ_CHECK(toec_udp_open(s, &four, &clients[0], &clients[0]) == 0);
    FUZZ_CHECK(toec_udp_open(s, &six, &clients[1], &clients[1]) == 0);
}

static void answer(struct toec_stack *s, unsigned control, uint64_t now)
{
    struct toec_udp_msg m = {
        .to = &asked.src, .to_port = asked.sport, .payload = (void *)udp_bytes};
    int n;

    if (!asked.sport)
        return;
    m.len = control & 128 ? LONG : asked.len;
    m.off = asked.len & 1;
    m.segment = asked.len & 2 ? 500 : 0;
    m.dont_fragment = asked.len >> 2 & 1;
    m.has_sum = 1; /* all bytes are zero, and so is their sum */
    n = toec_udp_send(s, server, &m, now);
    FUZZ_CHECK(n <= (int)m.len);
    m.to = NULL;
    (void)toec_udp_send(s, clients[asked.len >> 3 & 1], &m, now);
    memset(&asked, 0, sizeof(asked));
}

/* ---- frames ---- */

static void fix_ip(uint8_t *f, uint32_t n)
{
    uint32_t hlen = n > 14 ? (f[14] & 15u) * 4 : 0;

    if (hlen < 20 || 14 + hlen > n)
        return;
    put16(f + 24, 0);
    put16(f + 24, ~sum16(f + 14, hlen, 0));
}

/* After the existing extension headers. */
static void fix_l4_of_ip6(uint8_t *f, uint32_t n)
{
    uint32_t at = 54, end = n >= 54 ? 54 + get16(f + 18) : 0, next = n >= 54 ? f[20] : 0, field;

    if (end > n)
        return;
    while ((next == 0 || next == 43 || next == 60) && at + 8 <= end) {
        next = f[at];
        at += (f[at + 1] + 1u) * 8;
    }
    field = next == 6 ? 16 : next == 17 ? 6 : 2;
    if ((next != 6 && next != 17 && next != 58) || at + field + 2 > end)
        return;
    put16(f + at + field, 0);
    put16(f + at + field, ~sum16(f + at, end - at, sum16(f + 22, 32, next + end - at)));
}

static void fix_l4(uint8_t *f, uint32_t n)
{
    uint32_t hlen = n > 34 ? (f[14] & 15u) * 4 : 0, total, at, len, sum = 0, field;

    if (hlen < 20 || 14 + hlen > n)
        return;
    total = get16(f + 16);
    if (total < hlen || total + 14 > n)
        return;
    at = 14 + hlen;
    len = total - hlen;
    field = f[23] == 6 ? 16 : f[23] == 17 ? 6 : 2;
    if (len < field + 2)
        return;
    put16(f + at + field, 0);
    if (f[23] != 1)
        sum = sum16(f + 26, 8, f[23] + len);
    put16(f + at + field, ~sum16(f + at, len, sum));
}

/* Our newest address. */
static void aim(const struct toec_stack *s, uint8_t *target)
{
    struct toec_own_addr own[8];
    unsigned n = toec_own_addresses(s, own, 8);

    if (n)
        memcpy(target, own[n - 1].addr.b, 16);
}

static void give(struct toec_stack *s, unsigned control, const uint8_t *data, uint32_t n,
                 uint64_t now)
{
    static uint8_t f[FRAME_MAX];
    struct toec_packet p = {0};
    struct toec_expected x;
    uint8_t *head, *whole;

    memcpy(f, data, n);
    if ((control & 8) && n >= 6)
        memcpy(f, own_mac, 6);
    if ((control & 64) && n >= 78)
        aim(s, f + 62);
    if (n >= 14 && get16(f + 12) == 0x86dd) {
        if (control & 2)
            fix_l4_of_ip6(f, n);
    } else {
        if (control & 2)
            fix_l4(f, n);
        if (control & 1)
            fix_ip(f, n);
    }
    whole = fuzz_exact(f, n);
    p.len = n;
    p.head_len = (control & 4) && n > HEADERS ? HEADERS : n;
    head = fuzz_exact(f, p.head_len);
    p.data = head;
    p.opaque = whole;
    toec_expect(s, &p, 1, &x);
    toec_input(s, &p, now);
    free(head);
    free(whole);
}

static struct toec_stack *start(void **mem, uint64_t now)
{
    struct toec_config cfg = {0};
    struct toec_addr any = {{0}};
    struct toec_stack *s;
    unsigned long size;
    toec_u32 id;

    memcpy(cfg.mac, own_mac, 6);
    memcpy(cfg.ip, ((const uint8_t[]){10, 0, 0, 1}), 4);
    memcpy(cfg.gateway, ((const uint8_t[]){10, 0, 0, 254}), 4);
    cfg.prefix_len = 24;
    cfg.ip6 = TOEC_IP6_AUTO;
    memcpy(cfg.ip6_addr, own_ip6, 16);
    cfg.ip6_prefix_len = 64;
    cfg.max_flows = 4;
    cfg.max_listeners = 2;
    cfg.max_time_wait = 4;
    cfg.max_neighbours = 4;
    cfg.max_datagrams = 2;
    cfg.max_udp = 4;
    cfg.udp = &udp_ops;
    cfg.icmp_echo_rate = cfg.icmp_error_rate = 0xffffffff;
    size = toec_size(&cfg);
    *mem = aligned_alloc(64, (size + 63) / 64 * 64);
    FUZZ_CHECK(size && *mem);
    s = toec_init(*mem, size, &cfg, now);
    FUZZ_CHECK(s);
    FUZZ_CHECK(toec_listen(s, &any, 80, NULL, 2, &id) == 0);
    return s;
}

/* Advances time, polling as requested, until no work remains. */
static void finish(struct toec_stack *s, uint64_t now)
{
    uint64_t end = now + 400 * SECOND, next;
    struct toec_usage u;
    unsigned polls = 0;

    while (now < end) {
        next = toec_poll(s, now);
        FUZZ_CHECK(next > now); /* transmit has room: no immediate work */
        FUZZ_CHECK(++polls < 100000);
        now = next < end ? next : end;
    }
    toec_poll(s, now);
    toec_usage(s, &u);
    FUZZ_CHECK(u.half_open == 0);
    FUZZ_CHECK(u.datagrams == 0);
    FUZZ_CHECK(u.time_wait == 0);
    FUZZ_CHECK(u.flows == (toec_u32)opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    uint64_t now = 1000 * SECOND;
    struct toec_stack *s;
    unsigned i;
    void *mem;

    opened = 0;
    s = start(&mem, now);
    toec_poll(s, now);
    for (i = 0; i < 8; i++) /* duplicate address detection ends */
        toec_poll(s, now += SECOND / 2);
    open_udp(s);
    memset(&asked, 0, sizeof(asked));
    while (in.left) {
        unsigned control = fuzz_u8(&in);
        uint32_t n = fuzz_u16(&in) % (FRAME_MAX + 1);
        size_t got;
        const uint8_t *frame = fuzz_bytes(&in, n, &got);

        now += control & 32 ? 20 * SECOND : control & 16 ? SECOND / 500 : 0;
        give(s, control, frame, (uint32_t)got, now);
        answer(s, control, now);
        toec_poll(s, now);
    }
    finish(s, now);
    free(mem);
    return 0;
}
