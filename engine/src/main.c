/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - toed, the software TOE: puts engines, packets and the control socket together. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "interlock.h"
#include "log.h"
#include "steer.h"

/* At the end, flows get this long to send their RSTs. */
#define STOP_TIME     (1 * NS_PER_S)
#define STOP_LOOK     (2 * NS_PER_MS)
#define CLAIM_LOOK_MS 50

struct daemon {
    struct options options;
    struct control control;
    struct handover *handover;
    uint64_t netio_seed; /* the impairing wire prints it, so it is never part of the secret */
};

static int open_netio(struct daemon *d, uint32_t queue, struct netio **out)
{
    struct netio_config cfg = {.queue = queue};
    char err[256];

    memcpy(cfg.ip, d->options.ip, sizeof(cfg.ip));
    cfg.ip6 = d->options.has_ip6;
    cfg.seed = d->netio_seed;
    *out = netio_open(d->options.netif, &cfg, err, sizeof(err));
    if (!*out) {
        log_msg("%s", err);
        return EXIT_CONFIG;
    }
    return -1;
}

/* What the interface and the options say together; checked once, at the first queue. */
static int settle(struct daemon *d, const struct netio *n)
{
    struct control *c = &d->control;

    netio_get_info(n, &c->info);
    c->mtu = d->options.mtu ? d->options.mtu : c->info.mtu;
    if (c->mtu > c->info.mtu) {
        log_msg("--mtu %u: the interface carries %u at most", c->mtu, c->info.mtu);
        return EXIT_CONFIG;
    }
    memcpy(c->mac, d->options.has_mac ? d->options.mac : c->info.mac, sizeof(c->mac));
    if (d->options.engines > c->info.queues) {
        log_msg("--engines %u: each needs a receive queue and the interface has %u; give it more "
                "queues or toed fewer engines",
                d->options.engines, c->info.queues);
        return EXIT_CONFIG;
    }
    if (d->options.engines > 1) {
        d->handover = handover_new(d->options.engines, c->mtu + 64);
        if (!d->handover) {
            log_msg("no memory for the rings between %u engines", d->options.engines);
            return EXIT_RUNTIME;
        }
    }
    return -1;
}

/*
 * Interface identifiers (RFC 7217) must be the same after each start, and not tell whose they are:
 * their secret is the machine's. A fixed seed (tests), or none there, makes them of the secret.
 */
static void machine_secret(uint8_t secret[16])
{
    FILE *f = fopen("/etc/machine-id", "re");
    unsigned i, byte;

    for (i = 0; f && i < 16 && fscanf(f, "%2x", &byte) == 1; i++)
        secret[i] = (uint8_t)(byte ^ (0x70u + i));
    if (f)
        fclose(f);
}

static void core_config6(const struct daemon *d, struct toec_config *cfg)
{
    const struct options *o = &d->options;

    if (!o->has_ip6)
        return;
    cfg->ip6 = o->ip6_auto ? TOEC_IP6_AUTO : TOEC_IP6_STATIC;
    memcpy(cfg->ip6_addr, o->ip6, sizeof(cfg->ip6_addr));
    memcpy(cfg->ip6_gateway, o->gateway6, sizeof(cfg->ip6_gateway));
    cfg->ip6_prefix_len = o->prefix_len6;
    if (!o->has_secret)
        machine_secret(cfg->ip6_secret);
}

static void core_config(const struct daemon *d, uint32_t id, struct toec_config *cfg)
{
    const struct options *o = &d->options;

    memset(cfg, 0, sizeof(*cfg));
    memcpy(cfg->mac, d->control.mac, sizeof(cfg->mac));
    memcpy(cfg->ip, o->ip, sizeof(cfg->ip));
    memcpy(cfg->gateway, o->gateway, sizeof(cfg->gateway));
    memcpy(cfg->secret, o->secret, sizeof(cfg->secret));
    cfg->prefix_len = o->prefix_len;
    cfg->mtu = d->control.mtu;
    cfg->ttl = o->ttl;
    cfg->cc = (enum toec_cc)o->cc;
    cfg->ecn = (enum toec_ecn_policy)(TOEC_ECN_OFF + o->ecn); /* in the same order */
    cfg->mtu_probing = (enum toec_mtu_probing)(TOEC_MTU_PROBING_OFF + o->mtu_probing);
    cfg->max_flows = o->max_flows;
    cfg->max_listeners = 1024;
    cfg->arp_probe = (toec_u32)o->check_ip;
    core_config6(d, cfg);
    cfg->home_index = id;
    cfg->home_count = o->engines;
}

