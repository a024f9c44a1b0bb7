/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_lead.c - which worker of an address steers: it has the interface and the claim of it. The
 * others notice its end by a pidfd, and the first one that gets the claim takes over: with a
 * standby of the interface, opened when it joined, because it may have given up its rights since.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workers.h"

#define SERVICE_NS 10000000u  /* between two checks of a worker that polls */
#define RETRY_NS   100000000u /* between two attempts to take over */
#define DYING_MS   200u       /* the sockets of a process that ends close one after another */

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *p, size_t n)
{
    const uint8_t *b = p;

    while (n--)
        hash = (hash ^ *b++) * 0x100000001b3u;
    return hash;
}

/* Returns the hash of what all workers must have in common. */
static uint64_t options_hash(const struct workers *w)
{
    uint64_t hash = mix(0xcbf29ce484222325u, w->spec, strlen(w->spec));

    hash = mix(hash, w->cfg.ip, sizeof(w->cfg.ip));
    hash = mix(hash, &w->cfg.ip6, sizeof(w->cfg.ip6));
    return mix(hash, &w->cfg.vlan, sizeof(w->cfg.vlan));
}

/* Writes the role into the mode text. */
static void describe(struct workers *w)
{
    const struct workers_shm *shm = w->g.shm;
    struct netio_info info;

    if (w->steers) {
        netio_get_info(w->inner, &info);
        snprintf(w->n.mode, sizeof(w->n.mode), "worker %u of %u at most, steers %s", w->g.number,
                 w->g.count, info.mode);
    } else if (w->steerer) {
        snprintf(w->n.mode, sizeof(w->n.mode), "worker %u of %u at most, number %u steers (%u)",
                 w->g.number, w->g.count, atomic_load(&shm->steerer_number), w->steerer);
    }
}

/* ---- the worker that steers ---- */

static void publish(struct workers *w)
{
    struct workers_shm *shm = w->g.shm;
    struct netio_info i;

    netio_get_info(w->inner, &i);
    shm->mtu = i.mtu;
    shm->ifindex = i.ifindex;
    shm->offered = i.offered;
    shm->tso_max = i.tso_max;
    shm->hold_max = i.hold_max;
    shm->flush_calls = (uint32_t)i.flush_calls;
    shm->queues = i.queues;
    shm->standby = i.standby;
    memcpy(shm->mac, i.mac, sizeof(shm->mac));
    atomic_store(&shm->steerer_number, w->g.number);
    atomic_store(&shm->steerer, (uint32_t)getpid());
}

/* Gives the interface what the engine has requested so far. */
static void configure(struct workers *w)
{
    (void)netio_set_features(w->inner, w->n.features);
    netio_set_ip6(w->inner, (const uint8_t(*)[16])w->ip6, w->ip6_count);
    netio_keep_waking(w->inner, w->keep);
}

static int watch_fd(struct workers *w, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

    return fd < 0 ? 0 : epoll_ctl(w->set, EPOLL_CTL_ADD, fd, &ev);
}

static void unwatch_steerer(struct workers *w)
{
    if (w->steerer_fd >= 0)
        close(w->steerer_fd); /* leaves the set */
    w->steerer_fd = -1;
}

static int begin_to_steer(struct workers *w, const struct netio_err *err)
{
    if (watch_fd(w, netio_fd(w->inner)) != 0 || watch_fd(w, w->g.claim_fd[0]) != 0) {
        netio_err_set(err, "workers: cannot watch the interface: %s", strerror(errno));
        return -1;
    }
    unwatch_steerer(w);
    w->steers = 1;
    w->steerer = (uint32_t)getpid();
    publish(w);
    describe(w);
    return 0;
}

static int open_inner(struct workers *w, uint32_t standby, const struct netio_err *err)
{
    w->cfg.standby = standby;
    w->inner = netio_open(w->spec, &w->cfg, err->text, err->size);
    return w->inner ? 0 : -1;
}

/* Returns the bytes of a frame's place: the MTU with a tag fits. */
static uint32_t stride_of(uint32_t mtu)
{
    return (mtu + ETH_TAGGED + WORKERS_UNIT - 1) / WORKERS_UNIT * WORKERS_UNIT;
}

static int check_mtu(uint32_t mtu, uint32_t most, const struct netio_err *err)
{
    if (mtu + ETH_TAGGED <= most)
        return 0;
    netio_err_set(err, "workers: an MTU of %u is too large: these workers carry %u at most", mtu,
                  most - ETH_TAGGED);
    return -1;
}

