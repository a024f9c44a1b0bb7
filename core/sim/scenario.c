/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c - parses the command line (README.md); exits on anything unknown. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/number.h>

#include "host.h"
#include "link.h"
#include "scenario.h"

/* Only the window limits a flow without a rate: with a shorter RTT, one simulated second would take
 * minutes. */
#define UNBOUNDED_RTT (SEC / 1000)

static _Noreturn void wrong(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("netsim: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nnetsim: see core/sim/README.md\n", stderr);
    va_end(args);
    exit(2);
}

/* ---- values ---- */

/* Parses a number with a unit in [0, max], or exits. */
static double number(const char *key, const char *s, const struct toe_unit *units, double max)
{
    char want[128];
    double v;

    if (!toe_quantity(s, units, 0, max, &v, want, sizeof(want)))
        wrong("%s: '%s' is not %s", key, s, want);
    return v;
}

/* A number without a unit. */
static double plain_of(const char *key, const char *s)
{
    return number(key, s, 0, 1e18);
}

static double rate_of(const char *key, const char *s)
{
    static const struct toe_unit units[] = {{"", 1},       {"bit", 1},    {"kbit", 1e3},
                                            {"mbit", 1e6}, {"gbit", 1e9}, {0, 0}};

    return number(key, s, units, 1e18);
}

static toec_time time_of(const char *key, const char *s)
{
    static const struct toe_unit units[] = {{"", 1},     {"s", 1e9}, {"ms", 1e6},
                                            {"us", 1e3}, {"ns", 1},  {0, 0}};

    return (toec_time)number(key, s, units, 1e15);
}

static double size_of(const char *key, const char *s)
{
    static const struct toe_unit units[] = {{"", 1},     {"B", 1},      {"kB", 1e3},
                                            {"MB", 1e6}, {"KiB", 1024}, {"MiB", 1048576},
                                            {"GB", 1e9}, {0, 0}};

    return number(key, s, units, 1e18);
}

static double chance_of(const char *key, const char *s)
{
    static const struct toe_unit units[] = {{"", 1}, {"%", 0.01}, {0, 0}};

    return number(key, s, units, 1);
}

static uint32_t u32_of(const char *key, double v)
{
    if (v > 4294967295.0)
        wrong("%s: the value exceeds 4294967295", key);
    return (uint32_t)v;
}

/* Splits "key=value,..." in place. Returns 0 at the end. */
static int next_pair(char **at, char **key, char **value)
{
    char *s = *at, *comma;

    if (!s || !*s)
        return 0;
    comma = strchr(s, ',');
    *at = comma ? comma + 1 : 0;
    if (comma)
        *comma = 0;
    *key = s;
    *value = strchr(s, '=');
    if (*value)
        *(*value)++ = 0;
    else
        *value = s + strlen(s);
    return 1;
}

/* ---- a link: --fwd, --rev ---- */

static void link_loss(struct link *l, char *v)
{
    /* P, or ge:TO_BAD:TO_GOOD[:IN_BAD[:IN_GOOD]] */
    double *to[4] = {&l->loss.to_bad, &l->loss.to_good, &l->loss.in_bad, &l->loss.in_good};
    unsigned i = 0;
    char *part;

    if (strncmp(v, "ge:", 3) != 0) {
        l->loss.p = chance_of("loss", v);
        return;
    }
    for (part = strtok(v + 3, ":"); part; part = strtok(0, ":")) {
        if (i == 4)
            wrong("loss=ge: takes at most four probabilities");
        *to[i++] = chance_of("loss", part);
    }
    if (i < 2)
        wrong("loss=ge: needs TO_BAD and TO_GOOD");
}

static void link_qdisc(struct link *l, const char *v)
{
    static const char *const names[] = {"droptail", "red", "codel", "step"};
    unsigned i;

    for (i = 0; i < 4; i++) {
        if (strcmp(v, names[i]) == 0) {
            l->qdisc = (enum qdisc)i;
            return;
        }
    }
    wrong("qdisc=%s: want droptail, red, codel or step", v);
}