static int make_engine(struct daemon *d, uint32_t id)
{
    struct control *c = &d->control;
    struct engine_config cfg = {.id = id,
                                .count = d->options.engines,
                                .max_qps = d->options.max_qps,
                                .spin_us = d->options.spin_us,
                                .offload = d->options.offload,
                                .qp_unused = control_qp_unused,
                                .arg = c};
    char err[256];
    int rc = open_netio(d, id, &cfg.netio);

    if (rc >= 0)
        return rc;
    if (id == 0)
        rc = settle(d, cfg.netio);
    if (rc >= 0) {
        netio_close(cfg.netio);
        return rc;
    }
    cfg.handover = d->handover;
    cfg.scope = c->info.ifindex;
    core_config(d, id, &cfg.core);
    c->engines[id] = engine_new(&cfg, engine_clock(), err, sizeof(err));
    if (!c->engines[id]) {
        log_msg("%s", err);
        netio_close(cfg.netio);
        return EXIT_CONFIG;
    }
    c->engine_count = id + 1;
    if (offload_fixed(c->engines[id]->offload.offered, d->options.offload_asked, err,
                      sizeof(err)) != 0) {
        log_msg("--offload: %s", err);
        return EXIT_CONFIG;
    }
    return -1;
}

static int make_engines(struct daemon *d)
{
    uint32_t i;
    int rc = -1;

    d->control.engines = calloc(d->options.engines, sizeof(struct engine *));
    if (!d->control.engines)
        return EXIT_RUNTIME;
    for (i = 0; i < d->options.engines && rc < 0; i++)
        rc = make_engine(d, i);
    /* threads only now: hand-over needs every engine in its place */
    for (i = 0; i < d->options.engines && rc < 0; i++) {
        int e = engine_start(d->control.engines[i]);

        if (e) {
            log_msg("cannot start a thread: %s", strerror(e));
            rc = EXIT_RUNTIME;
        }
    }
    return rc;
}

static void stop_in_engine(struct engine *e, void *arg)
{
    (void)arg;
    engine_stop(e);
}

static void count_in_engine(struct engine *e, void *arg)
{
    *(uint32_t *)arg += engine_flows(e);
}

/* Resets every flow, so that peers learn of the end, within STOP_TIME. */
static void stop_flows(struct control *c)
{
    const struct timespec look = {0, STOP_LOOK};
    uint64_t end = engine_clock() + STOP_TIME;
    uint32_t i, flows;

    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], stop_in_engine, NULL);
    do {
        flows = 0;
        for (i = 0; i < c->engine_count; i++)
            engine_call(c->engines[i], count_in_engine, &flows);
        if (flows)
            nanosleep(&look, NULL);
    } while (flows && engine_clock() < end);
    if (flows)
        log_msg("%u flows could not be reset in time", flows);
}

/* What is left of queue pairs whose flows did not end in time goes with the engine. */
static void free_engine(struct engine *e)
{
    uint32_t i;

    for (i = 0; i < e->qp_count; i++)
        qp_free(e->qps[i]);
    engine_free(e);
}

