/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - the stacks of a run, the network between them, and virtual time: from a script's first
 * event to the proof that everything ends. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prop.h"

_Noreturn void prop_fail(struct world *w, const char *what, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    snprintf(w->what, sizeof(w->what), "%s", what);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is two lines above */
    vsnprintf(w->message, sizeof(w->message), format, args);
    va_end(args);
    longjmp(w->failed, 1);
}

toec_time host_now(const struct host *h)
{
    return h->world->now + h->origin;
}

/* The byte at `at` of the stream that began with this ISS. */
uint8_t pattern(uint32_t seed, uint32_t at)
{
    uint64_t x = (at >> 3) * 0x9e3779b97f4a7c15u + seed * 0x2545f4914f6cdd1du;

    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (uint8_t)(x >> ((at & 7) * 8));
}

/* ---- the network ---- */

void world_deliver(struct world *w, unsigned to, const uint8_t *data, uint32_t len, toec_time after,
                   int forged, unsigned life)
{
    struct frame *f = frame_new(data, len);

    f->at = w->now + after;
    f->to = to;
    f->forged = forged;
    f->life = life;
    frames_put(&w->net, f);
}

static void remember(struct host *h, const uint8_t *data, uint32_t len)
{
    struct frame **place = &h->history[h->sent++ % HISTORY];

    free(*place);
    *place = frame_new(data, len);
    (*place)->life = wire_life(h, data, len);
}

/* Sends a frame of h with the impairments that the script orders, except ARP. */
void net_carry(struct host *h, uint8_t *data, uint32_t len)
{
    struct world *w = h->world;
    toec_time after = (toec_time)w->script->set[S_delay] * USEC;
    int arp = is_discovery(data);

    if (w->hosts == 1) {
        w->arp_asked |= arp && asks_for_peer(data);
        return;
    }
    if (!arp) {
        remember(h, data, len);
        if (h->lose > 0) {
            h->lose--;
            return;
        }
        if (h->late > 0) {
            h->late--;
            after += h->late_by;
        }
        if (h->mark > 0 && ecn_of(data)) {
            h->mark--;
            mark_ce(data);
        }
        if (h->flip >= 0) {
            data[(uint64_t)h->flip / 8 % len] ^= (uint8_t)(1u << (h->flip & 7));
            h->flip = -1;
        }
        if (h->twice > 0) {
            h->twice--;
            world_deliver(w, 1 - h->index, data, len, after + h->twice_by, 0,
                          wire_life(h, data, len));
        }
    }
    world_deliver(w, 1 - h->index, data, len, after, 0, wire_life(h, data, len));
}

/* ---- time ---- */

static void host_give(struct host *h, const uint8_t *data, uint32_t len)
{
    struct toec_packet p;

    memset(&p, 0, sizeof(p));
    p.data = data;
    p.head_len = len;
    p.len = len;
    h->delivered++;
    toec_input(h->stack, &p, host_now(h));
    h->due = h->world->now;
}

/* The peer of "peer" mode is 02:00:00:00:00:02 at IP_B. */
static void answer_arp(struct world *w)
{
    uint8_t reply[128];

    if (w->arp_asked && !w->no_arp) {
        w->arp_asked = 0;
        host_give(&w->host[0], reply, neighbour_answer(reply));
    }
}

static void host_poll(struct host *h)
{
    struct world *w = h->world;
    uint64_t refused = h->refused, actions;
    toec_time now = host_now(h), due = toec_poll(h->stack, now);

    if (due <= now && h->refused == refused) {
        actions = h->actions;
        due = toec_poll(h->stack, now);
        if (due <= now && h->refused == refused && h->actions == actions)
            prop_fail(w, "deadline", "poll asks to be called now, twice, and does nothing");
    }
    check_deadline(h, due);
    if (due == TOEC_NEVER)
        h->due = TOEC_NEVER;
    else
        h->due = due <= now ? w->now + 10 * USEC : due - h->origin;
    answer_arp(w);
}

