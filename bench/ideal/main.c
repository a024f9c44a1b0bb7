/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - toe-ideal: toed's control and engine over a stack that answers at once. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/log.h"
#include "options.h"
#include "process/control.h"
#include "process/process.h"
#include "process/registers.h"
#include "round/engine.h"
#include "round/thread.h"
#include "stack.h"
#include "wire.h"

/* Never sleeps: it owns a core, so that the host does not spend time on waking it. */
#define SPIN_US 4000000000u
#define LOOK_NS 2000000

struct program {
    struct ideal_options options;
    struct options toed; /* toed's options that the control thread reads */
    struct control control;
    struct engine *engine;
    pthread_t watcher;
};

/* Replaces toed's log.c. */
void log_at(enum toe_log_level level, const char *format, ...)
{
    va_list args;

    (void)level;
    va_start(args, format);
    fputs("toe-ideal: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* Replaces toed's options.c. */
void options_addresses(const struct options *o, char *out, size_t size)
{
    snprintf(out, size, "%u.%u.%u.%u/%u", o->ip[0], o->ip[1], o->ip[2], o->ip[3], o->prefix_len);
}

/* Ends control_run() as a user would when the stack is done. */
static void *watch(void *arg)
{
    const struct program *p = arg;
    const struct timespec look = {0, LOOK_NS};

    while (!__atomic_load_n(&p->options.ideal.done, __ATOMIC_ACQUIRE))
        nanosleep(&look, NULL);
    kill(getpid(), SIGTERM);
    return NULL;
}

static int failed(const char *what)
{
    log_msg("%s: %s", what, strerror(errno));
    return IDEAL_FAILURE;
}

static int make_engine(struct program *p)
{
    struct engine_config cfg = {.count = 1,
                                .max_qps = p->toed.max_qps,
                                .spin_us = SPIN_US,
                                .qp_unused = control_qp_unused,
                                .arg = &p->control};
    struct control *c = &p->control;
    char err[256];

    c->toe = "ideal";
    cfg.netio = ideal_wire_new();
    if (!cfg.netio)
        return failed("memory");
    netio_get_info(cfg.netio, &c->info);
    c->mtu = c->info.mtu;
    memcpy(c->mac, c->info.mac, sizeof(c->mac));
    memcpy(cfg.core.ip, p->toed.ip, sizeof(cfg.core.ip));
    cfg.core.mtu = c->mtu;
    ideal_use(&p->options.ideal);
    p->engine = engine_new(&cfg, engine_clock(), err, sizeof(err));
    if (!p->engine) {
        log_msg("%s", err);
        netio_close(cfg.netio);
        return IDEAL_FAILURE;
    }
    c->engines = &p->engine;
    c->engine_count = 1;
    return -1;
}

static int prepare(struct program *p)
{
    static const uint8_t ip[4] = {192, 0, 2, 1}; /* RFC 5737: documentation address */

    memcpy(p->toed.ip, ip, sizeof(ip));
    p->toed.prefix_len = 24;
    p->toed.socket = p->options.socket;
    p->toed.engines = 1;
    p->toed.max_qps = 64;
    p->toed.max_memory_mib = 65536;
    if (control_init(&p->control, &p->toed) != 0)
        return failed("descriptors");
    p->options.ideal.latency = hist_new();
    return p->options.ideal.latency ? -1 : failed("memory");
}

static int serve(struct program *p)
{
    struct control *c = &p->control;
    char err[256];
    int rc;

    c->regs_fd = registers_new(c);
    if (c->regs_fd < 0)
        return failed("register page");
    rc = control_open(c, err, sizeof(err));
    if (rc != 0) {
        log_msg("%s", err);
        return IDEAL_CONFIG;
    }
    rc = engine_start(p->engine);
    if (rc != 0) {
        errno = rc;
        return failed("thread");
    }
    rc = pthread_create(&p->watcher, NULL, watch, p);
    if (rc != 0) {
        errno = rc;
        return failed("thread");
    }
    log_msg("ready: socket %s", p->options.socket);
    return control_run(c) == 0 ? -1 : IDEAL_FAILURE;
}

/* Stops the watcher, the connections and the engine. */
static void stop(struct program *p)
{
    if (p->watcher) {
        __atomic_store_n(&p->options.ideal.done, 1, __ATOMIC_RELEASE);
        pthread_join(p->watcher, NULL);
    }
    if (p->engine && p->engine->has_thread)
        control_stop_flows(&p->control);
    if (p->control.listen_fd > 0)
        control_close(&p->control);
    control_free_engines(&p->control);
}

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static json_t *latency_json(const struct hist *h)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", number(h->total), "p50",
                     number(hist_percentile(h, 50)), "p90", number(hist_percentile(h, 90)), "p99",
                     number(hist_percentile(h, 99)), "p99_9", number(hist_percentile(h, 99.9)),
                     "p99_99", number(hist_percentile(h, 99.99)), "max", number(h->max));
}

static int print_result(const struct program *p)
{
    const struct ideal *i = &p->options.ideal;
    double s = (double)i->time_ns / 1e9;
    json_t *j;

    if (i->failure || !i->ended) {
        log_msg("nothing was measured: %s", i->failure ? i->failure : "ended by a signal");
        return IDEAL_FAILURE;
    }
    j = json_pack("{s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:f}", "mode", "ideal", "seconds",
                  s, "connections", number(i->connections), "opened", number(i->opened), "sent",
                  number(i->asked), "answered", number(i->answered), "requests",
                  number(i->in_window), "requests_per_s", (double)i->in_window / s, "bytes",
                  number(i->bytes), "bytes_per_s", (double)i->bytes / s);
    json_object_set_new(j, "status", json_integer(i->status));
    json_object_set_new(j, "answer_bytes", number(i->answer_size));
    json_object_set_new(j, "unanswered", number(i->unanswered));
    json_object_set_new(
        j, "errors",
        json_pack("{s:o, s:o}", "LENGTH", number(i->wrong_length), "RESET", number(i->reset)));
    json_object_set_new(j, "latency_ns", latency_json(i->latency));
    json_dumpf(j, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(j);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_msg("cannot write: %s", strerror(errno));
        return IDEAL_FAILURE;
    }
    return i->unanswered || i->wrong_length || i->reset ? IDEAL_ERRORS : IDEAL_OK;
}

int main(int argc, char **argv)
{
    static struct program p;
    int rc = ideal_parse(&p.options, argc, argv);

    if (rc < 0)
        rc = prepare(&p);
    if (rc < 0)
        rc = make_engine(&p);
    if (rc < 0)
        rc = serve(&p);
    stop(&p);
    if (rc < 0)
        rc = print_result(&p);
    free(p.options.request);
    free(p.options.ideal.latency);
    return rc;
}