static int link_reordering(struct link *l, const char *k, const char *v)
{
    if (strcmp(k, "reorder") == 0)
        l->reorder = chance_of(k, v);
    else if (strcmp(k, "reorder_by") == 0)
        l->reorder_by = time_of(k, v);
    else if (strcmp(k, "duplicate") == 0)
        l->duplicate = chance_of(k, v);
    else if (strcmp(k, "delay") == 0)
        l->delay = time_of(k, v);
    else if (strcmp(k, "jitter") == 0)
        l->jitter = time_of(k, v);
    else
        return 0;
    return 1;
}

static int link_aqm(struct link *l, const char *k, const char *v)
{
    if (strcmp(k, "red_min") == 0)
        l->red_min = size_of(k, v);
    else if (strcmp(k, "red_max") == 0)
        l->red_max = size_of(k, v);
    else if (strcmp(k, "red_p") == 0)
        l->red_p = chance_of(k, v);
    else if (strcmp(k, "red_weight") == 0)
        l->red_weight = chance_of(k, v);
    else if (strcmp(k, "target") == 0)
        l->codel_target = time_of(k, v);
    else if (strcmp(k, "interval") == 0)
        l->codel_interval = time_of(k, v);
    else if (strcmp(k, "step") == 0)
        l->step = u32_of(k, size_of(k, v));
    else if (strcmp(k, "ecn") == 0)
        l->ecn = plain_of(k, v) != 0;
    else
        return 0;
    return 1;
}

static void read_link(struct link *l, char *arg)
{
    char *k, *v;

    while (next_pair(&arg, &k, &v)) {
        if (strcmp(k, "rate") == 0)
            l->rate = rate_of(k, v);
        else if (strcmp(k, "queue") == 0)
            l->limit = u32_of(k, size_of(k, v));
        else if (strcmp(k, "qdisc") == 0)
            link_qdisc(l, v);
        else if (strcmp(k, "loss") == 0)
            link_loss(l, v);
        else if (!link_reordering(l, k, v) && !link_aqm(l, k, v))
            wrong("--fwd, --rev: a link has no '%s'", k);
    }
    if (l->qdisc == Q_RED && !(l->red_min < l->red_max && l->red_p > 0))
        wrong("qdisc=red needs red_min below red_max, and red_p");
    if (l->qdisc == Q_STEP && l->step == 0)
        wrong("qdisc=step needs step=BYTES");
}

/* ---- flows: --flow ---- */

static uint32_t buffer_of(const char *key, const char *v)
{
    double n = size_of(key, v), p = 4096;

    while (p < n)
        p *= 2;
    if (p > 16777216)
        wrong("%s: a buffer has at most 16 MiB", key);
    return (uint32_t)p;
}

/* SEG[xTIMES][+SEG[xTIMES]]... or FROM-TO[xTIMES] */
static void read_drops(struct flow *f, char *v)
{
    char *part;

    for (part = strtok(v, "+"); part; part = strtok(0, "+")) {
        unsigned from, to, times = 1;
        char end;

        if (sscanf(part, "%u-%ux%u%c", &from, &to, &times, &end) != 3 &&
            (times = 1, sscanf(part, "%u-%u%c", &from, &to, &end) != 2)) {
            if (sscanf(part, "%ux%u%c", &from, &times, &end) != 2 &&
                (times = 1, sscanf(part, "%u%c", &from, &end) != 1))
                wrong("drop: '%s' is not SEGMENT[-SEGMENT][xTIMES]", part);
            to = from;
        }
        for (; from <= to; from++) {
            if (f->drops == MAX_DROPS)
                wrong("drop: at most %d segments", MAX_DROPS);
            f->drop[f->drops].seg = from;
            f->drop[f->drops++].times = times;
        }
    }
}

static int flow_app(struct flow *f, const char *k, char *v)
{
    if (strcmp(k, "bytes") == 0)
        f->bytes = (uint64_t)size_of(k, v);
    else if (strcmp(k, "app") == 0)
        f->app_rate = rate_of(k, v);
    else if (strcmp(k, "burst") == 0)
        f->burst = (uint64_t)size_of(k, v);
    else if (strcmp(k, "every") == 0)
        f->every = time_of(k, v);
    else if (strcmp(k, "read") == 0)
        f->read_rate = rate_of(k, v);
    else if (strcmp(k, "stall") == 0)
        f->stall_at = START + time_of(k, v);
    else if (strcmp(k, "stall_for") == 0)
        f->stall_for = time_of(k, v);
    else
        return 0;
    return 1;
}