void world_give(struct world *w)
{
    while (frames_due(&w->net, w->now)) {
        struct frame *f = frames_take(&w->net);
        struct host *h = &w->host[f->to];

        if (w->hosts == 2 &&
            (f->forged ? wire_is_pointless(h, f) : wire_is_stale(&w->host[1 - f->to], f))) {
            free(f);
            continue;
        }
        w->in = f;
        wire_in(h, f->data, f->len, f->forged);
        host_give(h, f->data, f->len);
        check_host(h);
        w->in = 0;
        free(f);
    }
}

/* At the end every owner reads all available bytes. */
static void read_all(struct world *w)
{
    unsigned i, j;

    for (i = 0; i < w->hosts; i++) {
        for (j = 0; j < w->host[i].conns; j++) {
            struct conn *c = w->host[i].conn[j];

            if (c->flow && !c->closed && c->received > c->read)
                conn_recv(c, UINT64_MAX);
        }
    }
}

/* Events up to the end of duration. */
void world_run(struct world *w, toec_time duration)
{
    toec_time until = w->now + duration;
    unsigned steps = 0;

    for (;;) {
        toec_time next = TOEC_NEVER;
        unsigned i;

        for (i = 0; i < w->hosts; i++) {
            if (w->host[i].due < next)
                next = w->host[i].due;
        }
        if (frames_due(&w->net, next))
            next = w->net.heap[0]->at;
        if (next > until)
            break;
        if (next > w->now)
            w->now = next;
        world_give(w);
        if (w->fair)
            read_all(w);
        for (i = 0; i < w->hosts; i++) {
            if (w->host[i].due <= w->now) {
                host_poll(&w->host[i]);
                check_host(&w->host[i]);
            }
        }
        if (++steps > 400000)
            prop_fail(w, "storm", "400000 steps within %llu ms", duration / MSEC);
    }
    w->now = until;
}

/* ---- begin, finish, end ---- */

static void host_make(struct world *w, unsigned i, toec_time origin)
{
    const int64_t *set = w->script->set;
    struct host *h = &w->host[i];
    unsigned long size;
    unsigned j;

    h->world = w;
    h->index = i;
    h->flip = -1;
    h->origin = origin;
    h->tx_buf = (uint32_t)set[i ? S_tx1 : S_tx0];
    h->rx_buf = (uint32_t)set[i ? S_rx1 : S_rx0];
    h->cfg.user = h;
    h->cfg.mac[0] = 2;
    h->cfg.mac[5] = (uint8_t)(i + 1);
    h->cfg.mtu = (toec_u32)set[i ? S_mtu1 : S_mtu0];
    if (prop_ip6) {
        h->cfg.ip6 = TOEC_IP6_STATIC;
        own_address(i, h->cfg.ip6_addr);
        h->cfg.ip6_prefix_len = 64;
        h->cfg.mtu = h->cfg.mtu < 1280 ? 1280 : h->cfg.mtu;
    } else {
        put32(h->cfg.ip, IP_A + i);
        h->cfg.prefix_len = 24;
    }
    h->cfg.max_gso = (toec_u32)set[i ? S_gso1 : S_gso0];
    h->cfg.cc = (enum toec_cc)set[i ? S_cc1 : S_cc0];
    h->cfg.ecn = (enum toec_ecn_policy)set[i ? S_ecn1 : S_ecn0];
    h->cfg.max_flows = (toec_u32)set[S_flows];
    h->cfg.max_records = 1 + (toec_u32)set[S_secret] % h->cfg.max_flows;
    h->cfg.max_time_wait = (toec_u32)set[S_tw];
    h->cfg.max_listeners = HOST_LISTENERS;
    h->cfg.max_neighbours = 8;
    h->cfg.max_datagrams = 2;
    for (j = 0; j < sizeof(h->cfg.secret); j++)
        h->cfg.secret[j] = (uint8_t)(set[S_secret] * 13 + i * 31 + j * 7);
    size = toec_size(&h->cfg);
    if (size == 0)
        prop_fail(w, "config", "the configuration of host %u is refused", i);
    h->mem = must(aligned_alloc(64, (size + 63) / 64 * 64));
    memset(h->mem, 0xa5, size);
    h->stack = toec_init(h->mem, size, &h->cfg, host_now(h));
    h->due = w->now;
}

