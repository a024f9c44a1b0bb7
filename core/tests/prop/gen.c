/* SPDX-License-Identifier: Apache-2.0 */
/* gen.c - the script of a seed. */
#include <string.h>

#include "prop.h"

static uint64_t state;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t random64(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int64_t below(uint32_t n)
{
    return (uint32_t)(random64() >> 32) % n;
}

static int one_in(uint32_t n)
{
    return below(n) == 0;
}

static int64_t pick(const int64_t *of, unsigned n)
{
    return of[below(n)];
}
#define PICK(...)                                                                                  \
    pick((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void add(struct script *s, enum event_op op, int64_t a, int64_t b, int64_t c, int64_t d,
                int64_t x)
{
    struct event e;

    memset(&e, 0, sizeof(e));
    e.op = op;
    e.a[0] = a;
    e.a[1] = b;
    e.a[2] = c;
    e.a[3] = d;
    e.a[4] = x;
    script_add(s, &e);
}

static void run(struct script *s)
{
    static const int64_t us[] = {0, 0, 10, 500, 1000, 2100, 5000, 45000, 250000};

    if (one_in(40))
        add(s, E_run, below(5000000), 0, 0, 0, 0);
    else if (one_in(200))
        add(s, E_run, below(200000000), 0, 0, 0, 0);
    else
        add(s, E_run, pick(us, 9), 0, 0, 0, 0);
}

/* A number at which something happens: around the edges of windows, segments and buffers. */
static int64_t edge(void)
{
    static const int64_t at[] = {0,     1,     2,     3,        535,       536,  1447,
                                 1448,  1460,  2896,  4095,     4096,      8192, 16384,
                                 65535, 65536, 70000, 0x100000, 0x7fffffff};

    return pick(at, sizeof(at) / sizeof(at[0])) + (one_in(3) ? below(3) - 1 : 0);
}

/* ---- settings ---- */

static void settings(struct script *s, int mode)
{
    int i;

    s->set[S_mode] = mode;
    s->set[S_secret] = below(1000);
    s->set[S_ip6] = s->set[S_secret] % 3 == 0; /* no separate draw: other scripts stay the same */
    for (i = S_tx0; i <= S_rx1; i++)
        s->set[i] = PICK(4096, 4096, 8192, 16384, 65536, 65536, 262144);
    for (i = S_mtu0; i <= S_mtu1; i++)
        s->set[i] = PICK(1500, 1500, 1500, 576, 9000, 1400);
    for (i = S_gso0; i <= S_gso1; i++)
        s->set[i] = PICK(0, 0, 61440, 4000);
    for (i = S_cc0; i <= S_cc1; i++)
        s->set[i] = below(2);
    for (i = S_ecn0; i <= S_ecn1; i++)
        s->set[i] = below(4);
    s->set[S_flows] = PICK(2, 4, 8, 20);
    s->set[S_tw] = PICK(1, 4, 8);
    s->set[S_delay] = PICK(10, 50, 1000, 1000, 20000, 100000);
    for (i = S_iss0; i <= S_iss1; i++)
        s->set[i] = one_in(2) ? PICK(1, 2, 3, 300, 1000, 1500, 3000, 5000, 20000, 70000) : 0;
    for (i = S_tick0; i <= S_tick1; i++)
        s->set[i] = one_in(5) ? PICK(1, 50, 500, 5000, 60000) : 0;
}

/* ---- pair mode ---- */

static void connect_some(struct script *s)
{
    if (one_in(12)) { /* both at once */
        add(s, E_connect, 0, 41000, 41001, 0, 0);
        add(s, E_connect, 1, 41001, 41000, 0, 0);
    } else if (one_in(8)) {
        add(s, E_connect, 1, 40000 + below(3), 80 + below(2), 0, 0);
    } else {
        add(s, E_connect, 0, 40000 + below(4), 80 + below(3), 0, 0);
    }
}

static void option(struct script *s, int64_t host, int64_t conn)
{
    static const struct {
        int64_t option, below;
    } table[] = {{TOEC_OPT_NODELAY, 2},   {TOEC_OPT_KEEPALIVE, 2}, {TOEC_OPT_KEEPIDLE, 5},
                 {TOEC_OPT_KEEPINTVL, 5}, {TOEC_OPT_KEEPCNT, 5},   {TOEC_OPT_CC, 3},
                 {TOEC_OPT_CORK, 2},      {TOEC_OPT_QUICKACK, 2},  {TOEC_OPT_LINGER2, 5}};
    int64_t n = below(sizeof(table) / sizeof(table[0]));

    add(s, E_option, host, conn, table[n].option, below((uint32_t)table[n].below), 0);
}

static void network(struct script *s, int64_t host)
{
    switch (below(10)) {
    case 0:
    case 1:
        add(s, E_lose, host, 1 + below(one_in(3) ? 20 : 3), 0, 0, 0);
        break;
    case 2:
    case 3:
        add(s, E_late, host, 1 + below(3), PICK(300, 3000, 30000, 300000), 0, 0);
        break;
    case 4:
        add(s, E_twice, host, 1 + below(3), PICK(0, 500, 50000, 2000000), 0, 0);
        break;
    case 5:
        add(s, E_flip, host, below(12000), 0, 0, 0);
        break;
    case 6:
        add(s, E_mark, host, 1 + below(4), 0, 0, 0);
        break;
    case 7:
        add(s, E_replay, host, below(HISTORY), PICK(0, 1000), 0, 0);
        break;
    default:
        add(s, E_refuse, host, 1 + below(one_in(3) ? 30 : 3), 0, 0, 0);
    }
}

static void attack(struct script *s, int64_t host, int64_t conn)
{
    if (one_in(4))
        add(s, E_icmp, host, conn, below(16), PICK(0, 68, 300, 552, 600, 1000, 1400, 65535), 0);
    else
        add(s, E_forge, host, conn, below(6), one_in(2) ? edge() : below(100000), below(3000));
}

static void pair_event(struct script *s)
{
    int64_t host = below(2), conn = below(one_in(2) ? 2 : 8), what = below(103);

    if (what > 99)
        add(s, E_hand, host, 0, 0, 0, 0);
    else if (what < 6)
        connect_some(s);
    else if (what < 26)
        add(s, E_send, host, conn, one_in(3) ? edge() & 0xfffff : below(6000), !one_in(4), 0);
    else if (what < 44)
        add(s, E_recv, host, conn, one_in(2) ? 10000000 : below(8000), 0, 0);
    else if (what < 47)
        option(s, host, conn);
    else if (what < 49)
        add(s, E_shut, host, conn, 0, 0, 0);
    else if (what < 51)
        add(s, E_close, host, conn, 0, 0, 0);
    else if (what < 52)
        add(s, one_in(2) ? E_abort : E_no_open, host, one_in(2) ? conn : below(2), 0, 0, 0);
    else if (what < 53)
        add(s, one_in(3) ? E_unlisten : E_listen, 1, 80 + below(3), PICK(0, 1, 3), 0, 0);
    else if (what < 68)
        network(s, host);
    else if (what < 73)
        attack(s, host, conn);
    else
        run(s);
}

static void make_pair(struct script *s)
{
    unsigned n = (unsigned)(20 + below(one_in(4) ? 600 : 150));

    add(s, E_listen, 1, 80, PICK(0, 0, 1, 3), 0, 0);
    if (one_in(2))
        add(s, E_listen, 1, 81, 0, 0, 0);
    add(s, E_connect, 0, 40000, 80, 0, 0);
    if (!one_in(4))
        add(s, E_run, 500000, 0, 0, 0, 0);
    while (n--)
        pair_event(s);
}

/* ---- peer mode ---- */

static void seg(struct script *s, int64_t from, int64_t to, int64_t flags, int64_t seq, int64_t ack,
                int64_t len, int64_t opts)
{
    struct event e;

    memset(&e, 0, sizeof(e));
    e.op = E_seg;
    e.a[0] = from;
    e.a[1] = to;
    e.a[2] = flags;
    e.a[3] = seq;
    e.a[4] = ack;
    e.a[5] = len;
    e.a[6] = PICK(65535, 65535, 65535, 5000, 1000, 1, 0);
    e.a[7] = opts;
    e.a[8] = opts & 16 ? edge() : PICK(1460, 536, 64, 1, 0, 65535, 1400);
    e.a[9] = PICK(0, 1, 2, 7, 14, 15, 255, 1448);
    script_add(s, &e);
}

static void handshake(struct script *s, int64_t port)
{
    int64_t isn = one_in(2) ? (int64_t)(uint32_t)random64() : 0xffffffff - below(5000);
    int64_t opts = 64 | below(16);

    if (port >= 5000) { /* the peer opens */
        seg(s, port, 80, F_SYN, isn, 0, one_in(10) ? 100 : 0, opts);
        add(s, E_run, 0, 0, 0, 0, 0);
        seg(s, port, 80, F_ACK, 0, 0, one_in(4) ? 500 : 0, 0);
    } else {
        add(s, E_connect, 0, 40000, port, 0, 0);
        add(s, E_run, 20000, 0, 0, 0, 0);
        seg(s, port, 40000, F_SYN | F_ACK, isn, one_in(6) ? below(3) - 1 : 0, 0, opts);
        add(s, E_run, 0, 0, 0, 0, 0);
    }
}

static void peer_event(struct script *s)
{
    int64_t port = PICK(5000, 5000, 5001, 5002, 90, 91), own = port >= 5000 ? 80 : 40000;
    int64_t conn = below(one_in(2) ? 2 : 6), what = below(103);

    if (what > 99)
        add(s, E_hand, 0, 0, 0, 0, 0);
    else if (what < 5)
        handshake(s, port);
    else if (what < 15)
        seg(s, port, own, F_ACK, 0, 0, 0, 0); /* all that was sent is acknowledged */
    else if (what < 30)
        seg(s, port, own, F_ACK | (one_in(2) ? F_PSH : 0), 0, 0, 1 + below(1400), 0);
    else if (what < 35)
        seg(s, port, own, F_ACK, edge(), 0, below(1400), 0); /* beyond a gap */
    else if (what < 40)
        seg(s, port, own, F_ACK, 0, -edge(), 0, 16); /* part of it, with SACK */
    else if (what < 50)
        seg(s, port, own, below(3) ? F_ACK : below(64), one_in(2) ? edge() : -edge(),
            one_in(2) ? -edge() : edge(), one_in(2) ? 0 : below(1400),
            one_in(3) ? below(256) & ~64 : 0);
    else if (what < 51)
        seg(s, port, own, PICK(F_FIN | F_ACK, F_RST, F_RST | F_ACK, F_SYN), 0, 0, 0, 0);
    else if (what < 63)
        add(s, E_send, 0, conn, one_in(3) ? edge() & 0xfffff : below(6000), !one_in(4), 0);
    else if (what < 75)
        add(s, E_recv, 0, conn, one_in(2) ? 10000000 : below(8000), 0, 0);
    else if (what < 77)
        option(s, 0, conn);
    else if (what < 79)
        add(s, PICK(E_shut, E_close, E_close, E_abort), 0, conn, 0, 0, 0);
    else if (what < 81)
        add(s, E_refuse, 0, 1 + below(10), 0, 0, 0);
    else if (what < 82)
        add(s, E_icmp, 0, conn, below(16), PICK(0, 68, 300, 552, 600, 1000, 1400, 65535), 0);
    else if (what < 83)
        add(s, E_arp, below(2), 0, 0, 0, 0);
    else
        run(s);
}

static void make_peer(struct script *s)
{
    unsigned n = (unsigned)(20 + below(one_in(4) ? 500 : 120));

    add(s, E_listen, 0, 80, PICK(0, 0, 1, 3), 0, 0);
    handshake(s, one_in(2) ? 5000 : 90);
    while (n--)
        peer_event(s);
}

void script_make(struct script *s, uint64_t seed, int mode)
{
    script_init(s);
    state = seed * 2 + (uint64_t)mode;
    settings(s, mode);
    if (mode)
        make_peer(s);
    else
        make_pair(s);
    script_fit(s);
}
