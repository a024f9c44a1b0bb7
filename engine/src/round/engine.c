/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - makes an engine and runs its rounds. The order of a round: received frames, host
 * commands, timers, notifications to hosts, transmission.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <toe/counters.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/sleep.h"
#include "batch.h"
#include "engine.h"
#include "frames/gro.h"
#include "frames/steer.h"
#include "frames/sums.h"
#include "frames/vlan.h"
#include "frames/wiretap.h"
#include "hosts/commands.h"
#include "hosts/events.h"
#include "hosts/exchange.h"
#include "hosts/expect.h"
#include "hosts/ip6.h"
#include "hosts/listen.h"
#include "hosts/qp.h"
#include "hosts/record.h"
#include "hosts/relieve.h"
#include "hosts/rx_hold.h"
#include "hosts/shared.h"
#include "hosts/trace.h"
#include "kernel/host_fence.h"
#include "kernel/numa.h"
#include "trips.h"

#define RX_BURST 64u
_Static_assert(RX_BURST <= 64, "a bit of hold.kept for each");
_Static_assert(RX_BURST <= WIRETAP_BATCH, "a place in the wiretap's batch for each");
#define FEW_FLOWS 256u            /* with fewer flows the cache keeps them without prefetching */
#define CLAIM_LOG (60 * NS_PER_S) /* between two messages about claims of our address */
#define SIDE_TIME (10 * NS_PER_MS)

static int make_descriptors(struct engine *e)
{
    struct epoll_event ev = {.events = EPOLLIN};
    int fd = netio_fd(e->netio);

    e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (e->epoll_fd < 0 || e->wake_fd < 0)
        return -1;
    ev.data.fd = e->wake_fd;
    if (epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->wake_fd, &ev) != 0)
        return -1;
    ev.data.fd = e->cfg.side_fd;
    if (e->cfg.side && epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->cfg.side_fd, &ev) != 0)
        return -1;
    ev.data.fd = fd;
    return fd < 0 ? 0 : epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static int make_stack(struct engine *e, uint64_t now, char *err, size_t err_size)
{
    static const uint8_t no_mac[6];
    void *mem;

    e->cfg.core.user = e;
    e->cfg.core.expect_send = expect_send;
    e->cfg.core.trace = trace_core;
    e->stack_size = toec_size(&e->cfg.core);
    if (e->stack_size == 0 && memcmp(e->cfg.core.mac, no_mac, 6) == 0)
        snprintf(err, err_size, "the interface has no Ethernet address: --mac gives it one");
    else if (e->stack_size == 0)
        snprintf(err, err_size, "the stack refuses this configuration (mtu %u, %u flows)",
                 e->cfg.core.mtu, e->cfg.core.max_flows);
    if (e->stack_size == 0)
        return -1;
    mem = mmap(NULL, e->stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mem == MAP_FAILED) {
        snprintf(err, err_size, "no memory: %lu MiB for %u flows", e->stack_size >> 20,
                 e->cfg.core.max_flows);
        return -1;
    }
    e->stack_mem = mem;
    /* Thousands of flows need more pages than the TLB has entries. Without huge pages this has no
     * effect. */
    (void)madvise(mem, e->stack_size, MADV_HUGEPAGE);
    e->stack = toec_init(mem, e->stack_size, &e->cfg.core, now);
    if (!e->stack)
        snprintf(err, err_size, "the stack refuses this configuration");
    return e->stack ? 0 : -1;
}

static void use_netio(struct engine *e, struct netio *n)
{
    struct netio_info info = {.flush_calls = 0};

    e->netio = n;
    if (n)
        netio_get_info(n, &info);
    e->flush_calls = info.flush_calls;
    e->recent = e->stream = 0;
    e->deaf = 0; /* its descriptor is about to join the epoll set */
}

struct engine *engine_new(const struct engine_config *cfg, uint64_t now, char *err, size_t err_size)
{
    struct engine *e = lines_calloc(1, sizeof(*e));