static int flow_path(struct flow *f, const char *k, char *v)
{
    if (strcmp(k, "rtt") == 0)
        f->rtt = time_of(k, v);
    else if (strcmp(k, "access") == 0)
        f->access = rate_of(k, v);
    else if (strcmp(k, "tx_buf") == 0)
        f->tx_buf = buffer_of(k, v);
    else if (strcmp(k, "rx_buf") == 0)
        f->rx_buf = buffer_of(k, v);
    else if (strcmp(k, "mtu") == 0)
        f->mtu = u32_of(k, plain_of(k, v));
    else if (strcmp(k, "gso") == 0)
        f->gso = u32_of(k, size_of(k, v));
    else if (strcmp(k, "ecn") == 0)
        f->ecn = plain_of(k, v) != 0;
    else if (strcmp(k, "ip6") == 0)
        f->ip6 = plain_of(k, v) != 0;
    else if (strcmp(k, "drop") == 0)
        read_drops(f, v);
    else
        return 0;
    return 1;
}

static struct flow *add_flow(struct net *n)
{
    struct flow *f;

    if (n->flows == MAX_FLOWS)
        wrong("at most %d flows", MAX_FLOWS);
    f = must(calloc(1, sizeof(*f)));
    f->net = n;
    f->index = n->flows;
    f->fwd = &n->fwd;
    f->rev = &n->rev;
    f->tx_buf = f->rx_buf = 4194304;
    f->start = START;
    f->mtu = 1500;
    strcpy(f->cc, "cubic");
    n->flow[n->flows++] = f;
    return f;
}

static void set_cc(struct flow *f, const char *name)
{
    if (flow_cc(name, &f->cc_index)) {
        fprintf(stderr, "netsim: core/ has no congestion control '%s'\n", name);
        exit(3);
    }
    snprintf(f->cc, sizeof(f->cc), "%s", name);
}

static void read_flow(struct net *n, char *arg)
{
    struct flow *f = add_flow(n);
    unsigned copies = 1;
    toec_time apart = 0;
    char *k, *v;

    while (next_pair(&arg, &k, &v)) {
        if (strcmp(k, "cc") == 0)
            set_cc(f, v);
        else if (strcmp(k, "n") == 0)
            copies = u32_of(k, plain_of(k, v));
        else if (strcmp(k, "apart") == 0)
            apart = time_of(k, v);
        else if (strcmp(k, "start") == 0)
            f->start = START + time_of(k, v);
        else if (strcmp(k, "stop") == 0)
            f->stop = START + time_of(k, v);
        else if (!flow_app(f, k, v) && !flow_path(f, k, v))
            wrong("a flow has no '%s'", k);
    }
    if (copies < 1)
        wrong("n: want at least 1");
    if ((f->every != 0) != (f->burst != 0))
        wrong("burst needs every, and every needs burst");
    while (--copies > 0) {
        struct flow *twin = add_flow(n);
        unsigned index = twin->index;

        *twin = *f;
        twin->index = index;
        twin->start = n->flow[index - 1]->start + apart;
        f = twin;
    }
}

/* ---- the rest ---- */

static void read_cross(struct net *n, char *arg)
{
    struct cross *c = &n->cross;
    char *k, *v;

    c->size = 1000;
    c->start = START;
    while (next_pair(&arg, &k, &v)) {
        if (strcmp(k, "rate") == 0)
            c->rate = rate_of(k, v);
        else if (strcmp(k, "size") == 0)
            c->size = u32_of(k, size_of(k, v));
        else if (strcmp(k, "start") == 0)
            c->start = START + time_of(k, v);
        else if (strcmp(k, "stop") == 0)
            c->stop = START + time_of(k, v);
        else if (strcmp(k, "on") == 0)
            c->on = time_of(k, v);
        else if (strcmp(k, "off") == 0)
            c->off = time_of(k, v);
        else if (strcmp(k, "poisson") == 0)
            c->poisson = plain_of(k, v) != 0;
        else
            wrong("cross traffic has no '%s'", k);
    }
    if (c->rate <= 0 || c->size == 0)
        wrong("cross traffic needs rate and size");
}

