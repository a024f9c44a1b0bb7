/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.c - one queue of frames for several processes of one address: workers(N):SPEC
 *
 * One worker opens SPEC and steers: it receives for all, and hands frames to the others by rings in
 * shared memory; what they send reaches it by rings too. When it ends another one takes over
 * (workers_lead.c). Connections stay with the worker that has them; the steering worker learns
 * which it is from the SYNs that workers send (workers_table.h). New connections are spread over
 * the workers that listen on the port.
 *
 * A frame of another worker is copied out of the ring before it is parsed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <toe/number.h>

#include "workers.h"
#include "workers_steer.h"
#include "workers_table.h"

#define FORWARD_MAX 64u     /* frames of one worker to send, between two of others */
#define RETRY_NS    100000u /* delay until a full ring may have room again */

static struct workers *self(struct netio *n)
{
    return (struct workers *)n;
}

/* ---- the rings ---- */

/* Copies the frame at the tail of a ring to `to`. Returns its length, 0: it is not a frame. */
static uint32_t copy_tail(const struct workers *w, uint32_t number, unsigned ring, uint8_t *to,
                          uint32_t cap, uint32_t *flags)
{
    struct workers_ring *r = workers_ring(w, number, ring);
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint32_t at = tail % WORKERS_RING;
    uint32_t len = atomic_load_explicit(&r->slots[at].len, memory_order_relaxed);

    *flags = atomic_load_explicit(&r->slots[at].flags, memory_order_relaxed) & NETIO_F_L4_CSUM_OK;
    if (len < ETH_HEADER || len > w->g.stride || len > cap)
        return 0;
    memcpy(to, group_frame(&w->g, number, ring, tail), len);
    return len;
}

static void pop(const struct workers *w, uint32_t number, unsigned ring)
{
    struct workers_ring *r = workers_ring(w, number, ring);

    atomic_fetch_add_explicit(&r->tail, 1, memory_order_release);
}

static void wake(struct workers *w, uint32_t number)
{
    if (atomic_load(&w->g.shm->members[number].sleeping) &&
        atomic_exchange(&w->g.shm->members[number].sleeping, 0))
        group_wake(&w->g, number);
}

static void wake_pushed(struct workers *w)
{
    for (; w->pushed; w->pushed &= w->pushed - 1)
        wake(w, (uint32_t)__builtin_ctzll(w->pushed));
}

/* ---- steering ---- */

static unsigned receive_and_steer(struct workers *w, struct netio_frame *frames, unsigned max)
{
    unsigned n = netio_rx(w->inner, frames, max, w->last_ns), own = 0, i;
    int alone = w->alive == (uint64_t)1 << w->g.number && !w->closing;

    for (i = 0; i < n; i++) {
        if (alone || steer_frame(w, &frames[i]))
            frames[own++] = frames[i];
        else
            netio_rx_release(w->inner, &frames[i], 1);
    }
    for (i = 0; i < own; i++) {
        w->n.stats.rx_frames++;
        w->n.stats.rx_bytes += frames[i].len;
    }
    wake_pushed(w);
    return own;
}

/* Sends frames of another worker, living or dead. Returns how many. */
static unsigned forward(struct workers *w, uint32_t number)
{
    uint32_t waiting = workers_waiting(workers_ring(w, number, WORKERS_TX)), flags, n;
    struct netio_frame f;

    for (n = 0; n < waiting && n < FORWARD_MAX; n++) {
        if (netio_tx_alloc(w->inner, &f) != 0) {
            w->blocked = 1;
            return n;
        }
        f.flags &= NETIO_F_L4_CSUM_OK; /* the worker has computed it */
        f.len = copy_tail(w, number, WORKERS_TX, f.data, f.cap, &flags);
        pop(w, number, WORKERS_TX);
        if (f.len == 0) {
            netio_tx_cancel(w->inner, &f);
            w->n.stats.tx_dropped++;
            continue;
        }
        steer_learn(w, f.data, f.len, number);
        netio_tx_submit(w->inner, &f, w->last_ns);
    }
    return n;
}

static void forward_all(struct workers *w)
{
    unsigned n = 0;
    uint32_t i;

    for (i = 0; i < w->g.count; i++) /* this one too: from before it steered */
        n += forward(w, i);
    if (n)
        netio_tx_flush(w->inner, w->last_ns);
}

/* ---- receiving ---- */

/* Returns whether a handed-over frame opens a connection to a port that this worker no longer
 * serves. It would reject it; the peer's next attempt reaches another worker. */
static int is_late(const struct workers *w, const struct netio_frame *f)
{
    struct seen s;

    workers_look(f->data, f->len, 1, w->g.shm->key, &s); /* cheap for most */
    if (s.kind != SEEN_FLOW || !steer_is_first(&s))
        return 0;
    workers_look(f->data, f->len, 0, w->g.shm->key, &s);
    return !group_part(&w->g, w->g.number)->ports[s.ip6][s.port] &&
           table_peek(w->g.shm, s.hash) != w->g.number;
}

