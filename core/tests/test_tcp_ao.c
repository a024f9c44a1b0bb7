/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ao.c - connections with TCP-AO (RFC 5925) between two stacks: they carry data over a bad
 * link, in both families, with both algorithms; keys change on the way; segments modified on the
 * path are dropped and counted.
 */
#include "tcpsim.h"
#include "tcpsim_parts.h"

#define PORT 179

/* ---- keys ---- */

static struct toec_ao_mkt mkt(unsigned remote, enum toec_ao_alg alg, uint8_t send_id,
                              uint8_t recv_id, const char *secret)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    if (sim_ip6) {
        sim_address6(k.remote.b, remote);
        k.prefix = 128;
    } else {
        k.remote.b[10] = k.remote.b[11] = 0xff;
        put32(k.remote.b + 12, IP_A + remote);
        k.prefix = 32;
    }
    k.alg = alg;
    k.send_id = send_id;
    k.recv_id = recv_id;
    k.secret = (const uint8_t *)secret;
    k.secret_len = (unsigned)strlen(secret);
    return k;
}

/* Host 0 connects to the listener of host 1. */
struct ao {
    struct sim s;
    struct conn *c, *peer;
    uint32_t id;
    uint32_t listening; /* the listener's keys */
};

static void start(struct ao *a)
{
    unsigned i;

    sim_init(&a->s, 2);
    for (i = 0; i < 2; i++) {
        a->s.host[i].cfg.max_ao_keys = 8;
        a->s.host[i].cfg.ao = &sim_ao;
    }
}

static void listen_with(struct ao *a, struct toec_ao_mkt k)
{
    assert_int_equal(toec_listen_ao_add(a->s.host[1].stack, a->id, &k), 0);
    a->listening++;
}

static void key(struct conn *c, struct toec_ao_mkt k)
{
    assert_int_equal(toec_ao_add(c->host->stack, c->flow, &k), 0);
}

/* Both know one key, as 61 and 84. */
static void open_pair(struct ao *a, enum toec_ao_alg alg, uint8_t flags)
{
    struct toec_ao_mkt k = mkt(0, alg, 84, 61, "a secret");

    sim_start(&a->s);
    sim_listen(&a->s, 1, PORT, 0, &a->id);
    k.flags = flags;
    listen_with(a, k);
    a->c = sim_connect(&a->s, 0, PORT);
    k = mkt(1, alg, 61, 84, "a secret");
    k.flags = flags;
    key(a->c, k);
    sim_run(&a->s, 5 * SEC);
    assert_true(a->c->established);
    a->peer = conn_peer(a->c);
    assert_true(a->peer->established);
}

static struct toec_ao_info info(const struct conn *c)
{
    struct toec_ao_info i;

    assert_int_equal(toec_ao_info(c->host->stack, c->flow, &i), 0);
    return i;
}

static uint64_t count(struct ao *a, unsigned host, enum toec_counter c)
{
    return sim_count(&a->s, host, c);
}

static uint32_t keys_used(struct ao *a, unsigned host)
{
    struct toec_usage u;

    toec_usage(a->s.host[host].stack, &u);
    return u.ao_keys;
}

/* Only the listener's own key remains. */
static void end(struct ao *a)
{
    conn_close(a->c);
    sim_run(&a->s, SEC);
    if (a->peer)
        conn_close(a->peer);
    sim_run(&a->s, 700 * SEC);
    assert_int_equal(a->s.place_violations, 0);
    assert_int_equal(keys_used(a, 0), 0);
    assert_int_equal(keys_used(a, 1), a->listening);
    sim_assert_clean(&a->s);
    sim_stop(&a->s);
}

/* ---- frames ---- */

static uint8_t *tcp_of(uint8_t *frame)
{
    return frame[12] == 8 && frame[13] == 0 && frame[23] == 6         ? frame + 34
           : frame[12] == 0x86 && frame[13] == 0xdd && frame[20] == 6 ? frame + 54
                                                                      : NULL;
}

/* The AO option of a segment, or NULL. */
static uint8_t *option_of(uint8_t *tcp)
{
    uint32_t i = 20, n = (tcp[12] >> 4) * 4u;

    while (i < n) {
        if (tcp[i] == 29)
            return tcp + i;
        i += tcp[i] == 1 ? 1 : tcp[i + 1];
    }
    return NULL;
}

