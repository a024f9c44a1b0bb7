/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - bare: exchanges frames over a back end of netio, without TCP and without reading
 * payload. The result is the upper limit of any TCP on this interface.
 *
 * bare SPEC OWN-IP PEER-IP answer EVERY LEN
 * bare SPEC OWN-IP PEER-IP ask UNDER-WAY LEN WARMUP-MS MS
 *
 * Both ends poll. `ask` keeps UNDER-WAY frames of LEN bytes in flight. `answer` sends one frame per
 * EVERY received ones, or when no more arrive; it holds the count of received frames. `answer`
 * prints "ready" and ends at SIGTERM; `ask` prints one line of JSON.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <toe/number.h>

#include "toe/netio.h"

#define BATCH     64u
#define MAC_LEN   6u
#define ETH_LEN   14u
#define IP_LEN    20u
#define COUNT_AT  (ETH_LEN + IP_LEN)
#define FRAME_MIN 60u
#define PROTOCOL  253 /* RFC 3692: for experiments */
#define STALL_NS  UINT64_C(20000000)
#define QUIET_NS  UINT64_C(50000) /* no more frames arrive */
#define MS        UINT64_C(1000000)

struct end {
    struct netio *n;
    uint8_t head[COUNT_AT]; /* of every frame; broadcast until the peer's address is known */
    uint32_t len;
    uint8_t peer[4];
    uint64_t now;
};

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