    if (!e) {
        snprintf(err, err_size, "no memory for an engine");
        return NULL;
    }
    e->cfg = *cfg;
    sums_choose();
    use_netio(e, cfg->netio);
    e->node = cfg->pinned ? numa_node_of(NUMA_SYS, cfg->cpu) : NUMA_ANY;
    e->orders = host_fence_wanted(cfg->spin_us);
    e->now = now;
    e->core_deadline = now;
    e->listen_check = UINT64_MAX;
    e->epoll_fd = e->wake_fd = -1;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->done, NULL);
    gate_init(&e->gate);
    e->qps = lines_calloc(cfg->max_qps, sizeof(struct qp *));
    snprintf(err, err_size, "no memory or descriptors for an engine");
    if (!e->qps || make_descriptors(e) != 0 || make_stack(e, now, err, err_size) != 0 ||
        offload_init(e, cfg->offload) != 0) {
        e->netio = NULL; /* the caller keeps it */
        engine_free(e);
        return NULL;
    }
    e->traces = traces_new(e->cfg.core.max_flows);
    if (cfg->handover)
        steer_set_engine(cfg->handover, cfg->id, e);
    return e;
}

void engine_free(struct engine *e)
{
    hold_end(e);
    if (e->netio)
        netio_close(e->netio);
    if (e->stack_mem)
        munmap(e->stack_mem, e->stack_size);
    if (e->epoll_fd >= 0)
        close(e->epoll_fd);
    if (e->wake_fd >= 0)
        close(e->wake_fd);
    offload_free(e);
    loop_free(&e->loop);
    free(e->routes);
    traces_free(e->traces);
    trips_free(e);
    free(e->exchanges);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->done);
    free(e->qps);
    free(e);
}

int engine_enlist(struct engine *e, struct qp *qp)
{
    /* Edge-triggered: each write by the host wakes the engine, without a read. The host shares the
     * descriptor and could make a read block. */
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.fd = qp->doorbell_fd};

    if (e->qp_count >= e->cfg.max_qps ||
        (qp->doorbell_fd >= 0 && epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, qp->doorbell_fd, &ev) != 0))
        return -1;
    if (!qp->trace_owner && trace_attach(qp) != 0)
        return -1;
    if (e->cfg.shared && !qp->ports) {
        qp->ports = lines_calloc(qp->cfg.slots, sizeof(*qp->ports));
        if (!qp->ports)
            return -1;
    }
    qp->engine = e;
    e->qps[e->qp_count++] = qp;
    return 0;
}

int engine_adopt(struct engine *e, struct qp *qp)
{
    if (engine_enlist(e, qp) != 0)
        return -1;
    if (e->cfg.common)
        common_begin(e->cfg.common, qp);
    qp->status->orders = (uint32_t)e->orders;
    qp->status->timed = 0;
    ip6_notify(e, qp);
    engine_count(e, EC_qp_attached);
    return 0;
}

/* Sets the wanted offloads again, as far as the new back end offers them, and its IPv6
 * addresses. */
int engine_set_netio(struct engine *e, struct netio *n)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = n ? netio_fd(n) : -1};

    if (e->netio)
        netio_close(e->netio); /* removes its descriptor from the epoll set */
    use_netio(e, n);
    if (!n)
        return 0;
    offload_set(e, e->offload.wanted);
    e->ip6_epoch = toec_own_epoch(e->stack) - 1;
    ip6_update(e);
    return ev.data.fd < 0 ? 0 : epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev);
}

/* Removes the slots of a queue pair from the list of records to refresh. */
static void forget_dirty(struct engine *e, const struct qp *qp)
{
    struct slot **at = &e->dirty_first;

    e->dirty_last = NULL;
    while (*at) {
        if ((*at)->qp == qp) {
            *at = (*at)->dirty_next;
            continue;
        }
        e->dirty_last = *at;
        at = &(*at)->dirty_next;
    }
}

static void let_go(struct engine *e, uint32_t i)
{
    struct qp *qp = e->qps[i];

    e->qps[i] = e->qps[--e->qp_count];
    if (qp->doorbell_fd >= 0)
        epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, qp->doorbell_fd, NULL);
    forget_dirty(e, qp);
    trace_detach(qp);
    engine_count(e, EC_qp_detached);
    if (qp->common)
        common_put(qp->common, COMMON_GONE, qp, NULL); /* the manager calls qp_unused */
    else if (e->cfg.qp_unused)
        e->cfg.qp_unused(e->cfg.arg, qp);
}