/* The modification of each segment of a host, or of one of them. */
struct mischief {
    unsigned from;
    int what; /* M_* */
    unsigned skip, left;
    unsigned signed_n, bare_n, long_n; /* seen of both hosts; larger than the link takes */
};
enum { M_NONE, M_BIT, M_MAC, M_KEYID, M_STRIP, M_RST, M_LENGTH };

static void fix_sum(uint8_t *frame, uint32_t len)
{
    uint8_t *tcp = tcp_of(frame), tail[4] = {0, 6, 0, 0};
    uint32_t n = len - (uint32_t)(tcp - frame);

    put16(tail + 2, n);
    put16(tcp + 16, 0);
    put16(tcp + 16,
          ~sum16(tcp, n,
                 sum16(tail, 4, sim_ip6 ? sum16(frame + 22, 32, 0) : sum16(frame + 26, 8, 0))));
}

static void spoil(struct mischief *m, uint8_t *tcp, uint8_t *o)
{
    switch (m->what) {
    case M_BIT: /* of the window: what the MAC covers */
        tcp[15] ^= 1;
        break;
    case M_MAC:
        o[15] ^= 0x80;
        break;
    case M_KEYID:
        o[2] ^= 0x55;
        break;
    case M_STRIP:
        memset(o, 1, 16);
        break;
    case M_RST:
        tcp[13] = F_RST | F_ACK;
        break;
    case M_LENGTH: /* of 10 bytes of MAC, and two NOPs */
        o[1] = 14;
        memset(o + 14, 1, 2);
        break;
    default:
        break;
    }
}

static int64_t on_the_path(struct sim *s, unsigned from, uint8_t *frame, uint32_t len)
{
    struct mischief *m = s->router_state;
    uint8_t *tcp = tcp_of(frame), *o;

    if (!tcp)
        return 0;
    o = option_of(tcp);
    m->signed_n += o != NULL;
    m->bare_n += o == NULL;
    m->long_n += len > 1514;
    if (!o || from != m->from || m->left == 0)
        return 0;
    if (m->skip) {
        m->skip--;
        return 0;
    }
    m->left--;
    spoil(m, tcp, o);
    fix_sum(frame, len);
    return 0;
}

/* ---- transfers ---- */

static void transfer(enum toec_ao_alg alg, uint8_t flags, int bad_link)
{
    struct mischief m = {0};
    struct ao a = {0};

    start(&a);
    a.s.host[0].cfg.max_gso = a.s.host[1].cfg.max_gso = 61440; /* not for these */
    a.s.router = on_the_path;
    a.s.router_state = &m;
    if (bad_link) {
        a.s.impair.lose = 30;
        a.s.impair.duplicate = 30;
        a.s.impair.reorder = 50;
        a.s.impair.reorder_by = 300 * USEC;
    }
    open_pair(&a, alg, flags);
    sim_transfer(&a.s, a.c, 300000, 600 * SEC);
    sim_transfer(&a.s, a.peer, 100000, 600 * SEC);
    assert_int_equal(a.c->acked, 300000);
    assert_int_equal(a.peer->acked, 100000);
    assert_true(info(a.peer).good > 200);
    assert_int_equal(info(a.peer).bad + info(a.peer).missing + info(a.peer).no_key, 0);
    end(&a);
    assert_int_equal(m.bare_n, 0);
    assert_int_equal(m.long_n, 0);
    assert_true(m.signed_n > 300);
}

/* RFC 5926 3.2: both algorithms, with the other options covered and not; R5925-16. */
static void test_transfer(void **state)
{
    (void)state;
    transfer(TOEC_AO_HMAC_SHA1, 0, 0);
    transfer(TOEC_AO_HMAC_SHA1, TOEC_AO_NO_OPTIONS, 0);
    transfer(TOEC_AO_AES_CMAC, 0, 0);
    transfer(TOEC_AO_AES_CMAC, TOEC_AO_NO_OPTIONS, 0);
    transfer(TOEC_AO_HMAC_SHA1, 0, 1);
    transfer(TOEC_AO_AES_CMAC, TOEC_AO_NO_OPTIONS, 1);
    sim_ip6 = 1;
    transfer(TOEC_AO_HMAC_SHA1, 0, 0);
    transfer(TOEC_AO_AES_CMAC, 0, 1);
    sim_ip6 = 0;
}

/* Options have 40 bytes, and datagrams the MTU: 12 of timestamps, 16 of TCP-AO, 12 left: one SACK
 * block. R5925-16. */