/* Copies handed-over frames out of the ring. */
static unsigned take(struct workers *w, struct netio_frame *frames, unsigned max)
{
    uint32_t waiting = workers_waiting(workers_ring(w, w->g.number, WORKERS_RX)), offset;
    unsigned n = 0;

    for (; waiting && n < max && pool_get(&w->pool, &offset) == 0; waiting--) {
        struct netio_frame *f = &frames[n];

        *f =
            (struct netio_frame){.data = w->pool.mem + offset, .cap = w->g.stride, .token = offset};
        f->len = copy_tail(w, w->g.number, WORKERS_RX, f->data, f->cap, &f->flags);
        pop(w, w->g.number, WORKERS_RX);
        if (f->len == 0 || is_late(w, f)) {
            pool_put(&w->pool, offset);
            w->n.stats.rx_dropped++;
            continue;
        }
        w->n.stats.rx_frames++;
        w->n.stats.rx_bytes += f->len;
        n++;
    }
    return n;
}

static unsigned workers_rx(struct netio *n, struct netio_frame *frames, unsigned max,
                           uint64_t now_ns)
{
    struct workers *w = self(n);

    w->last_ns = now_ns;
    w->blocked = 0;
    if (w->asleep) {
        w->asleep = w->keep;
        atomic_store(&w->g.shm->members[w->g.number].sleeping, (uint32_t)w->keep);
    }
    if (now_ns >= w->service_ns)
        lead_service(w);
    if (!w->steers)
        return take(w, frames, max);
    forward_all(w);
    return receive_and_steer(w, frames, max);
}

static void workers_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    struct workers *w = self(n);
    unsigned i;

    if (w->steers) {
        netio_rx_release(w->inner, frames, count);
        return;
    }
    for (i = 0; i < count; i++)
        pool_put(&w->pool, (uint32_t)frames[i].token);
}

/* The role changes in workers_rx() only, and never back: a held frame is one of inner. */
static int workers_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    return self(n)->steers ? netio_rx_hold(self(n)->inner, frame) : -1;
}

static void workers_rx_unhold(struct netio *n, uintptr_t token)
{
    netio_rx_unhold(self(n)->inner, token);
}

/* ---- sending ---- */

static int workers_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct workers *w = self(n);
    struct workers_ring *r = workers_ring(w, w->g.number, WORKERS_TX);
    uint32_t head;

    if (w->steers)
        return netio_tx_alloc(w->inner, frame);
    head = atomic_load_explicit(&r->head, memory_order_relaxed);
    w->blocked = head - atomic_load(&r->tail) >= WORKERS_RING;
    if (w->blocked)
        return -1;
    *frame = (struct netio_frame){.data = group_frame(&w->g, w->g.number, WORKERS_TX, head),
                                  .cap = w->g.stride};
    return 0;
}

static void workers_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    struct workers *w = self(n);
    struct workers_ring *r = workers_ring(w, w->g.number, WORKERS_TX);
    uint32_t head;

    w->n.stats.tx_frames++;
    w->n.stats.tx_bytes += frame_total(frame);
    if (w->steers) {
        steer_learn(w, frame->data, frame->len, w->g.number);
        netio_tx_submit(w->inner, frame, now_ns);
        return;
    }
    head = atomic_load_explicit(&r->head, memory_order_relaxed);
    atomic_store_explicit(&r->slots[head % WORKERS_RING].len, frame->len, memory_order_relaxed);
    atomic_store_explicit(&r->slots[head % WORKERS_RING].flags, 0, memory_order_relaxed);
    atomic_store(&r->head, head + 1);
    w->pushed = 1;
}

static void workers_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    if (self(n)->steers)
        netio_tx_cancel(self(n)->inner, frame);
}

static void workers_tx_flush(struct netio *n, uint64_t now_ns)
{
    struct workers *w = self(n);
    uint32_t number;

    if (w->steers) {
        netio_tx_flush(w->inner, now_ns);
        return;
    }
    if (!w->pushed)
        return;
    w->pushed = 0;
    number = atomic_load(&w->g.shm->steerer_number);
    if (number < w->g.count)
        wake(w, number);
}

/* ---- sleeping ---- */

static int has_work(const struct workers *w)
{
    uint32_t i;

    if (!w->steers)
        return workers_waiting(workers_ring(w, w->g.number, WORKERS_RX)) != 0;
    if (w->blocked) /* workers_next_event() says when */
        return 0;
    for (i = 0; i < w->g.count; i++)
        if (workers_waiting(workers_ring(w, i, WORKERS_TX)))
            return 1;
    return 0;
}

/* A caller may watch netio_fd() for edges only, so what made it readable is taken here. */
static int workers_prepare_sleep(struct netio *n)
{
    struct workers *w = self(n);

    group_drain(&w->g);
    if (lead_has_news(w))
        return 1;
    w->asleep = 1;
    atomic_store(&w->g.shm->members[w->g.number].sleeping, 1);
    if (has_work(w))
        return 1;
    return w->steers ? netio_prepare_sleep(w->inner) : 0;
}

