/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcp_fastopen.c - Fast Open (RFC 7413), as server and as client, in dialogues with a peer. */
#include "tcptalk.h"

static void serve(struct talk *t, uint32_t max)
{
    uint32_t id;

    craft_start(&t->s);
    sim_listen(&t->s, 0, OWN_PORT, 0, &id);
    assert_int_equal(toec_listen_fastopen(t->s.host[0].stack, id, max), 0);
}

/* Returns the peer's SYN with len bytes of data; fo_len >= 0: with the Fast Open option. */
static struct tseg syn(struct talk *t, int fo_len, const uint8_t *cookie, uint32_t len)
{
    struct tseg g = talk_seg(t, F_SYN, (uint32_t)-1, 0, len);

    g.payload_at = 0;
    g.mss = 1460;
    g.fo_len = fo_len;
    if (fo_len > 0)
        memcpy(g.fo, cookie, (size_t)fo_len);
    return g;
}

/* Sends such a SYN; the SYN-ACK must acknowledge `acked` bytes of data. */
static struct tseg ask(struct talk *t, int fo_len, const uint8_t *cookie, uint32_t len,
                       uint32_t acked)
{
    struct tseg g = syn(t, fo_len, cookie, len);

    craft_say(&t->s, &g);
    g = craft_expect(&t->s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    assert_int_equal(g.ack - t->isn - 1, acked);
    t->iss = g.seq;
    t->tsecr = g.tsval;
    return g;
}

/* Requests a cookie and drops the connection. */
static void get_cookie(struct talk *t, uint8_t cookie[8])
{
    struct tseg g = ask(t, 0, 0, 0, 0);

    assert_int_equal(g.fo_len, 8);
    memcpy(cookie, g.fo, 8);
    talk_say(t, F_RST, 0, 0, 0);
    talk_silence(t);
    t->peer_port++;
}

/* ---- server ---- */

/* Receives ten bytes on a SYN with a cookie; the handshake is not complete. */
static void early(struct talk *t, uint32_t max)
{
    uint8_t cookie[8];

    talk_init(t);
    serve(t, max);
    get_cookie(t, cookie);
    ask(t, 8, cookie, 10, 10);
    t->c = t->s.host[0].conns;
}

/* RFC 7413 4.2.2: data on the SYN is delivered immediately, and answered before the handshake
 * completes. R7413-04, R7413-10. */
static void test_server(void **state)
{
    struct talk t;
    struct toec_info i;
    uint8_t cookie[8];

    (void)state;
    talk_init(&t);
    serve(&t, 5);
    get_cookie(&t, cookie);
    t.c = 0;
    ask(&t, 8, cookie, 100, 100);
    t.c = t.s.host[0].conns;
    assert_true(t.c->established);
    assert_int_equal(t.c->received, 100);
    assert_int_equal(conn_read(t.c, 100), 100); /* and checks them */
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.state, TOEC_SYN_RECEIVED);
    assert_int_equal(i.opts & TOEC_I_SYN_DATA, TOEC_I_SYN_DATA);
    talk_send(&t, 2000);
    talk_hear(&t, F_ACK, 0, 100, 1460);
    talk_hear(&t, F_ACK, 1460, 100, 540);
    talk_say(&t, F_ACK, 100, 1460, 0);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.state, TOEC_ESTABLISHED);
    assert_int_equal(t.c->acked, 1460);
    talk_say(&t, F_ACK, 100, 2000, 0);
    assert_int_equal(t.c->acked, 2000);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_taken), 1);
    talk_end(&t);
}