static void test_room(void **state)
{
    struct toec_info i;
    struct ao a = {0};

    (void)state;
    start(&a);
    open_pair(&a, TOEC_AO_HMAC_SHA1, 0);
    toec_flow_info(a.s.host[0].stack, a.c->flow, &i);
    assert_int_equal(i.mss_send, 1460 - 12 - 16);
    assert_int_equal(i.mss_recv, 1460 - 12 - 16);
    end(&a);
}

/* ---- change-over ---- */

/* RFC 5925 6.1: an end with a new key requests it in RNextKeyID, the other sends with it from then
 * on; nothing is lost, and the old one may be deleted. R5925-09, R5925-10, R5925-11. */
static void test_change_over(void **state)
{
    struct ao a = {0};
    struct toec_ao_mkt k;

    (void)state;
    start(&a);
    open_pair(&a, TOEC_AO_HMAC_SHA1, 0);
    assert_int_equal(info(a.c).current, 61);
    assert_int_equal(info(a.c).rnext, 84);
    key(a.c, mkt(1, TOEC_AO_AES_CMAC, 1, 2, "another secret"));
    key(a.peer, mkt(0, TOEC_AO_AES_CMAC, 2, 1, "another secret"));
    assert_int_equal(info(a.c).keys, 2);
    sim_transfer(&a.s, a.c, 10000, SEC);
    assert_int_equal(info(a.peer).current, 84);
    /* host 0 would like to be sent to with key 2 */
    assert_int_equal(toec_ao_use(a.s.host[0].stack, a.c->flow, -1, 2), 0);
    sim_transfer(&a.s, a.c, 20000, SEC);
    assert_int_equal(info(a.peer).current, 2);
    assert_int_equal(count(&a, 1, TOEC_C_tcp_ao_key_changes), 1);
    assert_int_equal(info(a.c).current, 61);
    /* ... and chooses key 1 for sending by itself */
    assert_int_equal(toec_ao_use(a.s.host[0].stack, a.c->flow, 1, -1), 0);
    sim_transfer(&a.s, a.peer, 30000, SEC);
    /* its RNext is still 61, which is what the other would like: back again (RFC 5925 7.5) */
    assert_int_equal(info(a.c).current, 61);
    assert_int_equal(toec_ao_use(a.s.host[1].stack, a.peer->flow, -1, 1), 0);
    sim_transfer(&a.s, a.peer, 60000, SEC);
    assert_int_equal(info(a.c).current, 1);
    assert_int_equal(toec_ao_delete(a.s.host[0].stack, a.c->flow, 61, 84), 0);
    assert_int_equal(toec_ao_delete(a.s.host[1].stack, a.peer->flow, 84, 61), 0);
    assert_int_equal(toec_ao_delete(a.s.host[0].stack, a.c->flow, 1, 2), TOEC_E_INUSE);
    assert_int_equal(toec_ao_delete(a.s.host[0].stack, a.c->flow, 61, 84), TOEC_E_INVAL);
    sim_transfer(&a.s, a.c, 80000, SEC);
    assert_int_equal(a.c->acked, 80000);
    assert_int_equal(count(&a, 0, TOEC_C_tcp_ao_bad_mac), 0);
    assert_int_equal(count(&a, 1, TOEC_C_tcp_ao_no_key), 0);
    /* keys that are added with the flags are in use at once */
    k = mkt(0, TOEC_AO_HMAC_SHA1, 7, 8, "third");
    key(a.peer, k);
    k = mkt(1, TOEC_AO_HMAC_SHA1, 8, 7, "third");
    k.flags = TOEC_AO_SET_CURRENT | TOEC_AO_SET_RNEXT;
    key(a.c, k);
    assert_int_equal(info(a.c).current, 8);
    assert_int_equal(info(a.c).rnext, 7);
    sim_transfer(&a.s, a.c, 90000, SEC);
    assert_int_equal(info(a.peer).current, 7);
    end(&a);
}

/* ---- on the path ---- */

/* Each of five segments is corrupted and retransmitted: the stream is complete, and the counter
 * gives the reason.
 */
static void spoiled(int what, enum toec_counter why, uint64_t bad, uint64_t no_key,
                    uint64_t missing)
{
    struct mischief m = {0};
    struct ao a = {0};

    start(&a);
    a.s.router = on_the_path;
    a.s.router_state = &m;
    open_pair(&a, TOEC_AO_HMAC_SHA1, 0);
    m.what = what;
    m.left = 5;
    sim_transfer(&a.s, a.c, 50000, 60 * SEC);
    assert_int_equal(a.c->acked, 50000);
    assert_int_equal(m.left, 0);
    assert_int_equal(count(&a, 1, why), 5);
    assert_int_equal(info(a.peer).bad, bad);
    assert_int_equal(info(a.peer).no_key, no_key);
    assert_int_equal(info(a.peer).missing, missing);
    end(&a);
    assert_int_equal(m.bare_n, 0); /* it drew no reply */
}

