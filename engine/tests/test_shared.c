/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_shared.c - two engines of one TOE share nothing but the hand-over rings
 * (docs/ARCHITECTURE.md rule 4; SEEDS S4.5), and each flow is at its home engine.
 *
 *     host 0 -- engine 0 --+                        +-- peer -- host p
 *                          +== switch in the test ==+
 *     host 1 -- engine 1 --+
 *
 * The switch distributes the peer's frames round-robin over the queues, so every second frame
 * arrives at the wrong engine and is handed over.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "frames/steer.h"
#include "owned.h"

#define CONNS    32u
#define BYTES    5000u
#define ANSWER   700u
#define RINGS    3u
#define OWNER(i) ((i) + 1u)
#define TOE_IP   IP_A
#define PEER_IP  IP_B

/* A host's state of one of its connections. */
struct talk {
    uint32_t flow, got, want, sent;
    uint16_t local_port, remote_port;
    int open, over;
};

struct end {
    struct engine *e;
    struct netio *wire, *cable; /* the engine's side, the switch's */
    struct host host;
    struct talk talk[2 * CONNS];
    unsigned talks, opened, ended;
};

struct world {
    struct bench t;
    struct end end[3]; /* engines 0 and 1; the peer */
    struct handover *handover;
    unsigned frames;
    int guarded; /* engines 0 and 1 run without each other's memory */
};

#define PEER 2u

static void let_go(void *arg, struct qp *qp)
{
    struct world *w = arg;

    w->t.unused[w->t.unused_count++] = qp;
}

/* The wire in memory belongs to the test, for every caller. */
void __real_netio_tx_submit(struct netio *n, const struct netio_frame *f, uint64_t now);
void __wrap_netio_tx_submit(struct netio *n, const struct netio_frame *f, uint64_t now);
void __wrap_netio_tx_submit(struct netio *n, const struct netio_frame *f, uint64_t now)
{
    unsigned was = owned_by(OUTSIDE);

    __real_netio_tx_submit(n, f, now);
    owned_by(was);
}

static void make_end(struct world *w, unsigned i)
{
    struct end *end = &w->end[i];
    struct engine_config cfg = {.id = i == PEER ? 0 : i,
                                .count = i == PEER ? 1 : 2,
                                .max_qps = 4,
                                .offload = OFFLOAD_ALL,
                                .handover = i == PEER ? NULL : w->handover,
                                .qp_unused = let_go,
                                .arg = w};
    struct toedev_qp_config qcfg = bench_qp_config(2 * CONNS);
    char err[256];

    memwire_pair(&end->wire, &end->cable);
    cfg.netio = end->wire;
    memcpy(cfg.core.mac, ((uint8_t[]){2, 0, 0, 0, 0, i == PEER ? 2 : 1}), 6);
    memcpy(cfg.core.ip, ((uint8_t[]){10, 0, 0, i == PEER ? 2 : 1}), 4);
    memset(cfg.core.secret, 7 + (int)i, sizeof(cfg.core.secret));
    cfg.core.prefix_len = 24;
    cfg.core.mtu = 1500;
    cfg.core.max_flows = 4 * CONNS;
    cfg.core.home_index = cfg.id;
    cfg.core.home_count = cfg.count;
    owned_by(i == PEER ? OUTSIDE : OWNER(i));
    end->e = engine_new(&cfg, w->t.now, err, sizeof(err));
    if (!end->e)
        fail_msg("%s", err);
    host_attach(&w->t, end->e, &end->host, &qcfg);
    owned_by(OUTSIDE);
}

static struct world *make_world(enum owned_mode mode)
{
    struct world *w;
    unsigned i;

    owned_begin(mode);
    w = owned_outside(sizeof(*w));
    w->t.now = 1000 * NS_PER_S;
    owned_by(RINGS);
    w->handover = handover_new(2, 1564);
    assert_non_null(w->handover);
    for (i = 0; i < 3; i++)
        make_end(w, i);
    return w;
}

static void free_world(struct world *w)
{
    unsigned i;

    for (i = 0; i < 3; i++) {
        qp_drop(w->end[i].host.qp);
        while (engine_step(w->end[i].e, w->t.now))
            ;
        host_forget(&w->end[i].host);
    }
    while (w->t.unused_count)
        qp_free(w->t.unused[--w->t.unused_count]);
    for (i = 0; i < 3; i++) {
        engine_free(w->end[i].e);
        netio_close(w->end[i].cable);
    }
    handover_free(w->handover);
    owned_end();
}

/* ---- the switch ---- */

static unsigned carry(struct world *w, unsigned from)
{
    struct netio_frame f;
    unsigned n = 0;

    while (netio_rx(w->end[from].cable, &f, 1, w->t.now)) {
        unsigned to = from == PEER ? w->frames++ % 2 : PEER;

        memwire_inject(w->end[to].wire, f.data, f.len);
        netio_rx_release(w->end[from].cable, &f, 1);
        n++;
    }
    return n;
}

/* ---- the hosts: a connecting one sends BYTES, an accepting one answers with ANSWER ---- */