/* TOEC_FASTOPEN_NOCOOKIE: data or the option suffices; the limit of pending flows still applies. */
static void test_server_without_cookies(void **state)
{
    static const uint8_t wrong[8] = {1};
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    serve(&t, 3 | TOEC_FASTOPEN_NOCOOKIE);
    g = ask(&t, -1, 0, 100, 100);
    assert_int_equal(g.fo_len, -1);
    t.peer_port++;
    g = ask(&t, 8, wrong, 100, 100);
    assert_int_equal(g.fo_len, -1);
    t.peer_port++;
    g = ask(&t, 0, 0, 0, 0); /* requests a cookie and opens the flow, as on Linux */
    assert_int_equal(g.fo_len, -1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_taken), 3);
    t.peer_port++;
    ask(&t, -1, 0, 100, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_limited), 1);
    t.peer_port++;
    ask(&t, -1, 0, 0, 0); /* a plain SYN needs the handshake */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_limited), 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_bad_cookie), 0);
    talk_end(&t);
}

/* The server closes before the handshake completes: data and FIN follow the SYN-ACK. */
static void test_server_closes_early(void **state)
{
    struct talk t;

    (void)state;
    early(&t, 5);
    conn_read(t.c, 10);
    conn_write(t.c, 20, 1);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 10, 20);
    talk_say(&t, F_ACK | F_FIN, 10, 21, 0);
    talk_hear(&t, F_ACK, 21, 11, 0);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_OK);
    t.c = 0;
    talk_end(&t);
}

/* Without a cookie, with a wrong one, or with Fast Open off: three-way handshake, and the client
 * sends the data again. R7413-01, R7413-03, R7413-04. */
static void test_server_falls_back(void **state)
{
    static const uint8_t wrong[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const struct {
        uint32_t max;
        int fo_len, answered;
    } table[] = {{5, -1, 0}, {5, 0, 1}, {5, 4, 1}, {5, 8, 1}, {5, 16, 1}, {0, 0, 0}, {0, 8, 0}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct talk t;
        struct tseg g;

        talk_init(&t);
        serve(&t, table[i].max);
        g = ask(&t, table[i].fo_len, wrong, 100, 0);
        assert_int_equal(g.fo_len, table[i].answered ? 8 : -1);
        assert_false(t.s.host[0].conns->established);
        talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
        t.c = t.s.host[0].conns;
        assert_true(t.c->established);
        assert_int_equal(conn_read(t.c, 100), 100);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_taken), 0);
        talk_end(&t);
    }
}

/* An option of an invalid length is ignored (RFC 7413 4.1.1). */
static void test_server_bad_length(void **state)
{
    static const uint8_t bytes[16];
    static const int lens[] = {1, 2, 3, 5, 7, 15};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        struct talk t;

        talk_init(&t);
        serve(&t, 5);
        assert_int_equal(ask(&t, lens[i], bytes, 10, 0).fo_len, -1);
        talk_end(&t);
    }
}

/* A cookie is bound to an address and a key. Those of another stack are rejected; those of the
 * previous key are accepted and answered with a new one. R7413-02. */
static void test_server_keys(void **state)
{
    struct talk t;
    struct tseg g;
    uint8_t cookie[8];
    unsigned i;

    (void)state;
    talk_init(&t);
    serve(&t, 5);
    get_cookie(&t, cookie);
    for (i = 0; i < 3; i++) {
        g = ask(&t, 8, cookie, 10, i < 2 ? 10 : 0);
        assert_int_equal(g.fo_len, i ? 8 : -1);
        if (i) {
            assert_memory_not_equal(g.fo, cookie, 8);
        }
        talk_say(&t, F_RST, i < 2 ? 10 : 0, 0, 0);
        t.peer_port++;
        craft_pass(&t.s, 70369 * SEC); /* a little over 2^46 ns */
        talk_skip(&t);
    }
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_bad_cookie), 1);
    talk_end(&t);
}

/* Given keys of a listener: the same cookie as Linux makes from the same key, and a second key that
 * is accepted. */
