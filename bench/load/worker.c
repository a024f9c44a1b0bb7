/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - the loop of a client thread: due requests, events, and the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common.h"
#include "connect.h"
#include "exchange.h"
#include "schedule.h"
#include "stream.h"
#include "worker.h"

#define EVENTS 256
/* The longest sleep: interrupts and the end of a second are checked this often. */
#define SLEEP_NS (50 * LOAD_NS_PER_MS)
/* Due requests to search for one that can begin. */
#define LOOK_AHEAD 64u
#define LARGE      ((size_t)2 << 20) /* a huge page */

/* Returns this worker's share of a number. */
static uint32_t share(uint32_t whole, uint32_t threads, uint32_t id)
{
    return whole / threads + (id < whole % threads);
}

/* Makes a random order of the active connections, the same in each run. In memory order, hardware
 * prefetching would hide the cache misses. */
static int make_order(struct worker *w)
{
    uint64_t x = 88172645463325252u; /* xorshift (Marsaglia 2003) */
    uint32_t i;

    w->order = malloc(w->active * sizeof *w->order);
    for (i = 0; w->order && i < w->active; i++) {
        uint32_t k;

        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        k = (uint32_t)(x % (i + 1));
        if (k < i)
            w->order[i] = w->order[k];
        w->order[k] = i;
    }
    return w->order ? 0 : -1;
}

/* Allocates zeroed connections, on huge pages if there are many and the kernel has huge pages. */
static struct conn *make_conns(size_t n)
{
    size_t size = (n * sizeof(struct conn) + LARGE - 1) & ~(size_t)(LARGE - 1);
    struct conn *c;

    if (n * sizeof(struct conn) < LARGE)
        size = n * sizeof(struct conn);
    c = aligned_alloc(size < LARGE ? sizeof(struct conn) : LARGE, size);
    if (!c)
        return NULL;
    if (size >= LARGE)
        (void)madvise(c, size, MADV_HUGEPAGE);
    memset(c, 0, size);
    return c;
}

int worker_init(struct worker *w, struct run *run, uint32_t id)
{
    const struct load_options *o = run->o;
    uint32_t i;

    memset(w, 0, sizeof *w);
    w->o = o;
    w->run = run;
    w->id = w->next_port = id;
    w->active = w->alive = share(o->connections, o->threads, id);
    w->idle = share(o->idle, o->threads, id);
    w->gap = o->rate > 0 ? (double)LOAD_NS_PER_S * o->threads / o->rate : 0;
    w->expect_length = o->expect_length;
    w->ready_last = &w->ready_first;
    w->conns = make_conns((size_t)w->active + w->idle);
    w->buffer = malloc(WORKER_BUFFER);
    w->ep = -1;
    if (tally_init(&w->tally) != 0 || !w->conns || !w->buffer ||
        (o->at_once && make_order(w) != 0)) {
        load_message("no memory for %u connections", w->active + w->idle);
        return -1;
    }
    for (i = 0; i < w->active + w->idle; i++) {
        w->conns[i].fd = -1;
        w->conns[i].index = i;
        w->conns[i].idle = i >= w->active;
    }
    return 0;
}

void worker_free(struct worker *w)
{
    uint32_t i;

    for (i = 0; w->conns && i < w->active + w->idle; i++) {
        conn_close(w, &w->conns[i], false);
        free(w->conns[i].http.head);
    }
    if (w->ep >= 0)
        w->o->calls->close(w->ep);
    free(w->conns);
    free(w->order);
    free(w->buffer);
    free(w->first_body);
    tally_free(&w->tally);
}

/* Assigns due requests to the connections in turn, busy or not. */
static void issue(struct worker *w)
{
    while (w->gap > 0 && !w->stopping) {
        uint64_t due = worker_due_at(w, w->issued);
        struct conn *c = &w->conns[w->issued % w->active];

        if (due > w->now || due >= w->t_end)
            break;
        w->issued++;
        c->due++;
        if (c->state == CONN_DEAD)
            tally_fail(&w->tally, ENOTCONN);
        else if (c->state == CONN_FREE)
            worker_again(w, c);
    }
}

/* Begins the queued exchanges. A connection that finishes at once is queued again at the end. */
static void begin_ready(struct worker *w)
{
    while (w->ready_first && !w->run->gave_up) {
        struct conn *c = w->ready_first;

        w->ready_first = c->next_ready;
        if (!w->ready_first)
            w->ready_last = &w->ready_first;
        c->queued = false;
        if (c->state != CONN_FREE)
            continue;
        if (w->gap == 0 && !w->stopping && w->now < w->t_end)
            exchange_begin(w, c, w->now);
        else if (w->gap > 0 && c->taken < c->due) {
            uint64_t due = worker_due_at(w, c->taken++ * w->active + c->index);

            exchange_begin(w, c, due);
        }
        if (w->o->fresh)
            w->now = load_clock();
    }
}

