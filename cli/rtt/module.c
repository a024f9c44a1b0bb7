/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - the source "registers": the measuring module of gateware/ (device/rtt.rdl), in an FPGA
 * or in a simulation. The module times and counts; this file adds up its snapshots and reads the
 * samples from its ring.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <toe/rtt_regs.h>

#include "../common/exit.h"
#include "../registers/blocks.h"
#include "live.h"
#include "module.h"
#include "prober.h"

#define AT(reg)          offsetof(rtt_regs_t, reg)
#define FIELD(reg, name) RTT_REGS__##reg##__##name##_bm
#define LOOK_NS          50000000ull   /* between two reads of the ring */
#define SNAPSHOT_NS      1000000000ull /* ... two snapshots: counters of 32 bits hold 17 s at least */
#define BUSY_NS          5000000000ull
#define BINS             1024u
#define BELOW            (BINS - 1) /* the bin below HIST_BASE */

struct module {
    struct rtt *r;
    struct bar bar;
    uint64_t at; /* of the block */
    double tick_ns;
    uint32_t linear, per_octave, ring_entries, base;
    uint32_t tail;
    uint64_t seq, looked_ns, shot_ns;
    struct {
        uint32_t control, ports, tag, timeout;
    } was;
    bool configured;
};

static bool get(struct module *m, uint64_t reg, uint32_t *value)
{
    return bar_read32(&m->bar, m->at + reg, value) || rtt_fail(m->r, "%s", "");
}

static bool put(struct module *m, uint64_t reg, uint32_t value)
{
    return bar_write32(&m->bar, m->at + reg, value) || rtt_fail(m->r, "%s", "");
}

/* ---- set up */

static bool find_module(struct module *m)
{
    const char *want = m->r->o.block ? m->r->o.block : "rtt";
    struct blocks b;
    unsigned i;

    if (!blocks_find(&m->bar, &b))
        return rtt_fail(m->r, "%s", "");
    for (i = 0; i < b.count; i++)
        if (!strcmp(b.block[i].name, want) && b.block[i].map &&
            !strcmp(b.block[i].map->name, "rtt")) {
            m->at = b.block[i].at;
            return true;
        }
    return rtt_fail(m->r, "%s has no measuring module%s%s; `toehold reg blocks` lists its blocks",
                    m->bar.name, m->r->o.block ? " named " : "", m->r->o.block ? want : "");
}

static bool describe(struct module *m)
{
    struct source *s = &m->r->result.source;
    uint32_t hz, shape;

    if (!get(m, AT(CLOCK_HZ), &hz) || !get(m, AT(HIST_SHAPE), &shape) ||
        !get(m, AT(RING_ENTRIES), &m->ring_entries))
        return false;
    m->linear = shape & FIELD(HIST_SHAPE, LINEAR);
    m->per_octave = shape >> RTT_REGS__HIST_SHAPE__PER_OCTAVE_bp;
    if (!hz || !m->linear || !m->per_octave || !m->ring_entries ||
        m->ring_entries * 16ull > sizeof(((rtt_regs_t *)0)->RING))
        return rtt_fail(m->r,
                        "%s: the module reports an impossible clock of %" PRIu32
                        " Hz, histogram of "
                        "%" PRIu32 " linear bins or ring of %" PRIu32 " entries",
                        m->bar.name, hz, m->linear, m->ring_entries);
    m->tick_ns = 1e9 / hz;
    s->resolution_ns = m->tick_ns;
    snprintf(s->what, sizeof s->what, "measuring module, %s (%.90s)", m->bar.ops->what,
             m->bar.name);
    snprintf(s->clock, sizeof s->clock, "the module's counter at %.6g MHz, in the packet path",
             hz / 1e6);
    return true;
}