void engine_stop(struct engine *e)
{
    uint32_t i;

    for (i = 0; i < e->qp_count; i++) {
        qp_drop(e->qps[i]);
        e->qps[i]->abort_all = 1;
        e->qps[i]->abort_next = 0;
    }
}

uint32_t engine_flows(const struct engine *e)
{
    uint32_t i, n = 0;

    for (i = 0; i < e->qp_count; i++)
        n += e->qps[i]->cfg.slots - e->qps[i]->free_count;
    return n;
}

/* Delivers a packet to the stack. f: its frame, or NULL if it has several. */
static void input(void *arg, const struct toec_packet *p, const struct netio_frame *f)
{
    struct engine *e = arg;

    e->hold.frame = f;
    if (wiretap_on(e))
        wiretap_input(e, p, f);
    else
        toec_input(e->stack, p, e->now);
    hold_settle(e);
}

static void receive_joined(struct engine *e, const struct netio_frame *f, unsigned n)
{
    struct gro g;
    unsigned i;

    gro_begin(&g, input, e);
    for (i = 0; i < n; i++)
        if (steer_out(e, &f[i]))
            gro_frame(&g, &f[i]);
    gro_end(&g);
    e->counters[EC_gro_merged] += g.merged;
}

static void release(struct engine *e, struct netio_frame *f, unsigned n)
{
    if (wiretap_on(e))
        wiretap_end_batch(e);
    e->hold.frame = NULL; /* other input belongs to no frame */
    if (e->hold.kept)
        hold_release_batch(e, f, n);
    else
        netio_rx_release(e->netio, f, n);
}

static unsigned receive(struct engine *e)
{
    struct netio_frame f[RX_BURST];
    unsigned all = netio_rx(e->netio, f, RX_BURST, e->now), i;
    int tagged = e->cfg.vlan != 0, many;
    unsigned n = all;
    uint64_t bytes = 0;

    e->hold.batch = f;
    for (i = 0; i < all; i++) {
        tagged |= vlan_is_tagged(&f[i]);
        e->counters[EC_rx_large] += f[i].gso_size != 0;
        bytes += f[i].len;
    }
    if (all) {
        e->received.frames += all;
        e->received.bytes += bytes;
        batch_note(e, all, bytes);
        if (wiretap_on(e))
            wiretap_receive(e, f, all);
    }
    if (tagged)
        n = vlan_receive(e, f, all);
    many = n > 1 && toec_flow_count(e->stack) >= FEW_FLOWS;
    for (i = 0; many && i < n; i += TOEC_EXPECT_MAX)
        expect_frames(e, f + i, n - i < TOEC_EXPECT_MAX ? n - i : TOEC_EXPECT_MAX);
    if (n > 1 && (e->offload.active & OFFLOAD_GRO)) {
        receive_joined(e, f, n);
        release(e, f, all);
        return all;
    }
    for (i = 0; i < n; i++) {
        struct toec_packet p;

        if (!steer_out(e, &f[i]))
            continue;
        p.data = f[i].data;
        p.len = p.head_len = f[i].len;
        p.flags = f[i].flags & NETIO_F_L4_CSUM_OK ? TOEC_RX_L4_CSUM_OK : 0;
        p.opaque = NULL;
        input(e, &p, &f[i]);
    }
    if (all)
        release(e, f, all);
    return all;
}

/* Receives; of a stream, all that arrives until it pauses: one flush then sends the ACKs of all. */
static unsigned receive_burst(struct engine *e)
{
    unsigned n = receive(e), looks = 0, more;

    if (!n || !batch_streams(e))
        return n;
    while (n < STREAM_MOST && looks < STREAM_LOOKS) {
        engine_rest(STREAM_REST);
        more = receive(e);
        n += more;
        looks = more ? 0 : looks + 1;
    }
    return n;
}

