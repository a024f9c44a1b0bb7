/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - relay: a cable between two back ends of netio, for bench/wan.py.
 *
 *   relay SPEC-A SPEC-B
 *
 * Every frame received at A is sent at B, and the other way round. Impairments are those of
 * impair(dir=tx,...) in a SPEC: those in B impair what A's side sends. It prints "ready"; at
 * SIGTERM or SIGINT it prints a line of JSON: counters of both directions, the TCP payload by
 * sender (tally.h), and how late it woke for frames that were due. Exit codes: 0; 1 a back end
 * cannot be opened; 2 usage.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "tally.h"
#include "toe/impair.h"
#include "toe/netio.h"

#define BATCH    64u
#define NEVER    UINT64_MAX
#define LATE_NS  UINT64_C(1000000)
#define SECOND   UINT64_C(1000000000)
#define ERR_SIZE 512

struct side {
    struct netio *n;
    struct tally tally; /* of frames received here */
    uint64_t frames, bytes;
    uint64_t dropped; /* the other side had no buffer, or a smaller one */
};

struct relay {
    struct side a, b;
    uint64_t woken, late, latest_ns; /* wake-ups by time; those over 1 ms late; the latest one */
};

static struct relay relay;
static volatile sig_atomic_t ended;

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void pass(struct side *from, struct side *to, const struct netio_frame *in, uint64_t now)
{
    struct netio_frame out;

    from->frames++;
    from->bytes += in->len;
    tally_frame(&from->tally, in->data, in->len);
    if (netio_tx_alloc(to->n, &out) != 0) {
        from->dropped++;
        return;
    }
    if (in->len > out.cap) {
        netio_tx_cancel(to->n, &out);
        from->dropped++;
        return;
    }
    memcpy(out.data, in->data, in->len);
    out.len = in->len;
    out.flags = 0; /* the frame carries its checksum */
    netio_tx_submit(to->n, &out, now);
}

/* Returns how many frames it received. */
static unsigned carry(struct side *from, struct side *to, uint64_t now)
{
    struct netio_frame frames[BATCH];
    unsigned count = netio_rx(from->n, frames, BATCH, now), i;

    for (i = 0; i < count; i++)
        pass(from, to, &frames[i], now);
    netio_rx_release(from->n, frames, count);
    netio_tx_flush(to->n, now);
    return count;
}

/* Sleeps until a frame arrives or is due. */
static void sleep_until_due(struct relay *r)
{
    uint64_t next_a = netio_next_event(r->a.n), next_b = netio_next_event(r->b.n);
    uint64_t next = next_a < next_b ? next_a : next_b, now = clock_ns(), late;
    struct pollfd fds[2] = {{.fd = netio_fd(r->a.n), .events = POLLIN},
                            {.fd = netio_fd(r->b.n), .events = POLLIN}};
    struct timespec wait = {.tv_nsec = 100000000}; /* for a signal that came before the sleep */

    if (next <= now || netio_prepare_sleep(r->a.n) || netio_prepare_sleep(r->b.n))
        return;
    if (next != NEVER && next - now < (uint64_t)wait.tv_nsec)
        wait.tv_nsec = (long)(next - now);
    (void)ppoll(fds, 2, &wait, NULL);
    now = clock_ns();
    if (next == NEVER || now < next)
        return;
    late = now - next;
    r->woken++;
    r->late += late > LATE_NS;
    if (late > r->latest_ns)
        r->latest_ns = late;
}

static void run(struct relay *r)
{
    while (!ended) {
        uint64_t now = clock_ns();

        if (!(carry(&r->a, &r->b, now) | carry(&r->b, &r->a, now)))
            sleep_until_due(r);
    }
}

/* ---- the report ---- */

static void print_senders(const struct tally *t)
{
    unsigned i;

    printf("\"senders\": {");
    for (i = 0; i < t->senders; i++) {
        const struct tally_sender *s = &t->sender[i];

        printf("%s\"%u.%u.%u.%u\": {\"segments\": %" PRIu64 ", \"bytes\": %" PRIu64
               ", \"repeated\": %" PRIu64 "}",
               i ? ", " : "", s->ip[0], s->ip[1], s->ip[2], s->ip[3], s->segments, s->bytes,
               s->repeated);
    }
    printf("}, \"uncounted\": %" PRIu64, t->uncounted);
}

/* Prints what was received at `from` and what became of it on the way out at `to`. */
static void print_direction(const char *name, const struct side *from, const struct side *to)
{
    struct netio_impair_stats rx, tx;

    memset(&tx, 0, sizeof(tx));
    (void)netio_impair_get_stats(to->n, &rx, &tx);
    printf("\"%s\": {\"frames\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"dropped\": %" PRIu64
           ", \"lost\": %" PRIu64 ", \"overflowed\": %" PRIu64 ", \"reordered\": %" PRIu64 ", ",
           name, from->frames, from->bytes, from->dropped, tx.lost, tx.overflowed, tx.reordered);
    print_senders(&from->tally);
    printf("}, ");
}

static void print_report(const struct relay *r)
{
    printf("{");
    print_direction("from_a", &r->a, &r->b);
    print_direction("from_b", &r->b, &r->a);
    printf("\"woken\": %" PRIu64 ", \"late\": %" PRIu64 ", \"latest_us\": %" PRIu64 "}\n", r->woken,
           r->late, r->latest_ns / 1000);
    fflush(stdout);
}

static int open_side(struct side *s, const char *spec)
{
    static const struct netio_config cfg = {.seed = 1};
    char err[ERR_SIZE];

    s->n = netio_open(spec, &cfg, err, sizeof(err));
    if (!s->n) {
        fprintf(stderr, "relay: %s\n", err);
        return -1;
    }
    (void)netio_set_features(s->n, 0); /* plain frames with their checksums */
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: relay SPEC-A SPEC-B\n", stderr);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    if (open_side(&relay.a, argv[1]) != 0)
        return 1;
    if (open_side(&relay.b, argv[2]) != 0) {
        netio_close(relay.a.n);
        return 1;
    }
    (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    puts("ready");
    fflush(stdout);
    run(&relay);
    print_report(&relay);
    netio_close(relay.b.n);
    netio_close(relay.a.n);
    return 0;
}
