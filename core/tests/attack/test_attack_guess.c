/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attack_guess.c - values that must not be guessable: initial sequence numbers, ephemeral
 * ports, timestamps, IP identifications. A hundred thousand of each against chi-square and
 * correlation.
 */
#include <math.h>
#include <stdlib.h>

#include "raw.h"

#define N 100000

static uint32_t x[N], y[N];

/* Probability (upper tail) of a chi-square value with this many degrees of freedom, by the
 * approximation of Wilson and Hilferty: right to three digits for 30 and more. */
static double chi_p(double chi, unsigned df)
{
    double d = df, z = (cbrt(chi / d) - (1 - 2 / (9 * d))) / sqrt(2 / (9 * d));

    return erfc(z / sqrt(2)) / 2;
}

/* The 8 bits from `shift` on: 256 cells. Both tails: too even is not random either. */
static double byte_p(const uint32_t *v, unsigned n, unsigned shift)
{
    unsigned cell[256] = {0}, i;
    double chi = 0, p;

    for (i = 0; i < n; i++)
        cell[v[i] >> shift & 255]++;
    for (i = 0; i < 256; i++)
        chi += (cell[i] - n / 256.0) * (cell[i] - n / 256.0) / (n / 256.0);
    p = chi_p(chi, 255);
    return p < 0.5 ? p : 1 - p;
}

/* Pearson correlation of n pairs, as a number of standard deviations from none. */
static double correlation(const uint32_t *a, const uint32_t *b, unsigned n)
{
    double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
    unsigned i;

    for (i = 0; i < n; i++) {
        ma += a[i];
        mb += b[i];
    }
    ma /= n;
    mb /= n;
    for (i = 0; i < n; i++) {
        ab += (a[i] - ma) * (b[i] - mb);
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
    }
    return ab / sqrt(aa * bb) * sqrt(n);
}

static void begin(struct sim *s)
{
    craft_init(s);
    memcpy(s->host[0].cfg.gateway, "\12\0\0\2", 4);
    s->host[0].cfg.max_flows = 4096;
    s->host[0].tx_buf = s->host[0].rx_buf = 4096;
    craft_start(s);
}

/* The SYN-ACK's number and timestamp for a SYN from this address and port; the flow is reset. */
static struct tseg ask(struct sim *s, uint32_t from, uint16_t port)
{
    struct raw r = {.src = from, .dst = IP_A, .sport = port, .dport = OWN_PORT, .flags = F_SYN};
    struct tseg g;