/* Returns when the next request is due on a connection that is not busy. A request on a busy one
 * begins with the answer; waking up earlier would take the core from the server. */
static uint64_t next_due(const struct worker *w)
{
    uint64_t number = w->issued, end = number + LOOK_AHEAD;

    if (w->under_way >= w->alive)
        return UINT64_MAX;
    while (number < end && w->conns[number % w->active].busy)
        number++;
    return worker_due_at(w, number);
}

/* Returns how long the client may sleep, in nanoseconds. */
static uint64_t sleep_ns(const struct worker *w)
{
    uint64_t until = w->now + SLEEP_NS, due;

    if (w->o->busy || w->ready_first)
        return 0;
    if (!w->stopping && w->t_end < until)
        until = w->t_end;
    if (w->gap > 0 && !w->stopping) {
        due = next_due(w);
        until = due < until ? due : until;
    }
    return until <= w->now ? 0 : until - w->now;
}

/* Sleeps until an event or the next due request. Polling would take the core from a TOE that shares
 * it. */
static int wait_events(struct worker *w, struct epoll_event *ev)
{
    uint64_t left = sleep_ns(w);
    const struct timespec t = {0, (long)left};
    int n;

    if (left && !w->coarse) {
        n = w->o->calls->epoll_pwait2(w->ep, ev, EVENTS, &t, NULL);
        if (n >= 0 || errno != ENOSYS)
            return n;
        w->coarse = true; /* before Linux 5.11: poll for the rest of a millisecond */
    }
    return w->o->calls->epoll_wait(w->ep, ev, EVENTS, (int)(left / LOAD_NS_PER_MS));
}

static void idle_event(struct worker *w, struct conn *c)
{
    char byte;
    ssize_t n = w->o->calls->recv(c->fd, &byte, 1, 0);

    if (n < 0 && errno == EAGAIN)
        return;
    tally_fail(&w->tally, n < 0 ? errno : n == 0 ? FAIL_EOF : FAIL_LENGTH);
    w->tally.idle_lost++;
    conn_close(w, c, true);
    c->state = CONN_DEAD;
}

static void handle(struct worker *w, struct conn *c, uint32_t events)
{
    if (c->fd < 0)
        return; /* closed by an earlier event of this batch */
    if (c->idle)
        idle_event(w, c);
    else if (w->o->mode == LOAD_BULK)
        stream_event(w, c, events);
    else
        exchange_event(w, c, events);
}

/* Returns the number of missing answers and of missing FINs of the peer. */
static uint64_t waiting(const struct worker *w)
{
    uint64_t n = w->under_way;
    uint32_t i;

    for (i = 0; (w->gap > 0 || w->o->close == CLOSE_WAIT) && i < w->active; i++) {
        n += w->conns[i].state == CONN_ENDING;
        if (w->conns[i].state != CONN_DEAD)
            n += w->conns[i].due - w->conns[i].taken;
    }
    return n;
}

/* Reports progress once a second in runs of more than two seconds. */
static void progress(struct worker *w)
{
    const struct load_options *o = w->o;
    double s = (double)(w->now - w->t_record) / 1e9;
    uint64_t second = (w->now - w->t_start) / LOAD_NS_PER_S;
    bool bulk = o->mode == LOAD_BULK;

    if (o->quiet || w->id != 0 || w->reported_second == second)
        return;
    w->reported_second = second;
    if (!isatty(STDERR_FILENO) || (o->warmup_ns + o->time_ns <= 2 * LOAD_NS_PER_S && second < 2))
        return;
    if (w->stopping) {
        fprintf(stderr, "\r\033[Kwaiting for answers: %llu", (unsigned long long)waiting(w));
        return;
    }
    if (w->now < w->t_record) {
        fprintf(stderr, "\r\033[Kwarming up: %llu of %.0f s", (unsigned long long)second,
                (double)o->warmup_ns / 1e9);
        return;
    }
    fprintf(stderr, "\r\033[K%.0f of %.0f s, %.0f %s/s%s", s, (double)o->time_ns / 1e9,
            (double)(bulk ? w->tally.bytes_in_window >> 20 : w->tally.in_window) / (s > 0 ? s : 1),
            bulk                    ? "MiB"
            : o->mode == LOAD_CONNS ? "connections"
                                    : "requests",
            o->threads > 1 ? " (first thread)" : "");
}