static void test_server_given_keys(void **state)
{
    static const uint8_t keys[32] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                     9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,  9,  9,  9,  9,  9};
    struct talk t;
    struct tseg g;
    uint8_t first[8], second[8];
    uint32_t id;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 0, &id);
    toec_listen_fastopen(t.s.host[0].stack, id, 9);
    assert_int_equal(toec_listen_fastopen_key(t.s.host[0].stack, id, keys, 3), TOEC_E_INVAL);
    assert_int_equal(toec_listen_fastopen_key(t.s.host[0].stack, id, keys + 16, 1), 0);
    get_cookie(&t, second);
    assert_int_equal(toec_listen_fastopen_key(t.s.host[0].stack, id, keys, 2), 0);
    get_cookie(&t, first);
    assert_memory_not_equal(first, second, 8);
    g = ask(&t, 8, second, 10, 10);
    assert_int_equal(g.fo_len, 8);
    assert_memory_equal(g.fo, first, 8);
    talk_say(&t, F_RST, 10, 0, 0);
    t.peer_port++;
    assert_int_equal(toec_listen_fastopen_key(t.s.host[0].stack, id, keys, 1), 0);
    ask(&t, 8, second, 10, 0);
    talk_end(&t);
}

/* The queue is bounded; a connection that its client resets is counted for another minute (RFC 7413
 * 5.1). R7413-05. */
static void test_server_limit(void **state)
{
    struct talk t;
    uint8_t cookie[8];
    unsigned i;

    (void)state;
    talk_init(&t);
    serve(&t, 2);
    get_cookie(&t, cookie);
    for (i = 0; i < 2; i++) {
        ask(&t, 8, cookie, 10, 10);
        talk_say(&t, F_RST, 10, 0, 0);
        assert_true(t.s.host[0].conns->gone);
        assert_int_equal(t.s.host[0].conns->gone_reason, TOEC_R_RESET);
        t.peer_port++;
    }
    ask(&t, 8, cookie, 10, 0); /* falls back to the handshake */
    talk_say(&t, F_ACK, 0, 0, 0);
    assert_true(t.s.host[0].conns->established);
    conn_abort(t.s.host[0].conns);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_limited), 1);
    craft_pass(&t.s, 61 * SEC);
    talk_skip(&t);
    t.peer_port++;
    ask(&t, 8, cookie, 10, 10);
    talk_say(&t, F_ACK, 10, 0, 0);
    conn_read(t.s.host[0].conns, 10);
    conn_abort(t.s.host[0].conns);
    talk_skip(&t);
    for (i = 0; i < 5; i++) { /* flows whose handshake has completed are not counted */
        t.peer_port++;
        ask(&t, 8, cookie, 10, 10);
        talk_say(&t, F_ACK, 10, 0, 0);
        conn_abort(t.s.host[0].conns);
        talk_skip(&t);
    }
    talk_end(&t);
}

/* The ACK of a repeated SYN-ACK ends the count of timeouts. */
static void test_server_syn_ack_lost_once(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    early(&t, 2);
    craft_pass(&t.s, 1500 * MSEC);
    talk_say(&t, F_ACK, 10, 0, 0);
    talk_send(&t, 8 * 1460);
    for (i = talk_info(&t); talk_count(&t, TOEC_C_tcp_timeouts) == 1;)
        craft_pass(&t.s, 50 * MSEC);
    assert_true(talk_info(&t).ssthresh < i.ssthresh); /* R5681-05: a first timeout */
    talk_end(&t);
}

/* A lost SYN-ACK is retransmitted alone, and given up in the end. */
static void test_server_syn_ack_lost(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i, n = 0;

    (void)state;
    early(&t, 2);
    conn_read(t.c, 10);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 10, 100);
    /* the client retransmits its SYN without option and data (RFC 7413 4.2.1) */
    g = syn(&t, -1, 0, 0);
    craft_say(&t.s, &g);
    talk_hear(&t, F_SYN | F_ACK, (uint32_t)-1, 10, 0);
    for (i = 0; i < 300; i++) {
        craft_pass(&t.s, SEC);
        while (craft_next(&t.s, &g) && !(g.flags & F_RST)) {
            assert_int_equal(g.flags, F_SYN | F_ACK);
            assert_int_equal(g.seq, t.iss);
            assert_int_equal(g.ack, t.isn + 11);
            n++;
        }
    }
    assert_int_equal(n, 5);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    t.c = 0;
    talk_end(&t);
}