static void world_free(struct world *w)
{
    unsigned i, j;

    for (i = 0; i < w->hosts; i++) {
        struct host *h = &w->host[i];

        for (j = 0; j < h->conns; j++) {
            free(h->conn[j]->rx);
            free(h->conn[j]);
        }
        for (j = 0; j < HISTORY; j++)
            free(h->history[j]);
        free(h->mem);
    }
    frames_free(&w->net);
    free(w);
}

/* A reliable network and owners that read: everything must finish. */
static void drive(struct world *w, int close_all)
{
    unsigned i, j;

    for (i = 0; i < w->hosts; i++) {
        struct host *h = &w->host[i];

        for (j = 0; j < h->conns; j++) {
            struct conn *c = h->conn[j];

            if (!c->flow)
                continue;
            if (!c->closed)
                conn_recv(c, UINT64_MAX);
            if (!c->shut && !c->closed && c->established) {
                c->shut = 1;
                if (toec_shutdown(h->stack, c->flow, host_now(h)))
                    prop_fail(w, "refused", "shutdown");
            }
            if ((close_all || c->peer_closed) && !c->closed && c->flow) {
                c->closed = 1;
                if (toec_close(h->stack, c->flow, host_now(h)))
                    prop_fail(w, "refused", "close");
            }
            h->due = w->now;
        }
    }
}

static int conn_again(const struct conn *c)
{
    return wflow_of(c->host, c->lport, c->rport)->again;
}

static void check_stuck(struct world *w, int all)
{
    unsigned i, j;

    for (i = 0; i < w->hosts; i++) {
        for (j = 0; j < w->host[i].conns; j++) {
            struct conn *c = w->host[i].conn[j];
            struct conn *p = conn_partner(c);
            struct toec_info info;

            /* of two of which one knows less than the other has seen acknowledged, R2 is the end */
            if (!c->flow || (!all && (!p || conn_again(c) || conn_again(p))))
                continue;
            toec_flow_info(w->host[i].stack, c->flow, &info);
            prop_fail(w, "stuck",
                      "host %u port %u: state %u sent %llu acked %llu received %llu cwnd %u wnd %u "
                      "in flight %u rto %u us",
                      i, c->lport, info.state, (unsigned long long)c->sent,
                      (unsigned long long)c->acked, (unsigned long long)c->received, info.cwnd,
                      info.snd_wnd, info.in_flight, info.rto_us);
        }
    }
}

/* Both streams of a normally ended flow arrived complete. */
static void check_streams(struct world *w)
{
    unsigned i, j;

    for (i = 0; i < w->hosts; i++) {
        for (j = 0; j < w->host[i].conns; j++) {
            struct conn *c = w->host[i].conn[j];

            if (c->peer_closed && !c->closed)
                conn_recv(c, UINT64_MAX);
        }
    }
}

static void finish(struct world *w)
{
    unsigned i, step;

    for (i = 0; i < w->hosts; i++) {
        struct host *h = &w->host[i];

        h->refuse = h->lose = h->late = h->twice = h->mark = 0;
        h->flip = -1;
        h->no_open = 0;
        while (h->listeners) {
            toec_unlisten(h->stack, h->listener[--h->listeners].id);
            h->due = w->now;
        }
    }
    w->no_arp = 0;
    w->fair = 1;
    for (step = 0; step < 12 && w->hosts == 2; step++) {
        drive(w, 0);
        world_run(w, step < 4 ? 5 * SEC : 80 * SEC);
        if (w->host[0].open_now + w->host[1].open_now == 0)
            break;
    }
    if (w->hosts == 2)
        check_stuck(w, 0);
    for (step = 0; step < 24; step++) {
        drive(w, 1);
        world_run(w, 100 * SEC);
        if (w->host[0].open_now + w->host[1].open_now == 0)
            break;
    }
    check_stuck(w, 1);
    check_streams(w);
    world_run(w, 200 * SEC); /* TIME-WAIT */
    w->over = 1;
    for (i = 0; i < w->hosts; i++) {
        struct toec_usage u;

        check_host(&w->host[i]);
        toec_usage(w->host[i].stack, &u);
        if (u.flows || u.half_open || u.time_wait || u.listeners || u.datagrams)
            prop_fail(w, "pools", "left: flows %u half open %u TIME-WAIT %u listeners %u", u.flows,
                      u.half_open, u.time_wait, u.listeners);
    }
}