/* Stores the histogram of each second that has passed. */
static void tick(struct worker *w)
{
    uint64_t second;

    if (w->now < w->t_record || w->now >= w->t_end)
        return;
    second = (w->now - w->t_record) / LOAD_NS_PER_S;
    if (second == w->tally.second)
        return;
    if (tally_next(&w->tally, second) != 0) {
        load_message("no memory for a second's histogram");
        w->run->gave_up = 1;
    }
}

static void stop(struct worker *w)
{
    w->stopping = true;
    w->ended = w->now < w->t_end ? w->now : w->t_end;
    if (w->now < w->t_end)
        w->t_end = w->now; /* interrupted, or all connections failed */
    if (w->o->mode == LOAD_BULK)
        streams_end(w);
}

static void measure(struct worker *w)
{
    struct epoll_event ev[EVENTS];
    uint64_t limit = UINT64_MAX;
    int n, i;

    for (;;) {
        issue(w);
        begin_ready(w);
        n = wait_events(w, ev);
        w->now = load_clock();
        for (i = 0; i < n; i++)
            handle(w, ev[i].data.ptr, ev[i].events);
        tick(w);
        progress(w);
        if (!w->stopping && (w->now >= w->t_end || w->run->gave_up || load_interrupted)) {
            issue(w); /* requests that became due while we waited count */
            stop(w);
            limit = w->now + w->o->timeout_ns;
        }
        if (w->stopping && (w->now >= limit || w->run->gave_up || waiting(w) == 0))
            return;
    }
}

/* Records a missing answer by its age, the lower bound of its latency; in the warm-up only counts
 * it. */
static void unanswered(struct worker *w, uint64_t since)
{
    w->tally.unanswered++;
    if (worker_in_window(w, since))
        hist_record(w->tally.now, w->now - since);
}

static void record_unanswered(struct worker *w)
{
    uint32_t i;

    for (i = 0; i < w->active; i++) {
        struct conn *c = &w->conns[i];

        if (c->busy && w->o->mode != LOAD_BULK)
            unanswered(w, c->started);
        if (c->state == CONN_ENDING && !w->run->gave_up)
            tally_fail(&w->tally, ETIMEDOUT); /* the peer has not closed */
        for (; w->gap > 0 && c->taken < c->due; c->taken++)
            unanswered(w, worker_due_at(w, c->taken * w->active + c->index));
    }
    if (w->o->mode == LOAD_BULK)
        w->tally.unanswered = w->under_way;
}

/* Waits for all workers twice; in between, worker 0 sets the start time. */
static bool all_ready(struct worker *w)
{
    struct run *run = w->run;
    struct timespec t;

    pthread_barrier_wait(&run->ready);
    if (w->id == 0) {
        run->t_start = load_clock();
        clock_gettime(CLOCK_REALTIME, &t);
        run->epoch_of_record =
            (double)t.tv_sec + (double)t.tv_nsec / 1e9 + (double)w->o->warmup_ns / 1e9;
    }
    pthread_barrier_wait(&run->ready);
    return !__atomic_load_n(&run->failed, __ATOMIC_RELAXED);
}

static void begin_all(struct worker *w)
{
    uint32_t i;

    if (w->order) {
        uint32_t n = share(w->o->at_once, w->o->threads, w->id);

        for (i = 0; i < w->active; i++)
            w->conns[i].state = CONN_FREE;
        for (i = 0; i < n; i++)
            worker_next_in_turn(w);
        return;
    }
    for (i = 0; i < w->active; i++) {
        struct conn *c = &w->conns[i];

        if (w->o->mode == LOAD_BULK)
            stream_begin(w, c);
        else if (w->gap == 0)
            worker_again(w, c);
        else
            c->state = CONN_FREE;
    }
}

void worker_run(struct worker *w)
{
    if (w->id == 0)
        w->tally.resident = load_resident();
    /* the default slack of 50 us would delay requests that are due in 20 us */
    (void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    w->ep = w->o->calls->epoll_create1(EPOLL_CLOEXEC);
    if (w->ep < 0)
        load_message("cannot create an epoll instance: %s", strerror(errno));
    if (w->ep < 0 || connect_all(w) != 0)
        __atomic_store_n(&w->run->failed, 1, __ATOMIC_RELAXED);
    if (!all_ready(w))
        return;
    if (w->id == 0)
        w->tally.resident_connected = load_resident();
    w->t_start = w->run->t_start;
    w->t_record = w->t_start + w->o->warmup_ns;
    w->t_end = w->t_record + w->o->time_ns;
    w->now = load_clock();
    begin_all(w);
    measure(w);
    record_unanswered(w);
    if (tally_next(&w->tally, 0) != 0)
        load_message("no memory for a second's histogram");
}
