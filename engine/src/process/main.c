/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - toed, the software TOE: starts engines, back ends and the control socket. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <toe/config_layers.h>

#include "attach.h"
#include "base/clock.h"
#include "base/log.h"
#include "control.h"
#include "door.h"
#include "frames/steer.h"
#include "interlock.h"
#include "kernel.h"
#include "kernel/numa.h"
#include "kernel/port_range.h"
#include "notify.h"
#include "options_layers.h"
#include "privilege.h"
#include "process.h"
#include "registers.h"
#include "reload.h"
#include "round/engine.h"
#include "round/thread.h"
#include "sandbox.h"
#include "setup.h"
#include "switch.h"
#include "takeover_new.h"
#include "takeover_old.h"

#define CLAIM_LOOK_MS 50

struct daemon {
    struct options options;
    struct reload reload;
    struct control control;
    struct kernel kernel;
    struct handover *handover;
    struct owners *owners; /* for several engines without a shared address */
    struct heir heir;      /* state from another toed, with --take-over */
    struct door door;      /* makes the socket after the others' rights are dropped */
};

static int failed(int rc, const char *err)
{
    log_error("%s", err);
    return rc;
}

/* Called for the first queue only. */
static int settle(struct daemon *d, const struct netio *n)
{
    struct control *c = &d->control;
    char err[256];
    int rc = setup_settle(&d->options, n, &c->info, &c->mtu, c->mac, err, sizeof(err));

    if (rc >= 0)
        return failed(rc, err);
    if (d->options.engines > 1) {
        d->handover = handover_new(d->options.engines, c->mtu + 64);
        if (!d->handover) {
            log_error("no memory for the rings between %u engines", d->options.engines);
            return EXIT_RUNTIME;
        }
    }
    d->owners = d->options.shared ? NULL : owners_new();
    if (!d->owners && !d->options.shared) {
        log_error("no memory for the owners of ports");
        return EXIT_RUNTIME;
    }
    return -1;
}

static int make_engine(struct daemon *d, uint32_t id)
{
    struct control *c = &d->control;
    struct engine_config cfg = {.id = id,
                                .count = d->options.engines,
                                .max_qps = d->options.max_qps,
                                .spin_us = d->options.spin_us,
                                .moderation = d->options.moderation,
                                .offload = d->options.offload,
                                .vlan = (uint16_t)d->options.vlan,
                                .pinned = d->options.cpu_count != 0,
                                .cpu = d->options.cpu[id],
                                .qp_unused = control_qp_unused,
                                .arg = c};
    char err[256];
    int rc = setup_netio(&d->options, d->control.netio_seed, id, id ? -1 : d->heir.heir_fd, NULL,
                         &cfg.netio, err, sizeof(err));

    if (rc >= 0)
        return failed(rc, err);
    if (id == 0)
        rc = settle(d, cfg.netio);
    if (rc >= 0) {
        netio_close(cfg.netio);
        return rc;
    }
    cfg.handover = d->handover;
    cfg.owners = d->owners;
    cfg.common = polling_ring(c->polling, id);
    cfg.shared = d->options.shared ? &d->kernel.shared : NULL;
    cfg.scope = c->info.ifindex;
    setup_core(&d->options, c->mac, c->mtu, id, &cfg.core);
    if (id == 0)
        port_range_read(PORT_RANGE_SYS, &c->ports[0]);
    if (id == 0 && d->options.shared)
        kernel_set_range(&d->kernel, &c->ports[0]);
    setup_ports(&c->ports[0], &c->info, &cfg.core);
    c->engines[id] = engine_new(&cfg, engine_clock(), err, sizeof(err));
    if (!c->engines[id]) {
        log_error("%s", err);
        netio_close(cfg.netio);
        return EXIT_CONFIG;
    }
    c->engine_count = id + 1;
    if (offload_fixed(c->engines[id]->offload.offered, d->options.offload_asked, err,
                      sizeof(err)) != 0) {
        log_error("--offload: %s", err);
        return EXIT_CONFIG;
    }
    return -1;
}