static int prepare(struct daemon *d)
{
    struct control *c = &d->control;
    struct rlimit files;
    sigset_t signals;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    c->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&c->lock, NULL);
    c->started = engine_clock();
    c->options = &d->options;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* four descriptors a queue pair */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (d->options.has_secret) { /* a test, which wants the same impairments again as well */
        memcpy(&d->netio_seed, d->options.secret, sizeof(d->netio_seed));
    } else if (getrandom(d->options.secret, sizeof(d->options.secret), 0) !=
                   sizeof(d->options.secret) ||
               getrandom(&d->netio_seed, sizeof(d->netio_seed), 0) != sizeof(d->netio_seed)) {
        log_msg("no random numbers: %s", strerror(errno));
        return EXIT_RUNTIME;
    }
    if (c->signal_fd < 0 || c->wake_fd < 0) {
        log_msg("no descriptors: %s", strerror(errno));
        return EXIT_RUNTIME;
    }
    return -1;
}

static int claim(struct daemon *d)
{
    char err[256];

    d->control.lock_fd = interlock_claim(d->options.netif, err, sizeof(err));
    if (d->control.lock_fd != -1)
        return -1;
    log_msg("%s", err);
    return EXIT_CONFIG;
}

static void say_ready(const struct daemon *d)
{
    const struct control *c = &d->control;
    char own[96];

    options_addresses(&d->options, own, sizeof(own));
    log_msg("ready: %s on %s (%s), MTU %u, %u engine%s, socket %s", own, d->options.netif,
            c->info.mode, c->mtu, c->engine_count, c->engine_count == 1 ? "" : "s",
            d->options.socket);
}

struct claim {
    enum toec_ip4_state state;
    uint8_t mac[6];
};

static void claim_in_engine(struct engine *e, void *arg)
{
    struct claim *c = arg;

    c->state = toec_ip4_state(e->stack, c->mac);
}

/* What the engines know of the address: TESTED while any is not sure, TAKEN as soon as one is told.
 */
static struct claim address_claim(struct control *c)
{
    struct claim all = {.state = TOEC_IP4_OWN}, one;
    uint32_t i;

    for (i = 0; i < c->engine_count && all.state != TOEC_IP4_TAKEN; i++) {
        engine_call(c->engines[i], claim_in_engine, &one);
        if (one.state == TOEC_IP4_TAKEN || one.state == TOEC_IP4_TESTED)
            all = one;
    }
    return all;
}

/* Waits until the address is known to be ours (--check-ip). -1 to go on, or an exit code. */
static int settle_address(struct daemon *d)
{
    struct pollfd p = {d->control.signal_fd, POLLIN, 0};
    struct claim claim;

    while ((claim = address_claim(&d->control)).state == TOEC_IP4_TESTED)
        if (poll(&p, 1, CLAIM_LOOK_MS) > 0)
            return 0;
    if (claim.state != TOEC_IP4_TAKEN)
        return -1;
    log_msg("--ip: another host has this address: %02x:%02x:%02x:%02x:%02x:%02x", claim.mac[0],
            claim.mac[1], claim.mac[2], claim.mac[3], claim.mac[4], claim.mac[5]);
    return EXIT_CONFIG;
}

static int serve(struct daemon *d)
{
    struct control *c = &d->control;
    char err[256];
    int rc = settle_address(d);

    if (rc >= 0)
        return rc;
    c->regs_fd = registers_new(c);
    if (c->regs_fd < 0) {
        log_msg("cannot make the register page: %s", strerror(errno));
        return EXIT_RUNTIME;
    }
    rc = control_open(c, err, sizeof(err));
    if (rc != 0) {
        log_msg("%s", err);
        return rc;
    }
    say_ready(d);
    rc = control_run(c);
    log_msg("ending");
    stop_flows(c);
    control_close(c);
    return rc;
}

int main(int argc, char **argv)
{
    static struct daemon d;
    uint32_t i;
    int rc = options_parse(&d.options, argc, argv);

    if (rc < 0)
        rc = prepare(&d);
    if (rc < 0)
        rc = claim(&d);
    if (rc < 0)
        rc = make_engines(&d);
    if (rc < 0)
        rc = serve(&d);
    /* all threads first: they hand frames to each other */
    for (i = 0; i < d.control.engine_count; i++)
        engine_join(d.control.engines[i]);
    for (i = 0; i < d.control.engine_count; i++)
        free_engine(d.control.engines[i]);
    handover_free(d.handover);
    free(d.control.engines);
    return rc;
}
