/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_commands.c - every SW command with everything that can be wrong with it: an ERROR that names
 * the command, a count, and nothing else (docs/ARCHITECTURE.md rule 5).
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

struct world {
    struct hosts h;
    uint32_t open;    /* slot at x: established */
    uint32_t half;    /* established, x has shut its sending down */
    uint32_t closing; /* x has closed it, the peer has not */
    uint32_t gone;    /* final CLOSE_EVENT delivered, not released */
    uint32_t opening; /* a half-open passive flow: not known to the host */
};

/* A SYN to port 80 of A from a host that will never answer the SYN-ACK. */
static void half_open(struct bench *t)
{
    static const uint8_t arp_reply[42] = {2,  0, 0, 0, 0, 1, 2, 0, 0, 0, 0,  9, 8, 6,
                                          0,  1, 8, 0, 6, 4, 0, 2, 2, 0, 0,  0, 0, 9,
                                          10, 0, 0, 9, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1};
    uint8_t f[54] = {2, 0, 0,    0, 0, 1,  2, 0, 0,    0, 0,  9,
                     8, 0, 0x45, 0, 0, 40, 0, 1, 0x40, 0, 64, 6};
    static const uint8_t pseudo_ports[] = {10, 0, 0, 9, 10, 0, 0, 1, 0x12, 0x34, 0, PORT};
    uint32_t sum = 0, i;

    memcpy(f + 26, pseudo_ports, sizeof(pseudo_ports));
    f[38] = 1;    /* sequence number */
    f[46] = 0x50; /* header length */
    f[47] = 2;    /* SYN */
    f[48] = 0xff; /* window */
    for (i = 14; i < 34; i += 2)
        sum += (uint32_t)f[i] << 8 | f[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    f[24] = (uint8_t)(~sum >> 8);
    f[25] = (uint8_t)~sum;
    sum = 6 + 20;
    for (i = 26; i < 54; i += 2)
        sum += (uint32_t)f[i] << 8 | f[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    f[50] = (uint8_t)(~sum >> 8);
    f[51] = (uint8_t)~sum;
    memwire_inject(t->wire_a, f, sizeof(f));
    bench_run(t, NS_PER_MS);
    memwire_inject(t->wire_a, arp_reply, sizeof(arp_reply));
    bench_run(t, NS_PER_MS);
}

static int setup(void **state)
{
    static struct world w;
    struct toec_usage u;
    struct toe_cmd c;
    uint32_t peer, i;

    memset(&w, 0, sizeof(w));
    hosts_begin(&w.h);
    bench_connect(&w.h.t, &w.h.x, &w.h.y, &w.gone, &peer);
    host_put(&w.h.y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, peer, 0, 0);
    bench_run(&w.h.t, NS_PER_MS);
    host_want(&w.h.x, TOE_CMD_CLOSE_EVENT);
    host_want(&w.h.y, TOE_CMD_CLOSE_EVENT);
    bench_connect(&w.h.t, &w.h.x, &w.h.y, &w.open, &peer);
    host_send(&w.h.y, peer, 0, 100);
    bench_run(&w.h.t, 500 * NS_PER_MS);
    host_want(&w.h.x, TOE_CMD_DATA_RECEIVED);
    host_want(&w.h.y, TOE_CMD_SEND_COMPLETE);
    bench_connect(&w.h.t, &w.h.x, &w.h.y, &w.half, &peer);
    host_put(&w.h.x, TOE_CMD_CLOSE, TOE_F_CLOSE_HALF, 0, w.half, 0, 0);
    bench_run(&w.h.t, 100 * NS_PER_MS);
    host_want(&w.h.y, TOE_CMD_CLOSE_EVENT);
    bench_connect(&w.h.t, &w.h.x, &w.h.y, &w.closing, &peer);
    host_put(&w.h.x, TOE_CMD_CLOSE, 0, 0, w.closing, 0, 0);
    bench_run(&w.h.t, 100 * NS_PER_MS);
    half_open(&w.h.t);
    toec_usage(w.h.t.a->stack, &u);
    assert_int_equal(u.half_open, 1);
    for (i = 0; i < 16; i++)
        if (w.h.x.qp->slots[i].state == SLOT_OPENING)
            w.opening = i;
    while (host_get(&w.h.x, &c))
        assert_int_not_equal(toe_cmd_type(&c), TOE_CMD_ERROR);
    *state = &w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    hosts_end(&w->h);
    return 0;
}

enum slot_name { NONE, OPEN, HALF, CLOSING, GONE, OPENING, FREE, BEYOND, FAR };

struct bad {
    const char *what;
    uint8_t type, flags;
    enum slot_name slot; /* NONE: flow as given */
    uint16_t aux;
    uint32_t flow, arg0, arg1;
    uint16_t reason;
    enum engine_counter counter;
};

#define LISTEN   TOE_CMD_LISTEN
#define CONNECT  TOE_CMD_CONNECT
#define BAD_FLOW TOE_R_BADF, EC_cmd_bad_flow
#define LENGTH   TOE_R_MSGSIZE, EC_cmd_bad_length
#define STATE    TOE_R_NOTCONN, EC_cmd_bad_state
#define VALUE    TOE_R_INVAL, EC_cmd_bad_value
#define TYPE     TOE_R_NOSYS, EC_cmd_bad_type
#define V6       1

/* The five commands that name a flow, with a slot that this host may not name. */
#define FLOW_COMMANDS(slot)                                                                        \
    {"SEND " #slot, TOE_CMD_SEND, 0, slot, 0, 0, 1, 0, BAD_FLOW},                                  \
        {"RECV " #slot, TOE_CMD_RECV, 0, slot, 0, 0, 1, 0, BAD_FLOW},                              \
        {"CLOSE " #slot, TOE_CMD_CLOSE, 0, slot, 0, 0, 0, 0, BAD_FLOW},                            \
        {"CLOSE HALF " #slot, TOE_CMD_CLOSE, 1, slot, 0, 0, 0, 0, BAD_FLOW},                       \
        {"CLOSE ABORT " #slot, TOE_CMD_CLOSE, 2, slot, 0, 0, 0, 0, BAD_FLOW},                      \
        {"OPTION " #slot, TOE_CMD_OPTION, 0, slot, TOE_OPT_NODELAY, 0, 1, 0, BAD_FLOW},            \
        {"ACCEPT " #slot, TOE_CMD_ACCEPT, 0, slot, 0, 0, 0, 0, BAD_FLOW},                          \
    {                                                                                              \
        "RELEASE " #slot, TOE_CMD_RELEASE, 0, slot, 0, 0, 0, 0, BAD_FLOW                           \
    }

static const struct bad table[] = {
    FLOW_COMMANDS(FREE),
    FLOW_COMMANDS(BEYOND),
    FLOW_COMMANDS(FAR),
    FLOW_COMMANDS(OPENING),
    /* types and flags */
    {"type 0", 0, 0, NONE, 0, 0, 0, 0, TYPE},
    {"type 50", 50, 0, NONE, 0, 0, 0, 0, TYPE},
    {"type 128", 128, 0, NONE, 0, 0, 0, 0, TYPE},
    {"an HW type", TOE_CMD_DATA_RECEIVED, 0, OPEN, 0, 0, 1, 0, TYPE},
    {"type 255", 255, 0x7f, NONE, 0xffff, ~0u, ~0u, ~0u, TYPE},
    {"LISTEN flag", LISTEN, 4, NONE, 81, 1, 0, 1, VALUE},
    {"UNLISTEN flag", TOE_CMD_UNLISTEN, 1, NONE, 0, 7, 0, 0, VALUE},
    {"CONNECT flag", CONNECT, 8, NONE, 80, 1, IP_B, 0, VALUE},
    {"SEND flag", TOE_CMD_SEND, 8, OPEN, 0, 0, 1, 0, VALUE},
    {"RECV flag", TOE_CMD_RECV, 1, OPEN, 0, 0, 1, 0, VALUE},
    {"CLOSE flag", TOE_CMD_CLOSE, 4, OPEN, 0, 0, 0, 0, VALUE},
    {"CLOSE both", TOE_CMD_CLOSE, 3, OPEN, 0, 0, 0, 0, VALUE},
    {"OPTION flag", TOE_CMD_OPTION, 0x40, OPEN, 1, 0, 1, 0, VALUE},
    {"ACCEPT flag", TOE_CMD_ACCEPT, 1, OPEN, 0, 0, 0, 0, VALUE},
    {"OPTION flags", TOE_CMD_OPTION, 3, OPEN, 1, 0, 1, 0, VALUE},
    {"CANCEL flag", TOE_CMD_CANCEL, 1, NONE, 0, 1, 0, 0, VALUE},
    {"RELEASE flag", TOE_CMD_RELEASE, 1, GONE, 0, 0, 0, 0, VALUE},
    /* listeners */
    {"LISTEN port 0", LISTEN, 0, NONE, 0, 1, 0, 1, VALUE},
    {"LISTEN index", LISTEN, V6, NONE, 81, 1, 4, 1, VALUE},
    {"LISTEN far index", LISTEN, V6, NONE, 81, 1, ~0u, 1, VALUE},
    {"LISTEN IPv6", LISTEN, V6, NONE, 81, 1, 2, 1, TOE_R_ADDRNOTAVAIL, EC_cmd_refused},
    {"LISTEN id in use", LISTEN, 0, NONE, 81, 7, 0, 1, TOE_R_ADDRINUSE, EC_cmd_refused},
    {"LISTEN not ours", LISTEN, 0, NONE, 81, 1, IP_B, 1, TOE_R_ADDRNOTAVAIL, EC_cmd_refused},
    {"UNLISTEN unknown", TOE_CMD_UNLISTEN, 0, NONE, 0, 99, 0, 0, TOE_R_NOENT, EC_cmd_bad_value},
    {"OPTION of no listener", TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, NONE, TOE_OPT_FASTOPEN, 99, 1, 0,
     TOE_R_NOENT, EC_cmd_bad_value},
    {"OPTION not of a listener", TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, NONE, TOE_OPT_NODELAY, 7, 1,
     0, TOE_R_NOPROTOOPT, EC_cmd_bad_value},
    {"keys not said", TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, NONE, TOE_OPT_FASTOPEN_KEYS, 7, 1, 0,
     VALUE},
    {"three keys", TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, NONE, TOE_OPT_FASTOPEN_KEYS, 7, 3, 0,
     VALUE},
    /* active open */
    {"CONNECT port 0", CONNECT, 0, NONE, 0, 1, IP_B, 0, VALUE},
    {"CONNECT range of local ports", CONNECT, 0, NONE, 80, 1, IP_B, 1 << 16 | 2, VALUE},
    {"CONNECT index", CONNECT, V6, NONE, 80, 1, 4, 0, VALUE},
    /* lengths */
    {"SEND nothing", TOE_CMD_SEND, 0, OPEN, 0, 0, 0, 0, VALUE},
    {"SEND beyond the buffer", TOE_CMD_SEND, 0, OPEN, 0, 0, 16385, 0, LENGTH},
    {"SEND far beyond", TOE_CMD_SEND, 0, OPEN, 0, 0, ~0u, 0, LENGTH},
    {"RECV nothing", TOE_CMD_RECV, 0, OPEN, 0, 0, 0, 0, VALUE},
    {"RECV more than came", TOE_CMD_RECV, 0, OPEN, 0, 0, 101, 0, LENGTH},
    {"RECV far more", TOE_CMD_RECV, 0, OPEN, 0, 0, ~0u, 0, LENGTH},
    /* states */
    {"SEND after shutdown", TOE_CMD_SEND, 0, HALF, 0, 0, 1, 0, STATE},
    {"HALF twice", TOE_CMD_CLOSE, 1, HALF, 0, 0, 0, 0, STATE},
    {"SEND after close", TOE_CMD_SEND, 0, CLOSING, 0, 0, 1, 0, STATE},
    {"RECV after close", TOE_CMD_RECV, 0, CLOSING, 0, 0, 1, 0, STATE},
    {"CLOSE twice", TOE_CMD_CLOSE, 0, CLOSING, 0, 0, 0, 0, STATE},
    {"HALF after close", TOE_CMD_CLOSE, 1, CLOSING, 0, 0, 0, 0, STATE},
    {"OPTION after close", TOE_CMD_OPTION, 0, CLOSING, 1, 0, 1, 0, STATE},
    {"ACCEPT after close", TOE_CMD_ACCEPT, 0, CLOSING, 0, 0, 0, 0, STATE},
    {"RELEASE of a live flow", TOE_CMD_RELEASE, 0, OPEN, 0, 0, 0, 0, STATE},
    {"RELEASE before the end", TOE_CMD_RELEASE, 0, CLOSING, 0, 0, 0, 0, STATE},
    /* options */
    {"OPTION 0", TOE_CMD_OPTION, 0, OPEN, 0, 0, 1, 0, TOE_R_NOPROTOOPT, EC_cmd_bad_value},
    {"OPTION 19", TOE_CMD_OPTION, 0, OPEN, 19, 0, 1, 0, TOE_R_NOPROTOOPT, EC_cmd_bad_value},
    {"OPTION value", TOE_CMD_OPTION, 0, OPEN, TOE_OPT_KEEPCNT, 0, 128, 0, TOE_R_NOPROTOOPT,
     EC_cmd_bad_value},
};

static uint32_t slot_of(const struct world *w, const struct bad *b)
{
    switch (b->slot) {
    case OPEN:
        return w->open;
    case HALF:
        return w->half;
    case CLOSING:
        return w->closing;
    case GONE:
        return w->gone;
    case OPENING:
        return w->opening;
    case FREE:
        return 15; /* the one allocated last */
    case BEYOND:
        return 16;
    case FAR:
        return ~0u;
    default:
        return b->flow;
    }
}

#define SLOT_BYTES (16 * sizeof(struct slot))

/* Everything except the count of this error must stay unchanged. */
static void snapshot(const struct world *w, uint64_t *counters, uint8_t *slots)
{
    memcpy(counters, w->h.t.a->counters, sizeof(w->h.t.a->counters));
    memcpy(slots, w->h.x.qp->slots, SLOT_BYTES);
}

static void check_one(struct world *w, const struct bad *b)
{
    uint64_t before[EC_MAX], after[EC_MAX];
    uint8_t slots_before[SLOT_BYTES], slots_after[SLOT_BYTES];
    uint64_t frames;
    struct netio_stats n;

    netio_get_stats(w->h.t.wire_a, &n);
    frames = n.tx_frames;
    snapshot(w, before, slots_before);
    host_put(&w->h.x, b->type, b->flags, b->aux, slot_of(w, b), b->arg0, b->arg1);
    bench_run(&w->h.t, NS_PER_US);
    host_want_error(&w->h.x, b->reason, slot_of(w, b), b->type);
    host_want_nothing(&w->h.x);
    snapshot(w, after, slots_after);
    before[b->counter]++;
    if (memcmp(before, after, sizeof(before)) != 0)
        fail_msg("%s: another counter than wanted has changed", b->what);
    if (memcmp(slots_before, slots_after, SLOT_BYTES) != 0)
        fail_msg("%s: a slot has changed", b->what);
    netio_get_stats(w->h.t.wire_a, &n);
    assert_int_equal(n.tx_frames, frames);
    assert_int_equal(w->h.x.qp->sw.tail, w->h.x.sw.head);
    assert_int_equal(w->h.x.status->sw_tail, w->h.x.sw.head);
}

static void test_bad_commands_do_nothing_but_say_so(void **state)
{
    struct world *w = *state;
    struct toedev_address *a = (void *)(w->h.x.area + w->h.x.layout.addresses);
    size_t i;

    a[2].addr[0] = 0x20; /* 2001:: is not carried */
    a[2].addr[1] = 0x01;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        print_message("%s\n", table[i].what);
        check_one(w, &table[i]);
    }
    assert_int_equal(w->h.x.qp->errors, sizeof(table) / sizeof(table[0]));
    assert_int_equal(w->h.x.qp->halted, 0);
}

static void test_the_room_of_the_send_buffer_is_exact(void **state)
{
    struct world *w = *state;

    memwire_refuse(w->h.t.wire_a, -1); /* nothing is acknowledged */
    host_put(&w->h.x, TOE_CMD_SEND, 0, 0, w->open, 16000, 0);
    bench_run(&w->h.t, NS_PER_US);
    host_put(&w->h.x, TOE_CMD_SEND, 0, 0, w->open, 385, 0);
    bench_run(&w->h.t, NS_PER_US);
    host_want_error(&w->h.x, TOE_R_MSGSIZE, w->open, TOE_CMD_SEND);
    host_put(&w->h.x, TOE_CMD_SEND, 0, 0, w->open, 384, 0);
    bench_run(&w->h.t, NS_PER_US);
    host_want_nothing(&w->h.x);
    host_put(&w->h.x, TOE_CMD_SEND, 0, 0, w->open, 1, 0);
    bench_run(&w->h.t, NS_PER_US);
    host_want_error(&w->h.x, TOE_R_MSGSIZE, w->open, TOE_CMD_SEND);
    memwire_refuse(w->h.t.wire_a, 0);
}

static void test_what_was_read_cannot_be_read_again(void **state)
{
    struct world *w = *state;

    host_put(&w->h.x, TOE_CMD_RECV, 0, 0, w->open, 60, 0);
    host_put(&w->h.x, TOE_CMD_RECV, 0, 0, w->open, 40, 0);
    bench_run(&w->h.t, NS_PER_US);
    host_want_nothing(&w->h.x);
    host_put(&w->h.x, TOE_CMD_RECV, 0, 0, w->open, 1, 0);
    bench_run(&w->h.t, NS_PER_US);
    host_want_error(&w->h.x, TOE_R_MSGSIZE, w->open, TOE_CMD_RECV);
}

static void test_one_host_cannot_reach_the_flows_of_another(void **state)
{
    struct world *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host z;
    uint32_t i;

    host_attach(&w->h.t, w->h.t.a, &z, &cfg);
    for (i = 0; i < 16; i++) {
        host_put(&z, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, i, 0, 0);
        bench_run(&w->h.t, NS_PER_US);
        host_want_error(&z, TOE_R_BADF, i, TOE_CMD_CLOSE);
    }
    host_put(&z, TOE_CMD_UNLISTEN, 0, 0, 7, 0, 0);
    bench_run(&w->h.t, NS_PER_US);
    host_want_error(&z, TOE_R_NOENT, 7, TOE_CMD_UNLISTEN);
    host_want_nothing(&w->h.x);
    host_detach(&w->h.t, &z);
}

static void test_an_address_table_entry_serves_as_address(void **state)
{
    struct world *w = *state;
    struct toedev_address *a = (void *)(w->h.y.area + w->h.y.layout.addresses);
    struct toe_cmd c;

    memcpy(a[1].addr, ((uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}), 16);
    while (host_get(&w->h.y, &c))
        ;
    host_put(&w->h.y, TOE_CMD_CONNECT, TOE_F_CONNECT_V6, PORT, 5, 1, 0);
    bench_run(&w->h.t, NS_PER_S);
    c = host_want(&w->h.y, TOE_CMD_CONNECT_ESTABLISHED);
    assert_int_equal(toe_cmd_arg0(&c), 5);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_bad_commands_do_nothing_but_say_so),
        T(test_the_room_of_the_send_buffer_is_exact),
        T(test_what_was_read_cannot_be_read_again),
        T(test_one_host_cannot_reach_the_flows_of_another),
        T(test_an_address_table_entry_serves_as_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
