/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - selects the connection that begins an exchange, and records the outcome
 * (schedule.h). */
#include "schedule.h"
#include "common.h"
#include "connect.h"

/* A closed loop ends after this many failures in a row. */
#define FAILED_IN_ROW 1000u
/* --at-once: connections prefetched together, before their turn. */
#define FETCHED 16u

uint64_t worker_due_at(const struct worker *w, uint64_t number)
{
    /* The requests of the threads are interleaved evenly. */
    double offset = w->gap * w->id / w->o->threads;

    return w->t_start + (uint64_t)(offset + w->gap * (double)number + 0.5);
}

bool worker_in_window(const struct worker *w, uint64_t t)
{
    return t >= w->t_record && t < w->t_end;
}

/* Returns the i-th connection after the one whose turn it is. */
static struct conn *after_turn(const struct worker *w, uint32_t i)
{
    uint32_t left = w->active - w->turn;

    return &w->conns[w->order[i < left ? w->turn + i : (i - left) % w->active]];
}

/*
 * Prefetches the connections of the next turns, as only the client knows their order: libtoe's
 * records of the next batch by toe_prefetch(), our own records of the batch after it.
 */
static void fetch_next(const struct worker *w)
{
    int fds[FETCHED];
    uint32_t i;

    for (i = 0; i < FETCHED; i++) {
        fds[i] = after_turn(w, FETCHED + i)->fd;
        __builtin_prefetch(after_turn(w, 2 * FETCHED + i), 1);
    }
    w->o->calls->prefetch(fds, FETCHED);
}

/* Returns the next free connection in turn. NULL: none. */
static struct conn *in_turn(struct worker *w)
{
    uint32_t tries;

    for (tries = 0; tries < w->active; tries++) {
        struct conn *c = &w->conns[w->order[w->turn]];

        if (w->o->calls->prefetch && w->turn % FETCHED == 0)
            fetch_next(w);
        w->turn = w->turn + 1 < w->active ? w->turn + 1 : 0;
        if (c->state == CONN_FREE && !c->queued)
            return c;
    }
    return NULL;
}

static void make_ready(struct worker *w, struct conn *c)
{
    if (!c || c->queued)
        return;
    c->queued = true;
    c->next_ready = NULL;
    *w->ready_last = c;
    w->ready_last = &c->next_ready;
}

void worker_next_in_turn(struct worker *w)
{
    make_ready(w, in_turn(w));
}

void worker_again(struct worker *w, struct conn *c)
{
    c->state = CONN_FREE;
    if (w->order)
        worker_next_in_turn(w);
    else
        make_ready(w, c);
}

void worker_under_way(struct worker *w, struct conn *c)
{
    c->busy = true;
    w->under_way++;
}

void worker_over(struct worker *w, struct conn *c)
{
    w->under_way -= c->busy;
    c->busy = false;
}

void worker_answered(struct worker *w, struct conn *c)
{
    w->now = load_clock();
    worker_over(w, c);
    w->failed_in_row = 0;
    w->tally.answered++;
    if (worker_in_window(w, c->started))
        hist_record(w->tally.now, w->now > c->started ? w->now - c->started : 0);
    if (worker_in_window(w, w->now))
        w->tally.in_window++;
}

bool worker_lost(struct worker *w, struct conn *c)
{
    c->state = CONN_DEAD;
    w->alive--;
    return atomic_fetch_sub(&w->run->alive, 1) == 1;
}

void worker_failed(struct worker *w, struct conn *c, int what)
{
    tally_fail(&w->tally, what);
    worker_over(w, c);
    conn_close(w, c, true);
    http_next(&c->http);
    c->out_left = 0;
    if (w->o->fresh) {
        if (w->gap == 0 && ++w->failed_in_row >= FAILED_IN_ROW)
            w->run->gave_up = 1;
        worker_again(w, c);
        return;
    }
    /* The run ends when the connections of all threads have failed; until then due requests count.
     */
    if (worker_lost(w, c) && !w->stopping)
        w->run->gave_up = 1;
    else if (w->order)
        worker_next_in_turn(w);
}