    r.seq = 1000;
    r.has_ts = 1;
    r.tsval = 1;
    craft_forget(s);
    raw_input(s, 0, &r);
    craft_poll(s);
    g = craft_expect(s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    r.flags = F_RST;
    r.seq++;
    raw_input(s, 0, &r);
    while (s->host[0].conns) {
        struct conn *c = s->host[0].conns;

        assert_true(c->gone);
        s->host[0].conns = c->next;
        free(c->tx);
        free(c->rx);
        free(c);
    }
    return g;
}

/* Of one peer's ports, of many peers, and of one 4-tuple again and again. R6528-01. RFC 9293
 * MUST-8, MUST-9, SHLD-1. */
static void test_initial_sequence_numbers(void **state)
{
    struct sim s;
    unsigned i, shift, kind;
    uint32_t gcd = 0;

    (void)state;
    random_begin(6528);
    begin(&s);
    sim_listen(&s, 0, OWN_PORT, 0, 0);
    for (kind = 0; kind < 2; kind++) {
        for (i = 0; i < N; i++) {
            x[i] = kind ? ask(&s, 0x0b000000u + i, 7000).seq
                        : ask(&s, 0x0a800000u + i / 50000, (uint16_t)(10000 + i % 50000)).seq;
            s.now += USEC;
        }
        for (shift = 0; shift < 32; shift += 8) {
            double p = byte_p(x, N, shift);

            print_message("ISNs, bits %u..%u: p %.3f\n", shift, shift + 7, p);
            assert_true(p > 0.001);
        }
        assert_true(fabs(correlation(x, x + 1, N - 1)) < 4);
        for (i = 1; i < N; i++) {
            uint32_t a = x[i] - x[i - 1], b = gcd;

            while (b) {
                uint32_t r = a % b;

                a = b;
                b = r;
            }
            gcd = a;
        }
        assert_int_equal(gcd, 1); /* nmap's GCD */
    }
    /* R6528-03: one 4-tuple's numbers grow with time, 1 in about 4 us */
    x[0] = ask(&s, IP_B, 7000).seq;
    for (i = 1; i < 1000; i++) {
        s.now += 40 * USEC;
        x[i] = ask(&s, IP_B, 7000).seq;
        assert_in_range(x[i] - x[i - 1], 5, 15);
    }
    craft_forget(&s);
    sim_stop(&s);
}

/* Another secret gives other numbers: those of one boot reveal nothing about the next. R6528-02 */
static void test_secret_counts(void **state)
{
    struct sim s;
    unsigned round;
    uint32_t isn[2], ts[2];

    (void)state;
    for (round = 0; round < 2; round++) {
        struct tseg g;

        craft_init(&s);
        s.host[0].cfg.secret[31] ^= (uint8_t)round;
        craft_start(&s);
        sim_listen(&s, 0, OWN_PORT, 0, 0);
        g = ask(&s, IP_B, 7000);
        isn[round] = g.seq;
        ts[round] = g.tsval;
        sim_stop(&s);
    }
    assert_true(isn[0] - isn[1] + 100000 > 200000);
    assert_true(ts[0] - ts[1] + 100000 > 200000);
}

/* Offsets of timestamps differ from peer to peer and port to port: no uptime in them. R7323-18 */
static void test_timestamps(void **state)
{
    struct sim s;
    unsigned i, shift;

    (void)state;
    begin(&s);
    sim_listen(&s, 0, OWN_PORT, 0, 0);
    for (i = 0; i < N; i++)
        x[i] = i & 1 ? ask(&s, 0x0b000000u + i, 7000).tsval
                     : ask(&s, IP_B, (uint16_t)(1024 + i / 2)).tsval;
    for (shift = 0; shift < 32; shift += 8)
        assert_true(byte_p(x, N, shift) > 0.001);
    assert_true(fabs(correlation(x, x + 1, N - 1)) < 4);
    craft_forget(&s);
    sim_stop(&s);
}

/* The local port of a connect to this port of the peer; the connect is aborted immediately. */
static uint32_t port_of_connect(struct sim *s, uint16_t to)
{
    struct conn *c = sim_connect(s, 0, to);
    uint32_t port = c->local_port;

    conn_abort(c);
    s->host[0].conns = c->next;
    free(c->tx);
    free(c->rx);
    free(c);
    craft_forget(s);
    return port;
}

static double port_p(const uint32_t *v, unsigned n, uint32_t first, uint32_t count)
{
    static uint32_t cell[N];
    unsigned i;

    for (i = 0; i < n; i++) {
        assert_in_range(v[i], first, first + count - 1);
        cell[i] = (uint32_t)((uint64_t)(v[i] - first) * 256 / count);
    }
    return byte_p(cell, n, 0);
}

/* R6056-01: ports of one destination, of many, and what those of one reveal about another's
 * (R6056-02, CVE-2022-1012). */
static void test_ephemeral_ports(void **state)
{
    struct sim s;
    unsigned i;
    double p;

    (void)state;
    random_begin(6056);
    begin(&s);
    for (i = 0; i < N; i++) {
        x[i] = port_of_connect(&s, 7000);
        y[i] = port_of_connect(&s, 7001);
    }
    p = port_p(x, N, 32768, 28232);
    print_message("ports of one destination: p %.3f, serial %.1f, with another's %.1f sigma\n", p,
                  correlation(x, x + 1, N - 1), correlation(x, y, N));
    assert_true(p > 0.001);
    assert_true(fabs(correlation(x, x + 1, N - 1)) < 4);
    assert_true(fabs(correlation(x, y, N)) < 4);
    for (i = 0; i < N; i++)
        x[i] = port_of_connect(&s, (uint16_t)(1 + i % 60000));
    p = port_p(x, N, 32768, 28232);
    print_message("ports of many destinations: p %.3f\n", p);
    assert_true(p > 0.001);
    sim_stop(&s);
}

/* CVE-2020-36516: the identification of packets to one peer reveals nothing about those to another,
 * or their number: it is constant 0 for packets that may not be fragmented (RFC 6864 4.1). */
static void test_ip_identification(void **state)
{
    struct sim s;
    unsigned i;

    (void)state;
    begin(&s);
    sim_listen(&s, 0, OWN_PORT, 0, 0);
    for (i = 0; i < 100; i++) {
        unsigned n;

        ask(&s, i & 1 ? 0x0b000000u + i : IP_B, (uint16_t)(7000 + i));
        for (n = 0; n < s.sent_n; n++) {
            const uint8_t *ip = s.sent[n]->data + 14;

            assert_int_equal(ip[6] & 0x40, 0x40);
            assert_int_equal(ip[4] << 8 | ip[5], 0);
        }
    }
    craft_forget(&s);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial_sequence_numbers),
        cmocka_unit_test(test_secret_counts),
        cmocka_unit_test(test_timestamps),
        cmocka_unit_test(test_ephemeral_ports),
        cmocka_unit_test(test_ip_identification),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