/* RFC 5925 7.5; R5925-12, R5925-14. */
static void test_spoiled(void **state)
{
    (void)state;
    spoiled(M_BIT, TOEC_C_tcp_ao_bad_mac, 5, 0, 0);
    spoiled(M_MAC, TOEC_C_tcp_ao_bad_mac, 5, 0, 0);
    spoiled(M_RST, TOEC_C_tcp_ao_bad_mac, 5, 0, 0);
    spoiled(M_KEYID, TOEC_C_tcp_ao_no_key, 0, 5, 0);
    spoiled(M_STRIP, TOEC_C_tcp_ao_missing, 0, 0, 5);
    spoiled(M_LENGTH, TOEC_C_tcp_ao_bad_option, 5, 0, 0);
    sim_ip6 = 1;
    spoiled(M_RST, TOEC_C_tcp_ao_bad_mac, 5, 0, 0);
    spoiled(M_STRIP, TOEC_C_tcp_ao_missing, 0, 0, 5);
    sim_ip6 = 0;
}

/* The SYN and the SYN-ACK too: the handshake has its timeouts, and succeeds. */
static void spoiled_opening(unsigned from, int what, enum toec_counter why)
{
    struct mischief m = {0};
    struct ao a = {0};

    start(&a);
    a.s.router = on_the_path;
    a.s.router_state = &m;
    m.from = from;
    m.what = what;
    m.left = 1;
    open_pair(&a, TOEC_AO_AES_CMAC, 0);
    assert_int_equal(m.left, 0);
    assert_int_equal(count(&a, 1 - from, why), 1);
    sim_transfer(&a.s, a.c, 10000, SEC);
    assert_int_equal(a.c->acked, 10000);
    end(&a);
}

static void test_spoiled_opening(void **state)
{
    unsigned from;

    (void)state;
    for (from = 0; from < 2; from++) {
        spoiled_opening(from, M_BIT, TOEC_C_tcp_ao_bad_mac);
        /* that of the SYN is a reset of no connection */
        spoiled_opening(from, M_RST, from ? TOEC_C_tcp_ao_bad_mac : TOEC_C_tcp_ao_no_flow);
        spoiled_opening(from, M_KEYID, TOEC_C_tcp_ao_no_key);
        spoiled_opening(from, M_STRIP, TOEC_C_tcp_ao_missing);
        spoiled_opening(from, M_LENGTH, TOEC_C_tcp_ao_bad_option);
    }
}

/* An honest reset is one with a MAC: it ends the other side. */
static void test_reset(void **state)
{
    struct mischief m = {0};
    struct ao a = {0};

    (void)state;
    start(&a);
    a.s.router = on_the_path;
    a.s.router_state = &m;
    open_pair(&a, TOEC_AO_HMAC_SHA1, 0);
    conn_abort(a.c);
    sim_run(&a.s, SEC);
    assert_true(a.peer->gone);
    assert_int_equal(a.peer->gone_reason, TOEC_R_RESET);
    assert_int_equal(m.bare_n, 0);
    end(&a);
}

/* Both connect at once (RFC 9293 3.5): SYN against SYN, each with the key of one ISN. */
static void test_simultaneous(void **state)
{
    struct ao a = {0};

    (void)state;
    start(&a);
    sim_start(&a.s);
    a.c = sim_connect_from(&a.s, 0, 4000, 5000, NULL);
    key(a.c, mkt(1, TOEC_AO_HMAC_SHA1, 61, 84, "a secret"));
    a.peer = sim_connect_from(&a.s, 1, 5000, 4000, NULL);
    key(a.peer, mkt(0, TOEC_AO_HMAC_SHA1, 84, 61, "a secret"));
    sim_run(&a.s, 5 * SEC);
    assert_true(a.c->established && a.peer->established);
    assert_true(count(&a, 0, TOEC_C_tcp_simultaneous_open) == 1);
    sim_transfer(&a.s, a.c, 10000, SEC);
    assert_int_equal(a.c->acked, 10000);
    end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transfer),        cmocka_unit_test(test_room),
        cmocka_unit_test(test_change_over),     cmocka_unit_test(test_spoiled),
        cmocka_unit_test(test_spoiled_opening), cmocka_unit_test(test_reset),
        cmocka_unit_test(test_simultaneous),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