/* As the first worker: opens the interface and makes the shared memory. */
static int found(struct workers *w, const struct netio_err *err)
{
    struct netio_info info;

    if (open_inner(w, 0, err) != 0)
        return -1;
    netio_get_info(w->inner, &info);
    if (check_mtu(info.mtu, WORKERS_FRAME_MAX, err) != 0)
        return -1;
    return group_create(&w->g, stride_of(info.mtu), options_hash(w), err);
}

/* Opens the interface that a worker had which has ended. Others may hold a standby of it: then it
 * is there still, and is taken over in the same way. */
static int open_to_take_over(struct workers *w, const struct netio_err *err)
{
    uint32_t standby = w->g.shm->standby;

    if (!w->inner && standby)
        (void)open_inner(w, standby, err);
    if (w->inner && netio_activate(w->inner, err->text, err->size) == 0)
        return 0;
    if (w->inner)
        netio_close(w->inner);
    w->inner = NULL;
    return open_inner(w, 0, err);
}

/* As a worker that comes when the one that steered has ended. */
static int inherit(struct workers *w, const struct netio_err *err)
{
    struct netio_info info;

    if (group_attach(&w->g, options_hash(w), err) != 0 || open_to_take_over(w, err) != 0)
        return -1;
    netio_get_info(w->inner, &info);
    return check_mtu(info.mtu, w->g.stride, err);
}

/* ---- the others ---- */

/* Watches the worker that steers now. */
static void follow(struct workers *w)
{
    uint32_t pid = atomic_load(&w->g.shm->steerer);

    unwatch_steerer(w);
    w->steerer = pid;
    if (!pid)
        return;
    w->steerer_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (w->steerer_fd >= 0 && watch_fd(w, w->steerer_fd) != 0)
        unwatch_steerer(w);
    describe(w);
}

/* Returns whether the worker that steered has ended. */
static int is_leaderless(struct workers *w)
{
    struct pollfd p = {.fd = w->steerer_fd, .events = POLLIN};

    if (atomic_load(&w->g.shm->steerer) != w->steerer)
        follow(w);
    p.fd = w->steerer_fd;
    if (!w->steerer)
        return 1;
    if (w->steerer_fd >= 0)
        return poll(&p, 1, 0) > 0;
    return !group_lives(&w->g, atomic_load(&w->g.shm->steerer_number));
}

static void take_over(struct workers *w)
{
    char text[MODE_TEXT - 40] = "";
    const struct netio_err err = {text, sizeof(text)};

    unwatch_steerer(w); /* it would keep the set readable */
    if (group_claim(&w->g) != 0)
        return;
    if (open_to_take_over(w, &err) == 0 && begin_to_steer(w, &err) == 0) {
        configure(w);
        return;
    }
    group_unclaim(&w->g); /* perhaps another one can */
    snprintf(w->n.mode, sizeof(w->n.mode), "worker %u cannot take over: %s", w->g.number, text);
}

/* Joins beside a worker that steers, or waits for the one that is about to, up to ten seconds. */
static int join_to_follow(struct workers *w, const struct netio_err *err)
{
    char text[MODE_TEXT] = "";
    const struct netio_err ignored = {text, sizeof(text)};

    if (group_attach(&w->g, options_hash(w), err) != 0)
        return -1;
    if (!atomic_load(&w->g.shm->steerer) ||
        !group_lives(&w->g, atomic_load(&w->g.shm->steerer_number) % WORKERS_MAX))
        return 1;
    /* without a standby, taking over needs the rights to open the interface */
    if (w->g.shm->standby)
        (void)open_inner(w, w->g.shm->standby, &ignored);
    return 0;
}

static int refuse_taken(const struct workers *w, const struct netio_err *err)
{
    netio_err_set(err,
                  "workers: %s is already served by process %u, which is none of these workers: "
                  "end that one, or give it workers(%u) too",
                  w->spec, group_claimant(&w->g), w->g.count);
    return -1;
}

static int is_dying(uint64_t since_ms)
{
    return !since_ms || group_clock_ms() - since_ms < DYING_MS;
}

/* Decides the role while the group is locked. */
static int take_role(struct workers *w, int first, const struct netio_err *err)
{
    uint64_t since_ms = 0;
    int rc;

    do {
        rc = group_claim(&w->g);
        if (rc < 0) {
            netio_err_set(err, "workers: cannot claim %s: %s", w->spec, strerror(errno));
            return -1;
        }
        if (rc == 0)
            return first ? found(w, err) : inherit(w, err);
        rc = first ? is_dying(since_ms) : join_to_follow(w, err);
        if (rc < 0 || (rc == 0 && !first))
            return rc;
    } while (rc && group_wait(&since_ms));
    return refuse_taken(w, err);
}