static uint64_t clock_ns(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* RFC 791: a header without options. */
static void make_head(struct end *e, const uint8_t mac[MAC_LEN], const uint8_t own[4])
{
    uint8_t *ip = e->head + ETH_LEN;
    uint32_t sum = 0, i, len = e->len - ETH_LEN;

    memset(e->head, 0xff, MAC_LEN);
    memcpy(e->head + MAC_LEN, mac, MAC_LEN);
    e->head[12] = 0x08;
    ip[0] = 0x45;
    ip[2] = (uint8_t)(len >> 8);
    ip[3] = (uint8_t)len;
    ip[6] = 0x40; /* DF */
    ip[8] = 64;
    ip[9] = PROTOCOL;
    memcpy(ip + 12, own, 4);
    memcpy(ip + 16, e->peer, 4);
    for (i = 0; i < IP_LEN; i += 2)
        sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~(sum + (sum >> 16));
    ip[10] = (uint8_t)(sum >> 8);
    ip[11] = (uint8_t)sum;
}

/* Returns 0, or -1 when no buffer is free. */
static int send_one(struct end *e, uint32_t count)
{
    struct netio_frame f;

    if (netio_tx_alloc(e->n, &f) != 0)
        return -1;
    memcpy(f.data, e->head, COUNT_AT);
    memcpy(f.data + COUNT_AT, &count, sizeof(count));
    f.len = e->len;
    f.flags = 0;
    netio_tx_submit(e->n, &f, e->now);
    return 0;
}

/* Returns whether a frame is the peer's; stores its count and address. */
static int read_one(struct end *e, const struct netio_frame *f, uint32_t *count)
{
    if (f->len < FRAME_MIN || f->data[ETH_LEN + 9] != PROTOCOL ||
        memcmp(f->data + ETH_LEN + 12, e->peer, 4) != 0)
        return -1;
    memcpy(e->head, f->data + MAC_LEN, MAC_LEN);
    memcpy(count, f->data + COUNT_AT, sizeof(*count));
    return 0;
}

static void answer(struct end *e, uint32_t every)
{
    struct netio_frame f[BATCH];
    uint32_t got = 0, owed = 0, unused = 0;
    uint64_t came = 0;

    printf("ready\n");
    fflush(stdout);
    while (!ended) {
        unsigned n, i;

        e->now = clock_ns(CLOCK_MONOTONIC);
        n = netio_rx(e->n, f, BATCH, e->now);
        for (i = 0; i < n; i++) {
            if (read_one(e, &f[i], &unused) != 0)
                continue;
            got++;
            came = e->now;
            if (++owed >= every && send_one(e, got) == 0)
                owed = 0;
        }
        if (n)
            netio_rx_release(e->n, f, n);
        if (owed && e->now - came > QUIET_NS && send_one(e, got) == 0)
            owed = 0;
        netio_tx_flush(e->n, e->now);
    }
}

struct asker {
    uint32_t sent, settled, lost; /* settled: answered or lost ones of the sent */
    uint32_t peer_at;             /* the peer's count when settled was 0 */
    uint32_t answers;
    int known; /* ... known from the first answer */
    uint64_t settled_at;
};

/* The peer may have counted frames of an earlier run: send one frame until its first answer. */
static void take_answers(struct end *e, struct asker *a)
{
    struct netio_frame f[BATCH];
    unsigned n = netio_rx(e->n, f, BATCH, e->now), i;
    uint32_t count = 0;

    for (i = 0; i < n; i++) {
        if (read_one(e, &f[i], &count) != 0)
            continue;
        if (!a->known)
            a->peer_at = count - 1;
        a->known = 1;
        a->answers++;
        a->settled = count - a->peer_at + a->lost;
        if ((int32_t)(a->settled - a->sent) > 0) { /* a frame counted as lost was only late */
            a->lost -= a->settled - a->sent;
            a->settled = a->sent;
        }
        a->settled_at = e->now;
    }
    if (n)
        netio_rx_release(e->n, f, n);
}

/* Counts frames without an answer as lost, or the exchange would stall. */
static void give_up(const struct end *e, struct asker *a)
{
    if (a->settled == a->sent || e->now - a->settled_at < STALL_NS)
        return;
    a->lost += a->sent - a->settled;
    a->settled = a->sent;
    a->settled_at = e->now;
}

static void ask_until(struct end *e, struct asker *a, uint32_t under_way, uint64_t until)
{
    do {
        e->now = clock_ns(CLOCK_MONOTONIC);
        take_answers(e, a);
        give_up(e, a);
        while (a->sent - a->settled < (a->known ? under_way : 1) && send_one(e, 0) == 0)
            a->sent++;
        netio_tx_flush(e->n, e->now);
    } while (e->now < until && !ended);
}

static int ask(struct end *e, uint32_t under_way, uint64_t warmup_ms, uint64_t ms)
{
    struct asker a = {.settled_at = clock_ns(CLOCK_MONOTONIC)}, before;
    uint64_t begin, cpu;

    ask_until(e, &a, under_way, clock_ns(CLOCK_MONOTONIC) + warmup_ms * MS);
    before = a;
    begin = e->now;
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    ask_until(e, &a, under_way, begin + ms * MS);
    if (!a.known || a.settled == before.settled) {
        fputs("bare: the peer does not answer\n", stderr);
        return 1;
    }
    printf("{\"frames\": %" PRIu32 ", \"answers\": %" PRIu32 ", \"lost\": %" PRIu32
           ", \"ns\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 "}\n",
           a.settled - before.settled - (a.lost - before.lost), a.answers - before.answers,
           a.lost - before.lost, e->now - begin, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return 0;
}

static int number(const char *text, uint32_t least, uint32_t most, uint32_t *out)
{
    uint64_t v;

    if (!toe_number(text, least, most, &v, NULL, 0))
        return -1;
    *out = (uint32_t)v;
    return 0;
}

struct words {
    int asks;
    uint32_t every, under_way, len, warmup_ms, ms;
};

static int read_words(int argc, char **argv, struct words *w)
{
    memset(w, 0, sizeof(*w));
    if (argc == 7 && strcmp(argv[4], "answer") == 0)
        return number(argv[5], 1, 1024, &w->every) == 0 ? number(argv[6], FRAME_MIN, 1514, &w->len)
                                                        : -1;
    w->asks = 1;
    if (argc != 9 || strcmp(argv[4], "ask") != 0 || number(argv[5], 1, 1024, &w->under_way) != 0 ||
        number(argv[6], FRAME_MIN, 1514, &w->len) != 0 ||
        number(argv[7], 0, 3600000, &w->warmup_ms) != 0)
        return -1;
    return number(argv[8], 1, 3600000, &w->ms);
}

int main(int argc, char **argv)
{
    struct netio_config cfg = {.seed = 1};
    struct netio_info info;
    struct words w;
    struct end e;
    char err[512];
    int rc = 0;

    memset(&e, 0, sizeof(e));
    if (read_words(argc, argv, &w) != 0 || inet_pton(AF_INET, argv[2], cfg.ip) != 1 ||
        inet_pton(AF_INET, argv[3], e.peer) != 1) {
        fputs("usage: bare SPEC OWN-IP PEER-IP answer EVERY LEN\n"
              "       bare SPEC OWN-IP PEER-IP ask UNDER-WAY LEN WARMUP-MS MS\n",
              stderr);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    e.n = netio_open(argv[1], &cfg, err, sizeof(err));
    if (!e.n) {
        fprintf(stderr, "bare: %s\n", err);
        return 1;
    }
    netio_get_info(e.n, &info);
    e.len = w.len;
    make_head(&e, info.mac, cfg.ip);
    if (w.asks)
        rc = ask(&e, w.under_way, w.warmup_ms, w.ms);
    else
        answer(&e, w.every);
    netio_close(e.n);
    return rc;
}