static struct talk *find(struct end *end, uint32_t flow)
{
    unsigned i;

    for (i = 0; i < end->talks; i++)
        if (end->talk[i].flow == flow && !end->talk[i].over)
            return &end->talk[i];
    return NULL;
}

static struct talk *begin(struct end *end, uint32_t flow, uint32_t want)
{
    const struct toedev_flow_record *r = host_record(&end->host, flow);
    struct talk *t = &end->talk[end->talks++];

    *t = (struct talk){.flow = flow, .want = want, .open = 1};
    t->local_port = r->local_port;
    t->remote_port = r->remote_port;
    end->opened++;
    return t;
}

static void on_data(struct end *end, uint32_t flow, uint32_t n)
{
    struct talk *t = find(end, flow);

    assert_non_null(t);
    assert_true(host_holds(&end->host, flow, t->got, n));
    t->got += n;
    host_put(&end->host, TOE_CMD_RECV, 0, 0, flow, n, 0);
    if (t->got < t->want)
        return;
    if (t->want == BYTES)
        host_send(&end->host, flow, 0, ANSWER);
    else
        host_put(&end->host, TOE_CMD_CLOSE, 0, 0, flow, 0, 0);
}

static void on_close(struct end *end, const struct toe_cmd *c)
{
    uint32_t flow = toe_cmd_flow(c);
    struct talk *t = find(end, flow);

    assert_non_null(t);
    if (toe_cmd_flags(c) & TOE_F_CLOSE_EVENT_HALF) {
        if (t->want == BYTES)
            host_put(&end->host, TOE_CMD_CLOSE, 0, 0, flow, 0, 0);
        return;
    }
    assert_int_equal(toe_cmd_aux(c), TOE_R_OK);
    t->over = 1;
    end->ended++;
    host_put(&end->host, TOE_CMD_RELEASE, 0, 0, flow, 0, 0);
}

static void serve_host(struct end *end)
{
    struct toe_cmd c;

    while (host_get(&end->host, &c)) {
        switch (toe_cmd_type(&c)) {
        case TOE_CMD_LISTEN_ESTABLISHED:
            begin(end, toe_cmd_flow(&c), BYTES);
            break;
        case TOE_CMD_CONNECT_ESTABLISHED:
            begin(end, toe_cmd_flow(&c), ANSWER);
            host_send(&end->host, toe_cmd_flow(&c), 0, BYTES);
            break;
        case TOE_CMD_DATA_RECEIVED:
            on_data(end, toe_cmd_flow(&c), toe_cmd_arg0(&c));
            break;
        case TOE_CMD_CLOSE_EVENT:
            on_close(end, &c);
            break;
        default:
            assert_int_equal(toe_cmd_type(&c), TOE_CMD_SEND_COMPLETE);
        }
    }
}

/* ---- time ---- */

static unsigned step(struct world *w, unsigned i)
{
    unsigned n;

    if (i == PEER || !w->guarded) {
        owned_by(i == PEER ? OUTSIDE : OWNER(i));
        n = engine_step(w->end[i].e, w->t.now);
        owned_by(OUTSIDE);
        return n;
    }
    owned_enter(OWNER(i), 1u << OWNER(0) | 1u << OWNER(1));
    n = engine_step(w->end[i].e, w->t.now);
    owned_leave();
    return n;
}

static void run(struct world *w, unsigned milliseconds)
{
    unsigned i, work;

    for (; milliseconds; milliseconds--) {
        w->t.now += NS_PER_MS;
        do {
            for (work = i = 0; i < 3; i++) {
                work += step(w, i) + carry(w, i);
                serve_host(&w->end[i]);
            }
        } while (work);
    }
}

/* ---- conversations ---- */

/* The peer opens CONNS connections to the TOE, and each engine's host CONNS / 2 to the peer; on
 * each there is a request, an answer and a close. */
static void converse(struct world *w)
{
    unsigned i, k;

    for (i = 0; i < 3; i++)
        host_put(&w->end[i].host, TOE_CMD_LISTEN, 0, PORT, 7, 0, 2 * CONNS);
    run(w, 2);
    for (k = 0; k < CONNS; k++)
        host_put(&w->end[PEER].host, TOE_CMD_CONNECT, 0, PORT, k, TOE_IP, 0);
    for (i = 0; i < 2; i++)
        for (k = 0; k < CONNS / 2; k++)
            host_put(&w->end[i].host, TOE_CMD_CONNECT, 0, PORT, k, PEER_IP, 0);
    run(w, 3000);
}

static uint32_t home(const struct talk *t)
{
    struct toec_addr toe = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}}, peer = toe;

    peer.b[15] = 2;
    return toec_rss_hash(&toe, &peer, t->local_port, t->remote_port) % 2;
}

/* Every connection was established on the engine that its hash names, whatever queue its frames
 * used.
 */