/* Fills in what the engine asks for, from the interface or from what its owner has published. */
static void set_info(struct workers *w)
{
    const struct workers_shm *shm = w->g.shm;
    struct netio_info *i = &w->n.info;

    if (w->g.claim_fd[0] >= 0) {
        netio_get_info(w->inner, i);
    } else {
        i->mtu = shm->mtu;
        i->ifindex = shm->ifindex;
        i->offered = shm->offered;
        i->tso_max = shm->tso_max;
        i->hold_max = shm->hold_max;
        i->flush_calls = (int)shm->flush_calls;
        i->queues = shm->queues;
        memcpy(i->mac, shm->mac, sizeof(i->mac));
    }
    i->offered &= ~(NETIO_O_LRO | NETIO_O_RSS); /* a ring's frames are of the MTU */
    i->standby = 0;
    i->worker = w->g.number;
    i->workers = w->g.count;
}

static int make_descriptors(struct workers *w, const struct netio_err *err)
{
    w->set = epoll_create1(EPOLL_CLOEXEC);
    w->n.fd = w->set;
    if (w->set >= 0 && watch_fd(w, w->g.wake_fd) == 0)
        return 0;
    netio_err_set(err, "workers: cannot make an epoll set: %s", strerror(errno));
    return -1;
}

int lead_join(struct workers *w, const struct netio_group *names, uint32_t count,
              const struct netio_err *err)
{
    int first;

    if (group_join(&w->g, names, count, &first, err) != 0 || make_descriptors(w, err) != 0 ||
        take_role(w, first, err) != 0)
        return -1;
    set_info(w);
    if (w->n.info.mtu + ETH_TAGGED > w->g.stride ||
        pool_init(&w->pool, w->g.stride, 2 * WORKERS_RING) != 0) {
        netio_err_set(err, "workers: no memory for %u frames of %u bytes", 2 * WORKERS_RING,
                      w->g.stride);
        return -1;
    }
    group_enter(&w->g);
    w->alive = (uint64_t)1 << w->g.number;
    if (w->g.claim_fd[0] >= 0)
        return begin_to_steer(w, err);
    follow(w);
    return 0;
}

/* ---- service ---- */

/* The ports of a worker that died, or has left without closing its listeners. */
static void note_ports(const struct workers *w, uint32_t number)
{
    _Atomic uint8_t(*ports)[65536] = group_part(&w->g, number)->ports;
    uint32_t port;
    int ip6;

    for (ip6 = 0; ip6 < 2; ip6++)
        for (port = 0; port < 65536; port++)
            if (atomic_load_explicit(&ports[ip6][port], memory_order_relaxed))
                group_note_closed(&w->g, ip6, (uint16_t)port);
}

static int is_there(const struct workers *w, uint32_t number)
{
    return atomic_load(&w->g.shm->members[number].pid) && group_lives(&w->g, number);
}

static void check_members(struct workers *w)
{
    uint32_t i;

    for (i = 0; i < w->g.count; i++) {
        uint64_t bit = (uint64_t)1 << i;

        if (i == w->g.number || is_there(w, i)) {
            w->alive |= bit;
        } else if (w->alive & bit) {
            w->alive &= ~bit;
            note_ports(w, i);
        }
    }
}

void lead_service(struct workers *w)
{
    w->service_ns = w->last_ns + SERVICE_NS;
    if (w->steers) {
        check_members(w);
        group_answer(&w->g);
        w->closing = group_any_closed_lately(&w->g);
        describe(w); /* a wire may be linked now */
    } else if (is_leaderless(w)) {
        take_over(w);
        if (!w->steers)
            w->service_ns = w->last_ns + RETRY_NS;
    }
}

int lead_has_news(struct workers *w)
{
    struct pollfd p = {.fd = w->steerer_fd, .events = POLLIN};

    if (w->steers || (atomic_load(&w->g.shm->steerer) == w->steerer &&
                      (w->steerer_fd < 0 || poll(&p, 1, 0) <= 0)))
        return 0;
    w->service_ns = 0;
    return 1;
}

uint64_t lead_deadline(const struct workers *w)
{
    return w->steers || w->steerer_fd >= 0 ? UINT64_MAX : w->service_ns;
}