#define SETTLE (4 * SEC) /* until addresses of IPv6 may be used */

static void hosts_make(struct world *w, const toec_time *origin)
{
    unsigned i;

    for (i = 0; i < 2 && i < w->hosts; i++)
        host_make(w, i, origin[i]);
    if (prop_ip6)
        world_run(w, SETTLE);
}

/* The first flow's ISS depends on the clock, so the clock is chosen. */
static void choose_origins(const struct script *s, toec_time origin[2])
{
    static const enum setting iss[2] = {S_iss0, S_iss1}, tick[2] = {S_tick0, S_tick1};
    struct world *w;
    unsigned i;

    for (i = 0; i < 2; i++)
        origin[i] =
            (s->set[tick[i]] ? (1ull << 52) - (toec_time)s->set[tick[i]] * MSEC : 1000 * SEC) -
            (prop_ip6 ? SETTLE : 0);
    if (!s->set[S_iss0] && !s->set[S_iss1])
        return;
    w = must(calloc(1, sizeof(*w)));
    w->script = s;
    w->hosts = 2;
    if (setjmp(w->failed) == 0) {
        struct toec_addr any;
        toec_u32 id;

        hosts_make(w, origin);
        memset(&any, 0, sizeof(any));
        toec_listen(w->host[1].stack, &any, 80, &w->host[1], 0, &id);
        host_connect(&w->host[0], 40000, 80);
        world_run(w, SEC);
        for (i = 0; i < 2; i++) {
            struct wflow *f = wflow_of(&w->host[i], i ? 80 : 40000, i ? 40000 : 80);

            /* RFC 6528: one more each 4096 ns in this stack */
            if (s->set[iss[i]] && f->live)
                origin[i] += (toec_time)(uint32_t)(0u - (uint32_t)s->set[iss[i]] - f->iss) << 12;
        }
    }
    world_free(w);
}

static void play(struct world *w, const toec_time *origin)
{
    const struct script *s = w->script;
    unsigned i;

    hosts_make(w, origin);
    for (w->at = 0; w->at < s->n; w->at++) {
        if (w->trace) {
            printf("%12.6f ", (double)w->now / 1e9);
            event_print(&s->ev[w->at], stdout);
        }
        world_apply(w, &s->ev[w->at]);
        for (i = 0; i < w->hosts; i++)
            check_host(&w->host[i]);
    }
    if (w->trace)
        printf("%12.6f finish\n", (double)w->now / 1e9);
    finish(w);
}

int world_try(const struct script *s, int trace, char *what, char *message)
{
    struct world *w = must(calloc(1, sizeof(*w)));
    toec_time origin[2] = {0, 0};

    prop_ip6 = s->set[S_ip6] != 0;
    choose_origins(s, origin);
    w->script = s;
    w->hosts = s->set[S_mode] ? 1 : 2;
    w->trace = trace;
    if (setjmp(w->failed) == 0) {
        play(w, origin);
        world_free(w);
        return 0;
    }
    snprintf(what, WHAT_MAX, "%s", w->what);
    snprintf(message, MESSAGE_MAX, "event %u of %u, %.6f s: %s", w->at, s->n, (double)w->now / 1e9,
             w->message);
    world_free(w);
    return 1;
}