/* Data lost after a lost SYN-ACK is retransmitted once the SYN-ACK is acknowledged. */
static void test_server_data_lost(void **state)
{
    struct talk t;

    (void)state;
    early(&t, 2);
    conn_read(t.c, 10);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 10, 100);
    craft_pass(&t.s, 1100 * MSEC);
    talk_hear(&t, F_SYN | F_ACK, (uint32_t)-1, 10, 0);
    talk_say(&t, F_ACK, 10, 0, 0);
    talk_silence(&t);
    craft_pass(&t.s, 4 * SEC);
    talk_hear(&t, F_ACK, 0, 10, 100);
    talk_say(&t, F_ACK, 10, 100, 0);
    assert_int_equal(t.c->acked, 100);
    talk_end(&t);
}

/* A listener may be closed while one of its flows waits for the end of the handshake. */
static void test_server_unlisten(void **state)
{
    struct talk t;
    uint8_t cookie[8];
    uint32_t id;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 0, &id);
    toec_listen_fastopen(t.s.host[0].stack, id, 1);
    get_cookie(&t, cookie);
    ask(&t, 8, cookie, 10, 10);
    t.c = t.s.host[0].conns;
    assert_int_equal(toec_unlisten(t.s.host[0].stack, id), 0);
    sim_listen(&t.s, 0, OWN_PORT, 0, &id); /* another listener in the same slot */
    toec_listen_fastopen(t.s.host[0].stack, id, 1);
    talk_say(&t, F_ACK, 10, 0, 0);
    assert_false(t.c->gone);
    t.peer_port++;
    ask(&t, 8, cookie, 10, 10); /* the flow is neither counted twice nor released twice */
    t.peer_port++;
    ask(&t, 8, cookie, 10, 0);
    conn_abort(t.s.host[0].conns->next);
    conn_abort(t.c);
    t.c = 0;
    talk_end(&t);
}

/* Under a SYN flood SYN cookies take over, and no data on a SYN is accepted. */
static void test_server_under_flood(void **state)
{
    struct talk t;
    struct tseg g;
    uint8_t cookie[8];
    uint32_t id;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 1, &id);
    toec_listen_fastopen(t.s.host[0].stack, id, 9);
    get_cookie(&t, cookie);
    ask(&t, -1, 0, 0, 0); /* fills the backlog */
    t.peer_port++;
    g = ask(&t, 8, cookie, 10, 0);
    assert_int_equal(g.fo_len, -1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_cookies_sent), 1);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10);
    t.c = t.s.host[0].conns;
    assert_true(t.c->established);
    assert_int_equal(conn_read(t.c, 10), 10);
    talk_end(&t);
}

/* ---- client ---- */

static const uint8_t server_cookie[8] = {0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};

/* Connects with n bytes; returns the SYN. */
static struct tseg start(struct talk *t, uint32_t n, int no_cookie, int fast)
{
    struct tseg g;

    t->c = sim_connect(&t->s, 0, OWN_PORT);
    assert_int_equal(toec_fastopen(t->s.host[0].stack, t->c->flow, no_cookie, t->s.now) > 0, fast);
    craft_poll(&t->s);
    if (fast)
        talk_silence(t); /* the SYN waits for the data */
    talk_send(t, n);
    g = craft_expect(&t->s);
    assert_int_equal(g.flags, F_SYN);
    t->peer_port = OWN_PORT;
    t->own_port = t->c->local_port;
    t->iss = g.seq;
    return g;
}

/* Sends the SYN-ACK, which acknowledges n bytes and carries the cookie. */
static void answer(struct talk *t, uint32_t n, int fo_len)
{
    struct tseg g = talk_seg(t, F_SYN | F_ACK, (uint32_t)-1, n, 0);

    g.mss = t->mss;
    g.fo_len = fo_len;
    memcpy(g.fo, server_cookie, sizeof(server_cookie));
    craft_say(&t->s, &g);
    assert_true(t->c->established);
}

