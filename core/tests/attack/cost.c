/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - what a frame costs core/, for bench/attack_cost.py, which counts the instructions within
 * toec_input() and toec_poll() by callgrind:
 *
 *   attack_cost CASE MARK...
 *
 * Calls count_mark() when MARK frames have been passed in after the set-up, for each MARK in
 * ascending order; ends at the last. Exit code 2: usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

#define MARKS 8

static unsigned marks[MARKS], n_marks, passed;

/* Where callgrind writes what it has counted: --dump-before=count_mark. */
__attribute__((noinline)) void count_mark(void);

void count_mark(void)
{
    passed++;
}

/* Whether to give another frame after i. */
static int more(unsigned i)
{
    if (i == marks[passed])
        count_mark();
    return passed < n_marks;
}

static void flush(struct sim *s)
{
    craft_poll(s);
    craft_forget(s);
}

/* ---- a sender with a megabyte under way ---- */

static void sender_of(struct talk *t, unsigned flows)
{
    uint32_t at = 0, top = 0;
    unsigned i;

    talk_init(t);
    memcpy(t->s.host[0].cfg.gateway, "\12\0\0\2", 4);
    t->s.host[0].cfg.max_flows = flows;
    t->sack = 1;
    t->wscale = 5;
    t->s.host[0].tx_buf = 1 << 21;
    talk_passive(t);
    for (i = 0; i < 4000 && top - at < 1 << 20; i++) { /* the window opens */
        struct tseg g;

        talk_send(t, 1 << 21);
        while (craft_next(&t->s, &g))
            top = g.seq + g.len - t->iss - 1;
        craft_forget(&t->s);
        t->s.now += MSEC;
        at += 1460;
        talk_put(t, F_ACK, 0, at, 0);
    }
    flush(&t->s);
}

static void sender(struct talk *t)
{
    sender_of(t, 1024);
}

/* Plain ACKs of one segment each. */
static void acks(struct talk *t)
{
    uint32_t at = (uint32_t)t->c->acked;
    unsigned i;

    for (i = 0; more(i); i++) {
        at += 1460;
        conn_write(t->c, 1460, 1);
        talk_put(t, F_ACK, 0, at, 0);
        flush(&t->s);
    }
}

/* ACKs with four tiny SACK blocks each, of `length` bytes, at random positions in flight. */
static void sacks(struct talk *t, uint32_t length)
{
    struct toec_info info;
    unsigned i, k;

    toec_flow_info(t->s.host[0].stack, t->c->flow, &info);
    for (i = 0; more(i); i++) {
        struct tseg g = talk_seg(t, F_ACK, 0, (uint32_t)t->c->acked, 0);

        g.n_sack = 4;
        for (k = 0; k < 4; k++) {
            g.sack[k][0] = g.ack + 1 + random_below(info.in_flight - length - 1);
            g.sack[k][1] = g.sack[k][0] + length;
        }
        craft_send(&t->s, &g);
        flush(&t->s);
    }
}

static void case_ack(void)
{
    struct talk t;

    sender(&t);
    acks(&t);
}

static void case_sack_bytes(void)
{
    struct talk t;

    sender(&t);
    sacks(&t, 1);
}

static void case_sack_segments(void)
{
    struct talk t;

    sender(&t);
    sacks(&t, 1460);
}

/* ---- a receiver ---- */

static void receiver(struct talk *t)
{
    talk_init(t);
    t->sack = 1;
    t->wscale = 5;
    t->s.host[0].rx_buf = 1 << 20;
    talk_passive(t);
}

static void case_data(void)
{
    struct talk t;
    unsigned i;

    receiver(&t);
    for (i = 0; more(i); i++) {
        talk_put(&t, F_ACK, i, 0, 1);
        conn_read(t.c, 1);
        flush(&t.s);
    }
}

/* Every second byte, in random order: no two of them join. */
static void case_gaps(void)
{
    struct talk t;
    unsigned i;

    receiver(&t);
    for (i = 0; more(i); i++) {
        talk_put(&t, F_ACK, 1 + random_below(30000) * 2, 0, 1);
        flush(&t.s);
    }
}

/* ---- many connections ---- */

/* The handshake of r; its next segment is r's next one. */
static void shake_hands(struct sim *s, struct raw *r)
{
    struct tseg g;

    craft_forget(s);
    raw_input(s, 0, r);
    craft_poll(s);
    g = craft_expect(s);
    r->seq++;
    r->ack = g.seq + 1;
    r->flags = F_ACK;
    r->mss = 0;
    raw_input(s, 0, r);
    flush(s);
}

/* Slowloris: 10,000 clients that each send a byte in ten seconds, a thousand in a second, beside
 * one that receives a hundred segments in that time: 1.2 Gbit/s. */
#define SLOW 10000u

static void case_ack_beside_slow(void)
{
    static struct raw r[SLOW];
    static struct conn *c[SLOW];
    struct talk t;
    uint32_t at;
    unsigned i;

    sender_of(&t, SLOW + 1);
    t.s.host[0].tx_buf = t.s.host[0].rx_buf = 1024;
    for (i = 0; i < SLOW; i++) {
        r[i] = (struct raw){.src = 0x14000000u + random_below(1u << 28),
                            .dst = IP_A,
                            .sport = (uint16_t)(1024 + random_below(60000)),
                            .dport = OWN_PORT,
                            .flags = F_SYN,
                            .mss = 1460};
        shake_hands(&t.s, &r[i]);
        c[i] = t.s.host[0].conns;
        r[i].len = 1;
    }
    at = (uint32_t)t.c->acked;
    for (i = 0; more(i); i++) {
        at += 1460;
        conn_write(t.c, 1460, 1);
        talk_put(&t, F_ACK, 0, at, 0);
        if (i % 100 == 0) {
            unsigned k = i / 100 * 7919 % SLOW;

            raw_input(&t.s, 0, &r[k]);
            r[k].seq++;
            c[k]->read++;
            (void)toec_recv(t.s.host[0].stack, c[k]->flow, 1, t.s.now);
        }
        flush(&t.s);
    }
}