/* at=T[,link=rev][,rate=R][,delay=D][,spike=D] */
static void read_change(struct net *n, char *arg)
{
    struct change *c = &n->change[n->changes];
    char *k, *v;

    if (n->changes++ == MAX_CHANGES)
        wrong("at most %d changes", MAX_CHANGES);
    c->link = &n->fwd;
    c->rate = -1;
    c->delay = TOEC_NEVER;
    while (next_pair(&arg, &k, &v)) {
        if (strcmp(k, "at") == 0)
            c->at = START + time_of(k, v);
        else if (strcmp(k, "link") == 0 && (strcmp(v, "fwd") == 0 || strcmp(v, "rev") == 0))
            c->link = *v == 'f' ? &n->fwd : &n->rev;
        else if (strcmp(k, "rate") == 0)
            c->rate = rate_of(k, v);
        else if (strcmp(k, "delay") == 0)
            c->delay = time_of(k, v);
        else if (strcmp(k, "spike") == 0)
            c->spike = time_of(k, v);
        else
            wrong("a change has no '%s=%s'", k, v);
    }
    if (c->at == 0)
        wrong("a change needs at=TIME");
    if (c->rate >= 0 && (c->rate == 0) != (c->link->rate <= 0))
        wrong("--change cannot add or remove a rate limit; give --fwd and --rev first");
}

static void option(struct net *n, struct output *o, const char *name, const char *value)
{
    char *v = must(strdup(value)); /* the parsers split it in place */

    if (strcmp(name, "--fwd") == 0)
        read_link(&n->fwd, v);
    else if (strcmp(name, "--rev") == 0)
        read_link(&n->rev, v);
    else if (strcmp(name, "--flow") == 0)
        read_flow(n, v);
    else if (strcmp(name, "--cross") == 0)
        read_cross(n, v);
    else if (strcmp(name, "--change") == 0)
        read_change(n, v);
    else if (strcmp(name, "--time") == 0)
        n->duration = time_of(name, v);
    else if (strcmp(name, "--warmup") == 0)
        n->warmup = time_of(name, v);
    else if (strcmp(name, "--sample") == 0)
        n->sample = time_of(name, v);
    else if (strcmp(name, "--seed") == 0)
        n->seed = (uint64_t)plain_of(name, v);
    else if (strcmp(name, "--json") == 0)
        o->json = value;
    else if (strcmp(name, "--csv") == 0)
        o->csv = value;
    else
        wrong("unknown option %s", name);
    free(v);
}

static int is_limited(const struct net *n, const struct flow *f, toec_time base)
{
    return n->fwd.rate > 0 || n->rev.rate > 0 || f->access > 0 || f->app_rate > 0 ||
           f->read_rate > 0 || f->bytes || (f->burst && f->every) ||
           (f->rtt ? f->rtt : base) >= UNBOUNDED_RTT;
}

void scenario_read(struct net *n, struct output *o, int argc, char **argv)
{
    unsigned i;
    int arg;

    n->duration = 10 * SEC;
    n->seed = 1;
    link_init(&n->fwd, n);
    link_init(&n->rev, n);
    for (arg = 1; arg < argc; arg += 2) {
        if (arg + 1 == argc)
            wrong("%s needs a value", argv[arg]);
        option(n, o, argv[arg], argv[arg + 1]);
    }
    if (n->flows == 0)
        wrong("no --flow is given");
    if (n->warmup >= n->duration)
        wrong("--warmup must be shorter than --time");
    for (i = 0; i < n->flows; i++) {
        struct flow *f = n->flow[i];
        toec_time base = n->fwd.delay + n->rev.delay;

        if (f->rtt && f->rtt < base)
            wrong("flow %u: rtt is below the delay of the links", i);
        if (!is_limited(n, f, base))
            wrong("flow %u: nothing limits it; give --fwd a rate, or a round-trip time of at least "
                  "1 ms "
                  "(delay=, rtt=)",
                  i);
        f->extra = f->rtt ? (f->rtt - base) / 2 : 0;
    }
}
