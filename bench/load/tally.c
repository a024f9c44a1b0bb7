/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - counts, and one histogram per second (tally.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

static const char *const names[] = {"EOF", "MISMATCH", "HTTP", "STATUS", "LENGTH", "COUNT"};
static const char *const texts[] = {
    "the server closed the connection before the end of the answer",
    "the bytes of the answer differ from the expected ones",
    "the answer is not HTTP, or of an unsupported form",
    "unexpected HTTP status",
    "unexpected length of the answer",
    "the server received another number of bytes than was sent",
};

const char *fail_name(int what)
{
    const char *name = what < FAIL_ERRNOS ? strerrorname_np(what) : names[what - FAIL_ERRNOS];

    return name ? name : "UNKNOWN";
}

const char *fail_text(int what)
{
    return what < FAIL_ERRNOS ? strerror(what) : texts[what - FAIL_ERRNOS];
}

int tally_init(struct tally *t)
{
    memset(t, 0, sizeof *t);
    t->now = hist_new();
    t->all = hist_new();
    return t->now && t->all ? 0 : -1;
}

void tally_free(struct tally *t)
{
    uint32_t i;

    for (i = 0; i < t->interval_count; i++)
        free(t->intervals[i].counts);
    free(t->intervals);
    free(t->now);
    free(t->all);
}

void tally_fail(struct tally *t, int what)
{
    if (what <= 0 || what >= FAIL_MAX)
        what = EIO;
    if (!t->failed++)
        t->first_failure = what;
    t->failures[what]++;
}

/* Returns the interval of this second; creates it. Seconds arrive in order, or repeat the last. */
static struct interval *interval_at(struct tally *t, uint64_t second)
{
    struct interval *p;
    uint32_t i, room = t->interval_room ? 2 * t->interval_room : 64;

    for (i = t->interval_count; i-- > 0;)
        if (t->intervals[i].second == second)
            return &t->intervals[i];
    if (t->interval_count == t->interval_room) {
        p = realloc(t->intervals, room * sizeof *p);
        if (!p)
            return NULL;
        t->intervals = p;
        t->interval_room = room;
    }
    p = &t->intervals[t->interval_count++];
    memset(p, 0, sizeof *p);
    p->second = second;
    p->min = UINT64_MAX;
    return p;
}

void interval_unpack(const struct interval *in, struct hist *h)
{
    uint32_t i;

    for (i = 0; i < in->n; i++) {
        h->counts[in->counts[i].index] = in->counts[i].count;
        h->total += in->counts[i].count;
    }
    if (in->n) {
        h->low = in->counts[0].index;
        h->high = in->counts[in->n - 1].index + 1;
    }
    h->sum = in->sum;
    h->min = in->min;
    h->max = in->max;
}

/* Packs a histogram into an interval; replaces its counters. */
static int interval_pack(struct interval *to, const struct hist *h)
{
    uint32_t i, n = 0;

    for (i = h->low; i < h->high; i++)
        n += h->counts[i] != 0;
    free(to->counts);
    to->n = 0;
    to->counts = malloc((n ? n : 1) * sizeof *to->counts);
    if (!to->counts)
        return -1;
    for (i = h->low; i < h->high; i++)
        if (h->counts[i]) {
            to->counts[to->n].index = i;
            to->counts[to->n++].count = h->counts[i];
        }
    to->sum = h->sum;
    to->min = h->min;
    to->max = h->max;
    return 0;
}

static int interval_add(struct tally *t, uint64_t second, uint64_t bytes, struct hist *h)
{
    struct interval *in = interval_at(t, second);

    if (!in)
        return -1;
    if (in->n) {
        struct hist *sum = hist_new();

        if (!sum)
            return -1;
        interval_unpack(in, sum);
        hist_add(sum, h);
        hist_reset(h);
        hist_add(h, sum);
        free(sum);
    }
    in->bytes += bytes;
    return interval_pack(in, h);
}

int tally_next(struct tally *t, uint64_t second)
{
    hist_add(t->all, t->now);
    if (interval_add(t, t->second, t->interval_bytes, t->now) != 0)
        return -1;
    hist_reset(t->now);
    t->interval_bytes = 0;
    t->second = second;
    return 0;
}

int tally_add(struct tally *to, const struct tally *from)
{
    struct hist *h = hist_new();
    uint32_t i;
    int rc = h ? 0 : -1;

    hist_add(to->all, from->all);
    for (i = 0; rc == 0 && i < from->interval_count; i++) {
        hist_reset(h);
        interval_unpack(&from->intervals[i], h);
        rc = interval_add(to, from->intervals[i].second, from->intervals[i].bytes, h);
    }
    free(h);
    to->sent += from->sent;
    to->answered += from->answered;
    to->in_window += from->in_window;
    to->bytes_in_window += from->bytes_in_window;
    to->unanswered += from->unanswered;
    to->connections += from->connections;
    to->idle_lost += from->idle_lost;
    to->bytes += from->bytes;
    to->zc_completed += from->zc_completed;
    to->zc_copied += from->zc_copied;
    to->resident += from->resident; /* set by one thread only */
    to->resident_connected += from->resident_connected;
    if (!to->failed)
        to->first_failure = from->first_failure;
    to->failed += from->failed;
    for (i = 0; i < FAIL_MAX; i++)
        to->failures[i] += from->failures[i];
    for (i = 0; i < 1000; i++)
        to->statuses[i] += from->statuses[i];
    return rc;
}