/* Configures --match; keeps the previous configuration, which is restored at the end. */
static bool configure(struct module *m)
{
    const struct rtt_options *o = &m->r->o;
    double ticks = (double)o->timeout_ms * 1e6 / m->tick_ns;
    uint32_t control = FIELD(CONTROL, ENABLE) | (uint32_t)o->match << RTT_REGS__CONTROL__MODE_bp |
                       (o->looped ? FIELD(CONTROL, LOOPED) : 0);

    if (!get(m, AT(CONTROL), &m->was.control) || !get(m, AT(PORTS), &m->was.ports) ||
        !get(m, AT(TAG_OFFSET), &m->was.tag) || !get(m, AT(TIMEOUT), &m->was.timeout))
        return false;
    if (o->match == MATCH_NONE)
        return (m->was.control & FIELD(CONTROL, ENABLE)) ||
               rtt_fail(m->r,
                        "%s: the module is not enabled; give --match, or set CONTROL.enable by "
                        "toehold reg",
                        m->bar.name);
    if (ticks > 0x7fffffff)
        return rtt_fail(m->r, "--timeout-ms %lu: the module waits for %.0f ms at most",
                        o->timeout_ms, 0x7fffffff * m->tick_ns / 1e6);
    m->configured = true;
    return put(m, AT(TIMEOUT), ticks < 1 ? 1 : (uint32_t)ticks) &&
           put(m, AT(PORTS), (uint32_t)(o->local_port | o->remote_port << 16)) &&
           put(m, AT(TAG_OFFSET), (uint32_t)o->tag_offset) && put(m, AT(CONTROL), control);
}

static void restore(struct module *m)
{
    if (m->configured && put(m, AT(CONTROL), m->was.control) && put(m, AT(PORTS), m->was.ports) &&
        put(m, AT(TAG_OFFSET), m->was.tag))
        put(m, AT(TIMEOUT), m->was.timeout);
}

/* ---- snapshots */

static bool take_snapshot(struct module *m)
{
    uint64_t until = rtt_now() + BUSY_NS;
    uint32_t status;

    if (!put(m, AT(COMMAND), FIELD(COMMAND, SNAPSHOT)))
        return false;
    do {
        if (!get(m, AT(STATUS), &status))
            return false;
        if (!(status & FIELD(STATUS, BUSY)))
            return true;
    } while (rtt_now() < until);
    return rtt_fail(m->r, "%s: the module's snapshot does not end; check the clock of the module",
                    m->bar.name);
}

static bool get_wide(struct module *m, uint64_t reg, unsigned words, double *value)
{
    double scale = 1;
    uint32_t word;

    *value = 0;
    for (; words--; reg += 4, scale *= 4294967296.0) {
        if (!get(m, reg, &word))
            return false;
        *value += word * scale;
    }
    return true;
}

/* Returns the ticks in the middle of a bin; min is the smallest sample. */
static double bin_ticks(const struct module *m, uint32_t bin, uint32_t min)
{
    uint32_t octave, part;
    double start, width;

    if (bin == BELOW)
        return (min + (double)m->base) / 2;
    if (bin < m->linear)
        return (double)m->base + bin;
    octave = (bin - m->linear) / m->per_octave;
    part = (bin - m->linear) % m->per_octave;
    start = ldexp(m->linear, (int)octave);
    width = start / m->per_octave;
    return m->base + start + part * width + (width > 1 ? (width - 1) / 2 : 0);
}

static bool add_bins(struct module *m, uint32_t count, uint32_t min, uint32_t max)
{
    uint32_t bin, n, seen = 0;
    double ticks;

    if (!get(m, AT(HIST_BASE), &m->base))
        return false;
    for (bin = 0; bin < BINS && seen < count; bin++) {
        uint32_t at = bin == 0 ? BELOW : bin - 1; /* the bin below HIST_BASE first */

        if (!get(m, AT(HIST) + 4ull * at, &n))
            return false;
        ticks = fmin(fmax(bin_ticks(m, at, min), min), max);
        result_bin(&m->r->result, (uint64_t)llround(ticks * m->tick_ns), n);
        seen += n;
    }
    return true;
}