/* Processes the commands of all queue pairs, beginning with another one each time. */
static unsigned serve(struct engine *e)
{
    unsigned n = 0;
    uint32_t i;

    e->qp_turn = e->qp_count ? (e->qp_turn + 1) % e->qp_count : 0;
    for (i = 0; i < e->qp_count; i++) {
        struct qp *qp = e->qps[(i + e->qp_turn) % e->qp_count];

        if (qp->leaving)
            n += qp_leave(qp); /* also one that has been halted in the meantime */
        else if (qp->halted || qp->dropped)
            n += qp_reap(qp);
        else if (!qp->notify)
            n += commands_run(qp);
    }
    if (e->listen_due || e->now >= e->listen_check)
        listen_relieve(e);
    return n;
}

static unsigned notify(struct engine *e)
{
    unsigned n = 0;
    uint32_t i;

    while (e->abort_first) {
        struct slot *s = e->abort_first;

        e->abort_first = s->abort_next;
        s->abort_queued = 0;
        if (s->doomed && s->flow)
            toec_abort(e->stack, s->flow, e->now);
    }
    for (i = e->qp_count; i-- > 0;) {
        n += events_flush(e->qps[i]);
        if (qp_unused(e->qps[i]) && event_gone(e->qps[i]))
            let_go(e, i);
    }
    return n;
}

/* Logs that another host claims our address: the failures that this causes are hard to explain
 * otherwise. */
static void notify_claims(struct engine *e)
{
    uint64_t claims = toec_counters(e->stack)[TOEC_C_arp_conflict];
    uint8_t mac[6];

    if (claims == e->claims)
        return;
    e->claims = claims;
    if (toec_ip4_state(e->stack, mac) != TOEC_IP4_OWN || e->now < e->claim_log_at)
        return;
    e->claim_log_at = e->now + CLAIM_LOG;
    log_warning("another host uses our address of IPv4: %02x:%02x:%02x:%02x:%02x:%02x", mac[0],
                mac[1], mac[2], mac[3], mac[4], mac[5]);
}

/* Completes a round after its frames have been received. */
static unsigned finish_round(struct engine *e, unsigned work)
{
    uint64_t now = e->now;

    work += steer_in(e);
    if (loop_waits(&e->loop))
        work += loop_run(e);
    work += serve(e);
    e->core_deadline = toec_poll(e->stack, now);
    ip6_update(e);
    notify_claims(e);
    work += notify(e);
    netio_tx_flush(e->netio, now);
    if (__builtin_expect(e->timed != NULL, 0))
        exchange_flushed(e);
    records_refresh(e);
    return work;
}

unsigned engine_step(struct engine *e, uint64_t now)
{
    e->now = now;
    if (offload_holds(&e->offload))
        (void)offload_push(e);
    return finish_round(e, receive_burst(e));
}

unsigned engine_poll_idle(struct engine *e, uint64_t now)
{
    unsigned work;

    if (offload_holds(&e->offload))
        (void)offload_push(e);
    e->now = now;
    work = receive_burst(e);
    if (!work && now < e->idle_until)
        return 0;
    work = finish_round(e, work);
    e->idle_until = engine_deadline(e);
    return work;
}

void run_side_hook(struct engine *e, uint64_t now)
{
    if (!e->cfg.side || now < e->side_at)
        return;
    e->side_at = now + SIDE_TIME;
    e->now = now;
    e->cfg.side(e->cfg.arg);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns when a queue pair must be served without a doorbell. */
static uint64_t qp_deadline(const struct engine *e, const struct qp *qp)
{
    if (qp->dropped || qp->halted)
        return qp->abort_next < qp->fresh ? e->now : qp->orphan_deadline;
    if (qp->leaving)
        return e->now;
    return qp->paced ? earlier(events_deadline(qp), pace_at(&qp->pace)) : events_deadline(qp);
}

uint64_t engine_deadline(const struct engine *e)
{
    uint64_t t = earlier(e->core_deadline, netio_next_event(e->netio));
    uint32_t i;

    t = earlier(t, records_deadline(e));
    t = earlier(t, e->listen_check);
    if (offload_holds(&e->offload) || loop_waits(&e->loop))
        t = e->now;
    for (i = 0; i < e->qp_count; i++)
        t = earlier(t, qp_deadline(e, e->qps[i]));
    return t;
}