/* The same, with memory from the NUMA node of its CPU. */
static int make_engine_near(struct daemon *d, uint32_t id)
{
    const struct options *o = &d->options;
    int node = o->cpu_count ? numa_node_of(NUMA_SYS, o->cpu[id]) : NUMA_ANY, rc;
    struct numa_policy was;
    int e = numa_prefer(node, &was);

    rc = make_engine(d, id);
    numa_restore(&was);
    if (!o->cpu_count || rc >= 0)
        return rc;
    if (e)
        log_msg("engine %u: CPU %u; memory of NUMA node %d cannot be asked for: %s", id, o->cpu[id],
                node, strerror(e));
    else if (node == NUMA_ANY)
        log_msg("engine %u: CPU %u; one NUMA node, so no memory is nearer", id, o->cpu[id]);
    else
        log_msg("engine %u: CPU %u, memory of NUMA node %d", id, o->cpu[id], node);
    return rc;
}

static int make_engines(struct daemon *d)
{
    uint32_t i;
    int rc = -1;

    d->control.toe = "toed";
    d->control.engines = calloc(d->options.engines, sizeof(struct engine *));
    if (d->options.polling)
        d->control.polling = polling_new(d->options.engines, COMMON_ENTRIES);
    if (!d->control.engines || (d->options.polling && !d->control.polling)) {
        log_error("no memory for %u engines", d->options.engines);
        return EXIT_RUNTIME;
    }
    for (i = 0; i < d->options.engines && rc < 0; i++)
        rc = make_engine_near(d, i);
    if (rc < 0)
        kernel_start(&d->kernel);
    return rc;
}

static int start_manager(const struct daemon *d)
{
    const struct options *o = &d->options;
    int e = o->polling ? polling_start(d->control.polling, o->manager_pinned, o->manager_cpu) : 0;

    if (e == EINVAL && o->manager_pinned)
        log_error("--manager-cpu %u: this machine has no such CPU, or toed may not run on it",
                  o->manager_cpu);
    else if (e)
        log_error("cannot start the thread of the polling manager: %s", strerror(e));
    return !e ? -1 : e == EINVAL ? EXIT_CONFIG : EXIT_RUNTIME;
}

/* Starts the engines once all exist: hand-over needs every engine in its place. */
static int start_engines(struct daemon *d)
{
    int rc = start_manager(d);
    uint32_t i;

    for (i = 0; i < d->options.engines && rc < 0; i++) {
        int e = engine_start(d->control.engines[i]);

        if (e == EINVAL && d->options.cpu_count) {
            log_error("--cpu %u: this machine has no such CPU, or toed may not run on it",
                      d->options.cpu[i]);
            rc = EXIT_CONFIG;
        } else if (e) {
            log_error("cannot start the thread of engine %u%s: %s", i,
                      d->options.cpu_count ? " on the CPU of --cpu" : "", strerror(e));
            rc = EXIT_RUNTIME;
        }
    }
    return rc;
}

static void read_boot_secret(struct daemon *d)
{
    char why[400];

    setup_boot_secret(&d->options, why, sizeof(why));
    if (*why)
        log_msg("%s", why);
}

static int prepare(struct daemon *d)
{
    struct rlimit files;
    char err[256];
    int rc = privilege_find(&d->options, err, sizeof(err));

    if (rc >= 0)
        return failed(rc, err);
    if (d->options.take_over && privilege_mark(&d->options) != 0) {
        log_msg("--run-as %s: %s", d->options.run_as, strerror(errno));
        return EXIT_RUNTIME;
    }
    if (control_init(&d->control, &d->options) != 0) {
        log_error("no descriptors: %s", strerror(errno));
        return EXIT_RUNTIME;
    }
    d->control.reload = reload_settings;
    d->control.reloaded = &d->reload;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* a queue pair has four descriptors */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (setup_secret(&d->options, &d->control.netio_seed) != 0) {
        log_error("no random numbers: %s", strerror(errno));
        return EXIT_RUNTIME;
    }
    read_boot_secret(d);
    return -1;
}