static void check_conversation(struct world *w)
{
    unsigned i, k, accepted = 0, opened;

    assert_int_equal(w->end[PEER].opened, 2 * CONNS);
    assert_int_equal(w->end[PEER].ended, 2 * CONNS);
    for (i = 0; i < 2; i++) {
        struct end *end = &w->end[i];

        for (opened = k = 0; k < end->talks; k++) {
            assert_int_equal(home(&end->talk[k]), i);
            assert_int_equal(end->talk[k].got, end->talk[k].want);
            opened += end->talk[k].local_port != PORT;
        }
        assert_int_equal(opened, CONNS / 2);
        assert_true(end->talks - opened >= 4); /* some of those accepted are home to each */
        accepted += end->talks - opened;
        assert_int_equal(end->ended, end->talks);
        assert_true(end->e->counters[EC_handover_sent] > 50);
        assert_true(end->e->counters[EC_handover_received] > 50);
        assert_int_equal(end->e->counters[EC_handover_full], 0);
    }
    assert_int_equal(accepted, CONNS);
}

/* Each engine has its own statistics; the reader adds them up. */
static void check_counters(struct world *w)
{
    uint64_t out = 0, in = 0;
    unsigned i;

    for (i = 0; i < 2; i++) {
        out += w->end[i].e->counters[EC_handover_sent];
        in += w->end[i].e->counters[EC_handover_received];
    }
    assert_int_equal(in, out);
}

/* ---- tests ---- */

static void test_flows_live_where_they_are_home(void **state)
{
    struct world *w = make_world(OWNED_LINES);

    (void)state;
    converse(w);
    check_conversation(w);
    check_counters(w);
    free_world(w);
}

static void test_no_cache_line_belongs_to_two_engines(void **state)
{
    struct world *w = make_world(OWNED_LINES);

    (void)state;
    converse(w);
    assert_true(owned_ranges(OWNER(0)) > 10 && owned_ranges(OWNER(1)) > 10);
    assert_true(owned_ranges(RINGS) > 5);
    assert_int_equal(owned_conflicts(), 0);
    free_world(w);
}

/* A line that two have is seen: the check can fail. */
static void test_a_line_in_common_would_be_seen(void **state)
{
    void *p[64];
    unsigned i;

    (void)state;
    owned_begin(OWNED_LINES);
    for (i = 0; i < 64; i++) {
        owned_by(OWNER(i % 2));
        p[i] = calloc(1, 24); /* neighbours in the heap */
    }
    assert_true(owned_conflicts() > 0);
    for (i = 0; i < 64; i++)
        free(p[i]);
    owned_end();
}

/* Whole conversations while the other engine's memory cannot be touched, nor static data written.
 */
static void test_an_engine_runs_without_the_others_memory(void **state)
{
    struct world *w = make_world(OWNED_ARENAS);

    (void)state;
    w->guarded = 1;
    converse(w);
    check_conversation(w);
    free_world(w);
}

/* Engine 0 runs, and a byte is written (or read) as it would be by it. The exit code. */
static int trespass(volatile uint8_t *(*where)(struct world *w), int write_it)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct world *w = make_world(OWNED_ARENAS);
        volatile uint8_t *at = where(w);

        owned_enter(OWNER(0), 1u << OWNER(0) | 1u << OWNER(1));
        if (write_it)
            *at = 1;
        else
            (void)*at;
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static volatile uint8_t *engine_1(struct world *w)
{
    return (volatile uint8_t *)w->end[1].e;
}

static volatile uint8_t *slots_of_1(struct world *w)
{
    return (volatile uint8_t *)w->end[1].host.qp->slots;
}

static volatile uint8_t *stack_of_1(struct world *w)
{
    return (volatile uint8_t *)w->end[1].e->stack_mem + 8192;
}

static volatile uint8_t *area_of_1(struct world *w)
{
    return w->end[1].host.qp->area;
}

static volatile uint8_t *engine_0(struct world *w)
{
    return (volatile uint8_t *)w->end[0].e;
}

static volatile uint8_t *the_rings(struct world *w)
{
    return (volatile uint8_t *)w->handover;
}

static volatile uint8_t *static_data(struct world *w)
{
    static volatile uint8_t byte;

    (void)w;
    return &byte;
}

/* ... and an access to them is detected. */
static void test_a_trespass_would_be_seen(void **state)
{
    (void)state;
    assert_int_equal(trespass(engine_1, 0), OWNED_TRESPASS);
    assert_int_equal(trespass(engine_1, 1), OWNED_TRESPASS);
    assert_int_equal(trespass(slots_of_1, 0), OWNED_TRESPASS);
    assert_int_equal(trespass(stack_of_1, 1), OWNED_TRESPASS);
    assert_int_equal(trespass(area_of_1, 0), OWNED_TRESPASS);
    assert_int_equal(trespass(static_data, 1), OWNED_TRESPASS);
    assert_int_equal(trespass(engine_0, 1), 0);
    assert_int_equal(trespass(the_rings, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flows_live_where_they_are_home),
        cmocka_unit_test(test_no_cache_line_belongs_to_two_engines),
        cmocka_unit_test(test_a_line_in_common_would_be_seen),
        cmocka_unit_test(test_an_engine_runs_without_the_others_memory),
        cmocka_unit_test(test_a_trespass_would_be_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