static void workers_keep_waking(struct netio *n, int on)
{
    struct workers *w = self(n);

    w->keep = on;
    if (w->steers)
        netio_keep_waking(w->inner, on);
}

static uint64_t workers_next_event(const struct netio *n)
{
    const struct workers *w = (const struct workers *)n;
    uint64_t at = lead_deadline(w), inner = UINT64_MAX;

    if (w->steers)
        inner = netio_next_event(w->inner);
    if (inner < at)
        at = inner;
    return w->blocked && w->last_ns + RETRY_NS < at ? w->last_ns + RETRY_NS : at;
}

/* ---- the rest ---- */

static void workers_listens(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    struct workers *w = self(n);
    _Atomic uint8_t *place = &group_part(&w->g, w->g.number)->ports[!!ip6][port];

    if (atomic_exchange(place, (uint8_t)how) == NETIO_LISTEN_SERVES && how == NETIO_LISTEN_NOT) {
        group_note_closed(&w->g, ip6, port);
        w->closing = 1;
    }
}

static void workers_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count)
{
    struct workers *w = self(n);

    w->ip6_count = count < NETIO_IP6_MAX ? count : NETIO_IP6_MAX;
    memcpy(w->ip6, addrs, w->ip6_count * sizeof(w->ip6[0]));
    if (w->steers)
        netio_set_ip6(w->inner, addrs, count);
}

static int workers_tend(struct netio *n, const struct netio_err *text)
{
    return self(n)->steers ? netio_tend(self(n)->inner, text->text, text->size) : 0;
}

static void workers_set_features(struct netio *n)
{
    if (self(n)->steers)
        (void)netio_set_features(self(n)->inner, n->features);
}

static void workers_add_stats(const struct netio *n, struct netio_stats *out)
{
    const struct workers *w = (const struct workers *)n;
    struct netio_stats inner;

    if (!w->steers)
        return;
    netio_get_stats(w->inner, &inner);
    out->rx_dropped += inner.rx_dropped;
    out->tx_dropped += inner.tx_dropped;
}

static void workers_close(struct netio *n)
{
    struct workers *w = self(n);

    if (w->inner)
        netio_close(w->inner);
    group_leave(&w->g); /* after it: the next one opens the interface */
    if (w->steerer_fd >= 0)
        close(w->steerer_fd);
    if (w->set >= 0)
        close(w->set);
    pool_free(&w->pool);
    free(w);
}

static void workers_forget(struct netio *n)
{
    group_forget(&self(n)->g);
}

static const struct netio_ops ops = {
    .close = workers_close,
    .rx = workers_rx,
    .rx_release = workers_rx_release,
    .rx_hold = workers_rx_hold,
    .rx_unhold = workers_rx_unhold,
    .tx_alloc = workers_tx_alloc,
    .tx_submit = workers_tx_submit,
    .tx_cancel = workers_tx_cancel,
    .tx_flush = workers_tx_flush,
    .prepare_sleep = workers_prepare_sleep,
    .keep_waking = workers_keep_waking,
    .next_event = workers_next_event,
    .set_ip6 = workers_set_ip6,
    .tend = workers_tend,
    .listens = workers_listens,
    .forget = workers_forget,
    .set_features = workers_set_features,
    .add_stats = workers_add_stats,
};

static int parse(const char *text, const char *inner, const struct netio_config *cfg,
                 uint64_t *count, const struct netio_err *err)
{
    if (!toe_number(text, 2, WORKERS_MAX, count, NULL, 0)) {
        netio_err_set(err,
                      "workers(%s): write workers(N):SPEC, N from 2 to %u: the most processes of "
                      "the address at once, old ones beside new ones included",
                      text, WORKERS_MAX);
        return -1;
    }
    if (!cfg->group || !cfg->group->claims[0]) {
        netio_err_set(err,
                      "workers(%s): only for an engine within a program (--engine inline or "
                      "thread), and not within another specification",
                      text);
        return -1;
    }
    if (cfg->shared || strlen(inner) >= WORKERS_SPEC || strncmp(inner, "workers(", 8) == 0) {
        netio_err_set(err,
                      "workers(%s):%s: not with --ip shared, within itself, or with more than "
                      "%u characters",
                      text, inner, WORKERS_SPEC - 1);
        return -1;
    }
    return 0;
}

struct netio *workers_open(const char *text, const char *inner, const struct netio_config *cfg,
                           const struct netio_err *err)
{
    struct workers *w;
    uint64_t count;

    if (parse(text, inner, cfg, &count, err) != 0)
        return NULL;
    w = lines_calloc(1, sizeof(*w));
    if (!w) {
        netio_err_set(err, "workers: out of memory");
        return NULL;
    }
    w->n.ops = &ops;
    w->n.fd = w->set = w->steerer_fd = -1;
    w->cfg = *cfg;
    w->cfg.group = NULL;
    snprintf(w->spec, sizeof(w->spec), "%s", inner);
    if (lead_join(w, cfg->group, (uint32_t)count, err) != 0) {
        workers_close(&w->n);
        return NULL;
    }
    return &w->n;
}