static bool add_counters(struct module *m)
{
#define C(reg, name, text)                                                                         \
    {                                                                                              \
        AT(reg), name, text                                                                        \
    }
    static const struct {
        uint64_t at;
        const char *name, *text;
    } counters[] = {
        C(S_PROBES, "module_sent", "packets that left and count"),
        C(S_ANSWERS, "module_answers", "packets that arrived and count"),
        C(S_LOST, "module_lost", "not answered in time"),
        C(S_DUPLICATES, "module_duplicates", "further answers to one packet"),
        C(S_REORDERED, "module_reordered", "answered after a later one was"),
        C(S_REPLACED, "module_replaced", "given up for a newer one"),
        C(S_RESENT, "module_resent", "not stamped: already in flight, or sent before"),
        C(S_AMBIGUOUS, "module_ambiguous", "answers to what was sent twice (Karn)"),
        C(S_COVERED, "module_covered", "acknowledged with a later segment"),
        C(S_UNMATCHED, "module_unmatched", "answers to nothing that is known"),
        C(S_RING_DROPPED, "module_ring_dropped", "samples dropped from the ring"),
    };
    uint32_t value;
    size_t i;

    for (i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        if (!get(m, counters[i].at, &value))
            return false;
        *result_count(&m->r->result, counters[i].name, counters[i].text) += value;
    }
    if (!get(m, AT(S_IN_FLIGHT), &value))
        return false;
    *result_count(&m->r->result, "module_in_flight", "not answered yet at the end") = value;
    return true;
}

static bool add_snapshot(struct module *m)
{
    double sum, squares, t = m->tick_ns;
    uint32_t count, min, max;

    if (!take_snapshot(m) || !get(m, AT(S_COUNT), &count) || !get(m, AT(S_MIN), &min) ||
        !get(m, AT(S_MAX), &max) || !get_wide(m, AT(S_SUM_LO), 2, &sum) ||
        !get_wide(m, AT(S_SUMSQ_LO), 3, &squares) || !add_counters(m))
        return false;
    result_totals(&m->r->result, rtt_at(m->r), count, sum * t, squares * t * t,
                  (uint64_t)llround(min * t), (uint64_t)llround(max * t));
    return count == 0 || add_bins(m, count, min, max);
}

/* ---- the ring of samples */

static bool take_ring(struct module *m)
{
    uint32_t head, tail = m->tail;

    if (!get(m, AT(RING_HEAD), &head))
        return false;
    if (head - tail > m->ring_entries)
        return rtt_fail(m->r, "%s: the ring's head is %" PRIu32 " entries ahead of the tail",
                        m->bar.name, head - tail);
    for (; tail != head; tail++) {
        uint32_t ticks;

        if (!get(m, AT(RING) + 16ull * (tail % m->ring_entries), &ticks))
            return false;
        result_keep(&m->r->result, rtt_at(m->r), (uint64_t)llround(ticks * m->tick_ns), m->seq++,
                    0);
    }
    if (tail == m->tail)
        return true;
    m->tail = tail;
    return put(m, AT(RING_TAIL), tail);
}

static bool look(struct rtt *r, void *arg)
{
    struct module *m = arg;
    uint64_t now = rtt_now();

    (void)r;
    if (now - m->looked_ns < LOOK_NS)
        return true;
    m->looked_ns = now;
    if (!take_ring(m))
        return false;
    if (now - m->shot_ns < SNAPSHOT_NS)
        return true;
    m->shot_ns = now;
    return add_snapshot(m);
}

/* ---- the run */

static bool begin(struct module *m)
{
    if (!describe(m) || !configure(m) || !put(m, AT(COMMAND), FIELD(COMMAND, FLUSH)) ||
        !take_snapshot(m) || !get(m, AT(RING_HEAD), &m->tail) || !put(m, AT(RING_TAIL), m->tail))
        return false;
    m->looked_ns = m->shot_ns = m->r->result.began_ns = rtt_now();
    m->r->hook = look;
    m->r->hook_arg = m;
    return true;
}

static bool with_probes(struct rtt *r)
{
    struct prober *p = prober_start(r, false);
    bool ok = p && prober_run(p);

    if (ok)
        prober_finish(p);
    prober_free(p);
    return ok && !r->hook_failed;
}

static bool without_probes(struct rtt *r)
{
    const struct timespec t = {0, 20000000};

    while (!rtt_over(r) && (!r->o.count || result_samples(&r->result) < r->o.count))
        nanosleep(&t, NULL);
    return !r->hook_failed;
}

bool module_run(struct rtt *r)
{
    struct module m = {.r = r};
    bool ok;

    r->code = bar_open(&m.bar, r->o.bar, true);
    if (r->code)
        return rtt_fail(r, "%s", "");
    ok = find_module(&m) && begin(&m);
    if (ok)
        ok = (r->o.probe == PROBE_NONE ? without_probes(r) : with_probes(r)) && take_ring(&m) &&
             add_snapshot(&m);
    r->hook = NULL;
    restore(&m);
    bar_close(&m.bar);
    return ok;
}