static void finish(struct talk *t)
{
    conn_abort(t->c);
    talk_skip(t);
    t->c = 0;
}

/* Opens a first connection, which gets the cookie. */
static void learn(struct talk *t)
{
    struct tseg g = start(t, 10, 0, 0);

    assert_int_equal(g.fo_len, 0);
    assert_int_equal(g.len, 0);
    answer(t, 0, 8);
    talk_hear(t, F_ACK, 0, 0, 10);
    finish(t);
}

/* RFC 7413 4.2.1: requests a cookie, then uses it; the server accepts all, none or some of the
 * data. R7413-06, R7413-09. */
static void test_client(void **state)
{
    static const uint32_t taken[] = {500, 0, 200};
    unsigned i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct talk t;
        struct toec_info info;
        struct tseg g;

        talk_init(&t);
        craft_start(&t.s);
        learn(&t);
        g = start(&t, 500, 0, 1);
        assert_int_equal(g.fo_len, 8);
        assert_memory_equal(g.fo, server_cookie, 8);
        assert_int_equal(g.len, 500);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_sent), 1);
        answer(&t, taken[i], -1);
        assert_int_equal(t.c->acked, taken[i]);
        toec_flow_info(t.s.host[0].stack, t.c->flow, &info);
        assert_int_equal((info.opts & TOEC_I_SYN_DATA) != 0, taken[i] != 0);
        if (taken[i] == 500)
            talk_hear(&t, F_ACK, 500, 0, 0);
        else
            talk_hear(&t, F_ACK, taken[i], 0, 500 - taken[i]);
        talk_say(&t, F_ACK, 0, 500, 0);
        assert_int_equal(t.c->acked, 500);
        talk_silence(&t);
        talk_end(&t);
    }
}

/* More data than a SYN holds: the rest follows the handshake. The MSS is the one that the server
 * sent last time, less the most that options may take (RFC 9293 MUST-16). R7413-06. */
static void test_client_much_data(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    t.mss = 1000;
    learn(&t);
    g = start(&t, 5000, 0, 1);
    assert_int_equal(g.len, 1000 - 40);
    answer(&t, g.len, -1);
    assert_int_equal(t.c->acked, g.len);
    talk_hear(&t, F_ACK, g.len, 0, 1000);
    talk_end(&t);
}

/* Data without a cookie, if the user has declared the path trusted. */
static void test_client_no_cookie(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    g = start(&t, 2000, 1, 1);
    assert_int_equal(g.fo_len, -1);
    assert_int_equal(g.len, 536 - 40);
    answer(&t, g.len, -1);
    talk_end(&t);
}

/* A lost SYN is retransmitted without option and data (RFC 7413 4.2.1). After the second loss in a
 * row Fast Open is disabled on this path, longer each time. R7413-07, R7413-08. */
static void test_client_black_hole(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    learn(&t);
    for (i = 0; i < 2; i++) {
        g = start(&t, 500, 0, 1);
        assert_int_equal(g.len, 500);
        craft_pass(&t.s, 1100 * MSEC);
        g = craft_expect(&t.s);
        assert_int_equal(g.flags, F_SYN);
        assert_int_equal(g.seq, t.iss);
        assert_int_equal(g.len, 0);
        assert_int_equal(g.fo_len, -1);
        answer(&t, i ? 0 : 500, -1); /* also when the first SYN-ACK was only late */
        assert_int_equal(t.c->acked, i ? 0 : 500);
        finish(&t);
    }
    g = start(&t, 500, 0, 0);
    assert_int_equal(g.len, 0);
    assert_int_equal(g.fo_len, -1);
    answer(&t, 0, -1);
    finish(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fastopen_blocked), 1);
    craft_pass(&t.s, 241 * SEC);
    talk_skip(&t);
    g = start(&t, 500, 0, 1);
    assert_int_equal(g.len, 500);
    answer(&t, 500, -1); /* and Fast Open works again */
    finish(&t);
    g = start(&t, 500, 0, 1);
    assert_int_equal(g.len, 500);
    talk_end(&t);
}