/* 4096 connections whose addresses and ports have the same sum and exclusive or, or any. */
static void case_lookup(int alike)
{
    static struct raw r[4096];
    struct sim s;
    unsigned i;

    craft_init(&s);
    memcpy(s.host[0].cfg.gateway, "\12\0\0\2", 4);
    s.host[0].cfg.max_flows = 8192;
    s.host[0].tx_buf = s.host[0].rx_buf = 4096;
    craft_start(&s);
    sim_listen(&s, 0, OWN_PORT, 4096, 0);
    for (i = 0; i < 4096; i++) {
        uint32_t x = random_below(1u << 20);

        r[i] = (struct raw){.dst = IP_A, .dport = OWN_PORT, .flags = F_SYN, .mss = 1460};
        /* the low half of the address and the port change against each other */
        r[i].src = alike ? 0x14000000u + i : 0x14000000u + x;
        r[i].sport = (uint16_t)(alike ? 0xf000u ^ i : 1024 + random_below(60000));
        r[i].seq = i;
        shake_hands(&s, &r[i]);
    }
    for (i = 0; more(i); i++) {
        raw_input(&s, 0, &r[random_below(4096)]);
        flush(&s);
    }
}

static void case_lookup_any(void)
{
    case_lookup(0);
}

static void case_lookup_alike(void)
{
    case_lookup(1);
}

/* ---- SYNs from unused addresses, resets of a guesser ---- */

static void case_syn(void)
{
    struct sim s;
    unsigned i;

    craft_init(&s);
    memcpy(s.host[0].cfg.gateway, "\12\0\0\2", 4);
    s.host[0].tx_buf = s.host[0].rx_buf = 4096;
    craft_start(&s);
    sim_listen(&s, 0, OWN_PORT, 64, 0);
    for (i = 0; more(i); i++) {
        struct raw r = {.src = 0x14000000u + random_below(1u << 28),
                        .dst = IP_A,
                        .sport = (uint16_t)(1024 + random_below(60000)),
                        .dport = OWN_PORT,
                        .flags = F_SYN,
                        .mss = 1460};

        raw_input(&s, 0, &r);
        flush(&s);
    }
}

static void case_reset(void)
{
    struct talk t;
    unsigned i;

    receiver(&t);
    for (i = 0; more(i); i++) {
        talk_put(&t, F_RST, 1 + random_below(10000), 0, 0);
        flush(&t.s);
    }
}

/* ---- fragments of 8 bytes ---- */

static void fragment(struct sim *s, uint32_t id, uint32_t offset, int more)
{
    uint8_t f[60] = {0};
    struct toec_packet p = {.data = f, .head_len = sizeof(f), .len = sizeof(f)};
    static const uint8_t ends[] = {10, 0, 0, 2, 10, 0, 0, 1};
    uint32_t frag = (more ? 0x2000u : 0) | offset;
    uint16_t sum;

    memcpy(f, s->host[0].cfg.mac, 6);
    f[6] = 2;
    f[11] = 2;
    f[12] = 8;
    f[14] = 0x45;
    f[17] = 28;
    f[18] = (uint8_t)(id >> 8);
    f[19] = (uint8_t)id;
    f[20] = (uint8_t)(frag >> 8);
    f[21] = (uint8_t)frag;
    f[22] = 64;
    f[23] = 17;
    memcpy(f + 26, ends, sizeof(ends));
    sum = (uint16_t)~toec_sum(f + 14, 20);
    memcpy(f + 24, &sum, 2);
    toec_input(s->host[0].stack, &p, s->now);
}

static void case_fragments_in_order(void)
{
    struct sim s;
    unsigned i;

    craft_init(&s);
    craft_start(&s);
    for (i = 0; more(i); i++) {
        fragment(&s, 1 + i / 4096, i % 4096, i % 4096 != 4095);
        flush(&s);
    }
}

/* Of many datagrams, never whole, every second piece missing. */
static void case_fragments_at_random(void)
{
    struct sim s;
    unsigned i;

    craft_init(&s);
    craft_start(&s);
    for (i = 0; more(i); i++) {
        fragment(&s, 1 + random_below(16), random_below(4095) * 2, 1);
        flush(&s);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"ack", case_ack},
             {"sack-bytes", case_sack_bytes},
             {"sack-segments", case_sack_segments},
             {"data", case_data},
             {"gaps", case_gaps},
             {"ack-beside-slow", case_ack_beside_slow},
             {"lookup-any", case_lookup_any},
             {"lookup-alike", case_lookup_alike},
             {"syn", case_syn},
             {"reset", case_reset},
             {"fragments-in-order", case_fragments_in_order},
             {"fragments-at-random", case_fragments_at_random}};

int main(int argc, char **argv)
{
    unsigned i;

    for (n_marks = 0; n_marks < MARKS && 2 + (int)n_marks < argc; n_marks++)
        marks[n_marks] = (unsigned)strtoul(argv[2 + n_marks], 0, 10);
    random_begin(1);
    for (i = 0; n_marks && i < sizeof(cases) / sizeof(*cases); i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: attack_cost CASE MARK...; cases:");
    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        fprintf(stderr, " %s", cases[i].name);
    fprintf(stderr, "\n");
    return 2;
}
