/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_info.c - toec_flow_info() during loss recovery. The RTT is 100 ms.
 */
#include "tcptalk.h"

#define MSS 1460u
#define RTT (100 * MSEC)

static void begin(struct talk *t, int sack, unsigned n)
{
    talk_init(t);
    talk_flight(t, sack, n);
    craft_pass(&t->s, RTT);
    talk_skip(t);
}

/* Sends an ACK with one SACK block, segments [a, b). */
static void sack(struct talk *t, uint32_t ack, uint32_t a, uint32_t b)
{
    talk_block(t, ack * MSS, a * MSS, b * MSS);
}

static void assert_quiet(const struct toec_info *i)
{
    assert_int_equal(i->ca_state, TOEC_CA_OPEN);
    assert_int_equal(i->sacked, 0);
    assert_int_equal(i->lost, 0);
    assert_int_equal(i->retrans_out, 0);
    assert_int_equal(i->timeouts, 0);
    assert_int_equal(i->backoff, 0);
}

/* A loss, its repair, and a DSACK that shows it was spurious. */
static void test_recovery(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    begin(&t, 1, 10);
    i = talk_info(&t);
    assert_quiet(&i);
    assert_int_equal(i.reordering, 3);
    assert_int_equal(i.lost_total + i.dsacks + i.reord_seen + i.undone + i.bytes_retrans, 0);
    sack(&t, 0, 1, 5);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_RECOVERY);
    assert_int_equal(i.sacked, 4 * MSS);
    assert_int_equal(i.lost, MSS); /* although it was retransmitted */
    assert_int_equal(i.retrans_out, MSS);
    assert_int_equal(i.lost_total, 1);
    assert_int_equal(i.retransmits, 1);
    assert_int_equal(i.bytes_retrans, MSS);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    i = talk_info(&t);
    assert_quiet(&i);
    assert_int_equal(i.undone, 0);
    sack(&t, 10, 0, 1); /* a duplicate: the original was only late */
    i = talk_info(&t);
    assert_int_equal(i.dsacks, 1);
    assert_int_equal(i.undone, 1);
    assert_int_equal(i.lost_total, 1);
    assert_int_equal(i.bytes_retrans, MSS);
    talk_end(&t);
}

/* One segment is overtaken by eight others. */
static void test_reordering(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    begin(&t, 1, 10);
    sack(&t, 0, 8, 9);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_DISORDER);
    assert_int_equal(i.sacked, MSS);
    assert_int_equal(i.lost, 0);
    assert_int_equal(i.reord_seen, 0);
    sack(&t, 1, 8, 9);
    i = talk_info(&t);
    assert_int_equal(i.reord_seen, 1);
    assert_int_equal(i.reordering, 9);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    i = talk_info(&t);
    assert_quiet(&i);
    assert_int_equal(i.reordering, 9); /* the largest distance */
    talk_end(&t);
}

/* Without SACK each duplicate ACK counts as a segment. */
static void test_without_sack(void **state)
{
    struct toec_info i;
    struct talk t;
    unsigned n;

    (void)state;
    begin(&t, 0, 10);
    for (n = 0; n < 2; n++)
        talk_say(&t, F_ACK, 0, 0, 0);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_DISORDER);
    assert_int_equal(i.sacked, 2 * MSS);
    assert_int_equal(i.lost, 0);
    talk_say(&t, F_ACK, 0, 0, 0);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_RECOVERY);
    assert_int_equal(i.sacked, 3 * MSS);
    assert_int_equal(i.lost, MSS);
    assert_int_equal(i.retrans_out, MSS);
    for (n = 0; n < 20; n++)
        talk_say(&t, F_ACK, 0, 0, 0);
    i = talk_info(&t);
    assert_true(i.sacked <= i.in_flight);
    talk_end(&t);
}

/* A timeout, a second one, and the end of recovery. */
static void test_timeouts(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    begin(&t, 0, 3);
    craft_pass(&t.s, 400 * MSEC);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_LOSS);
    assert_int_equal(i.timeouts, 1);
    assert_int_equal(i.backoff, 1);
    assert_int_equal(i.lost, 3 * MSS); /* one of them was retransmitted */
    assert_int_equal(i.retrans_out, MSS);
    assert_int_equal(i.lost_total, 3);
    craft_pass(&t.s, 800 * MSEC);
    i = talk_info(&t);
    assert_int_equal(i.timeouts, 2);
    assert_int_equal(i.backoff, 2);
    assert_int_equal(i.bytes_retrans, 2 * MSS);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_OPEN);
    assert_int_equal(i.timeouts, 0);
    assert_int_equal(i.retrans_out + i.lost, 0);
    talk_end(&t);
}

/* A tail loss probe is a retransmission, but marks nothing lost. */
static void test_tail_probe(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    begin(&t, 1, 3);
    craft_pass(&t.s, 2 * RTT);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_tail_probes), 1);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_OPEN);
    assert_int_equal(i.retrans_out, MSS);
    assert_int_equal(i.lost, 0);
    talk_end(&t);
}

/* The peer echoes CE marks: the window is reduced until the outstanding data is acknowledged. */
static void test_window_cut(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    talk_init(&t);
    t.syn_flags = F_ECE | F_CWR;
    talk_flight(&t, 1, 10);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK | F_ECE, 0, MSS, 0);
    i = talk_info(&t);
    assert_int_equal(i.ca_state, TOEC_CA_CWR);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    i = talk_info(&t);
    assert_quiet(&i);
    talk_end(&t);
}

/* toec_memory() accounts for all bytes, in any configuration. */
static void test_memory(void **state)
{
    struct sim s;
    struct toec_memory a, b;
    struct toec_config c;

    (void)state;
    sim_init(&s, 2);
    c = s.host[0].cfg;
    c.max_flows = 4096;
    c.max_records = 100;
    assert_int_equal(toec_memory(&c, &a), 0);
    assert_int_equal(a.total, toec_size(&c));
    assert_in_range(a.flow, 256, 1100); /* idle flows hold no record */
    assert_in_range(a.record, 2048, 8192);
    assert_true(a.time_wait > 0 && a.time_wait < a.flow / 4);
    assert_true(a.listener && a.neighbour && a.udp);
    assert_true(a.datagram > 0 && a.fixed < 512ul * 1024);
    c.max_flows = 8192;
    c.max_time_wait = 10000;
    assert_int_equal(toec_memory(&c, &b), 0);
    assert_int_equal(b.flow, a.flow);
    assert_int_equal(b.record, a.record);
    assert_in_range(b.total, a.total + 4096 * a.flow - 6384 * a.time_wait - 64,
                    a.total + 4096 * a.flow - 6384 * (a.time_wait - 2 * sizeof(void *)) + 64);
    c.mtu = 1;
    assert_int_equal(toec_memory(&c, &b), TOEC_E_INVAL);
    assert_int_equal(b.total, 0);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovery),     cmocka_unit_test(test_reordering),
        cmocka_unit_test(test_without_sack), cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_tail_probe),   cmocka_unit_test(test_window_cut),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests_name("tcp_info", tests, 0, 0);
}