static int claim(struct daemon *d)
{
    char err[256];
    int rc;

    if (d->options.take_over) /* received with the rest */
        return -1;

    d->control.lock_fd = interlock_claim(d->options.netif, err, sizeof(err));
    if (d->control.lock_fd == -1)
        return failed(EXIT_CONFIG, err);
    rc = address_hold(&d->options, &d->control.addresses, err, sizeof(err));
    return rc < 0 ? -1 : failed(rc, err);
}

/* Called before the engines are made: they use the kernel's addresses. */
static int share(struct daemon *d)
{
    char err[256];
    int rc = kernel_open(&d->kernel, &d->control, &d->options, err, sizeof(err));

    if (rc >= 0)
        return failed(rc, err);
    if (d->options.shared)
        d->control.kernel = &d->kernel;
    return -1;
}

static void log_ready(const struct daemon *d)
{
    const struct control *c = &d->control;
    char own[96], text[400];

    options_addresses(&d->options, own, sizeof(own));
    snprintf(text, sizeof(text), "%s on %s (%s), MTU %u, %u engine%s%s, socket %s", own,
             d->options.netif, c->info.mode, c->mtu, c->engine_count,
             c->engine_count == 1 ? "" : "s", d->options.polling ? " and a polling manager" : "",
             d->options.socket);
    log_msg("ready: %s", text);
    notify_ready(text);
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

/* Returns what the engines know about the address: TESTED while any of them still probes, TAKEN as
 * soon as one has seen a conflict. */
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

/* Waits until address conflict detection has finished (--check-ip). Returns -1 to continue, or an
 * exit code. */
static int settle_address(struct daemon *d)
{
    struct pollfd p = {d->control.signal_fd, POLLIN, 0};
    struct claim claim;

    while ((claim = address_claim(&d->control)).state == TOEC_IP4_TESTED)
        if (poll(&p, 1, CLAIM_LOOK_MS) > 0 && control_signalled(&d->control))
            return 0;
    if (claim.state != TOEC_IP4_TAKEN)
        return -1;
    log_error("--ip: another host has this address: %02x:%02x:%02x:%02x:%02x:%02x", claim.mac[0],
              claim.mac[1], claim.mac[2], claim.mac[3], claim.mac[4], claim.mac[5]);
    return EXIT_CONFIG;
}

static int make_registers(struct control *c)
{
    c->regs_fd = registers_new(c);
    if (c->regs_fd >= 0)
        return -1;
    log_error("cannot make the register page: %s", strerror(errno));
    return EXIT_RUNTIME;
}

/* Drops what is not needed any more: all is open but the control socket. Engines start with the
 * rights that are left. */
static int drop_rights(struct daemon *d)
{
    char err[256];
    int e = door_start(&d->door), rc;

    if (e) {
        log_msg("cannot start the thread that makes the control socket: %s", strerror(e));
        return EXIT_RUNTIME;
    }
    rc = sandbox_enter(&d->options, err, sizeof(err));
    return rc < 0 ? -1 : failed(rc, err);
}

/* What the thread of the door does. */
struct opening {
    struct daemon *d;
    int rc;
    char err[256];
};

static void make_socket(void *arg)
{
    struct opening *o = arg;

    o->rc = control_open(&o->d->control, o->err, sizeof(o->err));
}

static void take_socket(void *arg)
{
    struct opening *o = arg;

    o->rc = attach_inherit(&o->d->control, o->d->heir.listen_fd);
    if (o->rc != 0)
        snprintf(o->err, sizeof(o->err), "cannot listen on the socket of the running toed: %s",
                 strerror(errno));
}

static int open_door(struct daemon *d)
{
    struct opening o = {.d = d};
    int rc = settle_address(d);

    if (rc < 0)
        rc = make_registers(&d->control);
    if (rc >= 0)
        return rc;
    door_use(&d->door, make_socket, &o);
    return o.rc == 0 ? -1 : failed(o.rc, o.err);
}

/* With --take-over: makes the running toed stop, and receives its state. */
static int inherit(struct daemon *d)
{
    char err[512];
    int rc;

    d->control.give = takeover_give;
    d->heir.fd = d->heir.listen_fd = d->heir.lock_fd = d->heir.heir_fd = -1;
    d->heir.addresses = (struct address_claims){{-1, -1}};
    if (!d->options.take_over)
        return -1;
    rc = heir_ask(&d->heir, &d->options, err, sizeof(err));
    d->control.lock_fd = d->heir.lock_fd;
    d->control.addresses = d->heir.addresses;
    return rc < 0 ? -1 : failed(rc, err);
}

/* ... and its socket. Everything that can fail is done before the take-over is final. */
static int inherit_door(struct daemon *d)
{
    struct control *c = &d->control;
    struct opening o = {.d = d};
    char err[512];
    int rc = heir_restore(&d->heir, c, err, sizeof(err));

    if (rc >= 0)
        return failed(rc, err);
    control_pause(c);
    rc = make_registers(c);
    if (rc < 0)
        rc = start_engines(d);
    if (rc < 0) {
        door_use(&d->door, take_socket, &o);
        rc = o.rc == 0 ? -1 : failed(EXIT_RUNTIME, o.err);
    }
    if (rc >= 0) {
        heir_refuse(&d->heir, "it cannot start, and says why");
        return rc;
    }
    rc = heir_settle(&d->heir, c, err, sizeof(err));
    if (rc >= 0)
        return failed(rc, err);
    control_resume(c);
    return -1;
}

static int serve(struct daemon *d)
{
    struct control *c = &d->control;
    int rc;

    log_ready(d);
    rc = control_run(c);
    if (c->given_away)
        _exit(0); /* another toed owns everything now: reset, unlink and release nothing */
    log_msg("ending");
    notify_stopping();
    control_stop_flows(c);
    control_close(c);
    return rc;
}

/* Reads the settings. Returns -1 to continue, or an exit code. */
static int configure(struct daemon *d, int argc, char **argv)
{
    char err[CONFIG_ERROR] = "no memory for the settings";
    int rc = EXIT_RUNTIME;

    d->reload = (struct reload){argc, argv, config_new(), &d->options};
    d->options.err = err;
    d->options.err_size = sizeof(err);
    if (d->reload.config)
        rc = options_load(&d->options, d->reload.config, argc, argv);
    d->options.err = NULL;
    if (d->options.log_level) /* else the mistake is before the settings of the log */
        reload_log(&d->options);
    return rc > 0 ? failed(rc, err) : rc;
}

int main(int argc, char **argv)
{
    static struct daemon d;
    int rc = configure(&d, argc, argv);

    if (rc < 0)
        rc = prepare(&d);
    if (rc < 0)
        rc = claim(&d);
    if (rc < 0)
        rc = share(&d);
    if (rc < 0)
        rc = inherit(&d);
    if (rc < 0)
        rc = make_engines(&d);
    if (rc < 0)
        rc = drop_rights(&d);
    if (rc < 0)
        rc = d.options.take_over ? inherit_door(&d) : start_engines(&d);
    if (rc < 0 && !d.options.take_over)
        rc = open_door(&d);
    if (rc < 0)
        rc = serve(&d);
    else if (d.heir.image.n)
        _exit(rc); /* the running toed still owns everything: reset and unlink nothing */
    door_shut(&d.door);
    control_free_engines(&d.control);
    kernel_close(&d.kernel);
    handover_free(d.handover);
    free(d.owners);
    free(d.control.engines);
    config_free(d.reload.config);
    return rc;
}