/* An attempt that ends before its SYN was sent, or with a RST. */
static void test_client_ends(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    learn(&t);
    t.c = sim_connect(&t.s, 0, OWN_PORT);
    assert_true(toec_fastopen(t.s.host[0].stack, t.c->flow, 0, t.s.now) > 0);
    craft_pass(&t.s, 3600 * SEC);
    talk_silence(&t);
    conn_close(t.c);
    assert_true(t.c->gone);
    start(&t, 500, 0, 1);
    g = talk_seg(&t, F_RST | F_ACK, 0, 500, 0);
    craft_send(&t.s, &g);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_REFUSED);
    g = start(&t, 500, 0, 1); /* nor an ACK beyond what was sent */
    assert_int_equal(toec_fastopen(t.s.host[0].stack, t.c->flow, 0, t.s.now), TOEC_E_INVAL);
    talk_say(&t, F_SYN | F_ACK, (uint32_t)-1, 501, 0);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_RST);
    assert_false(t.c->established);
    talk_end(&t);
}

/* Two stacks: the first connection pays for the cookie, the second saves a round trip. */
static void test_stacks(void **state)
{
    struct sim s;
    struct conn *c, *p;
    uint32_t id;
    int round;

    (void)state;
    sim_init(&s, 2);
    s.impair.delay = 50 * MSEC;
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, &id);
    toec_listen_fastopen(s.host[1].stack, id, 100);
    c = sim_connect(&s, 0, 80); /* so that the hosts resolve each other's address */
    sim_run(&s, 5 * SEC);
    conn_close(c);
    conn_close(s.host[1].conns);
    sim_run(&s, 100 * SEC);
    for (round = 0; round < 4; round++) {
        c = sim_connect(&s, 0, 80);
        assert_int_equal(toec_fastopen(s.host[0].stack, c->flow, 0, s.now) > 0, round > 0);
        conn_write(c, 1000, 1);
        toec_poll(s.host[0].stack, s.now);
        sim_run(&s, 60 * MSEC); /* the SYN has arrived, no answer yet */
        p = s.host[1].conns;
        assert_int_equal(p->received, round ? 1000 : 0);
        assert_int_equal(p->established, round > 0);
        if (round) {
            conn_read(p, 1000);
            conn_write(p, 3000, 1);
            toec_poll(s.host[1].stack, s.now);
        }
        sim_run(&s, 50 * MSEC); /* one round trip after the start: the reply has arrived */
        assert_int_equal(c->received, round ? 3000 : 0);
        sim_run(&s, 5 * SEC);
        assert_int_equal(c->acked, 1000);
        conn_read(c, 3000);
        conn_read(p, 1000);
        conn_close(c);
        conn_close(p);
        sim_run(&s, 100 * SEC);
    }
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_fastopen_acked), 3);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_retransmits), 0);
    sim_assert_clean(&s);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_server_without_cookies),
        cmocka_unit_test(test_server_closes_early),
        cmocka_unit_test(test_server_falls_back),
        cmocka_unit_test(test_server_bad_length),
        cmocka_unit_test(test_server_keys),
        cmocka_unit_test(test_server_given_keys),
        cmocka_unit_test(test_server_limit),
        cmocka_unit_test(test_server_syn_ack_lost),
        cmocka_unit_test(test_server_syn_ack_lost_once),
        cmocka_unit_test(test_server_data_lost),
        cmocka_unit_test(test_server_unlisten),
        cmocka_unit_test(test_server_under_flood),
        cmocka_unit_test(test_client),
        cmocka_unit_test(test_client_much_data),
        cmocka_unit_test(test_client_no_cookie),
        cmocka_unit_test(test_client_black_hole),
        cmocka_unit_test(test_client_ends),
        cmocka_unit_test(test_stacks),
    };

    return cmocka_run_group_tests_name("tcp_fastopen", tests, 0, 0);
}
