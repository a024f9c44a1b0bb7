/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_area.c - makes the memory of a capture, attaches a wiretap to each engine, and detaches
 * them (capture_area.h). Each ring is mapped twice in a row, so that no record wraps.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <toe/capture.h>
#include <toe/number.h>

#include "base/clock.h"
#include "base/log_limited.h"
#include "capture_area.h"
#include "frames/engine_state.h"
#include "frames/wiretap.h"
#include "hosts/trace.h"
#include "round/thread.h"

#define PAGE        65536u /* a multiple of every page size in use */
#define SNAPLEN_MIN 64u    /* the headers of a segment without options */

struct capture_area {
    int pid; /* of the tool */
    struct toecap_header *header;
    uint64_t header_size;        /* bytes mapped at header: all but the records */
    struct toecap_header layout; /* as written: the tool may change the shared one */
    uint8_t **data;              /* of each engine: ring_size bytes, mapped twice */
    struct wiretap **taps;       /* of each engine */
};

/* ---- the layout ---- */

static uint64_t whole(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static void lay_out(const struct control *c, uint32_t snaplen, uint32_t mib,
                    struct toecap_header *h)
{
    struct timespec t;

    memset(h, 0, sizeof(*h));
    h->magic = TOECAP_MAGIC;
    h->version = TOECAP_VERSION;
    h->engines = c->engine_count;
    h->reasons = DROP_REASONS - 1;
    h->reasons_at = whole(sizeof(*h), 64);
    h->rings_at = whole(h->reasons_at + h->reasons * sizeof(struct toecap_reason), 64);
    h->data_at = whole(h->rings_at + h->engines * sizeof(struct toecap_ring), PAGE);
    h->ring_size = (uint64_t)mib << 20;
    h->snaplen = snaplen;
    clock_gettime(CLOCK_REALTIME, &t);
    h->epoch_ns = t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec - (int64_t)engine_clock();
    memcpy(h->mac, c->mac, sizeof(h->mac));
    snprintf(h->toe, sizeof(h->toe), "%s", c->toe);
    snprintf(h->netif, sizeof(h->netif), "%s", c->options->netif);
}

/* Parses "SNAPLEN MIB". */
static int parse(const char *text, uint32_t *snaplen, uint32_t *mib)
{
    char first[32];
    const char *second = strchr(text, ' ');
    uint64_t value;

    if (!second || (size_t)(second - text) >= sizeof(first))
        return -1;
    memcpy(first, text, (size_t)(second - text));
    first[second - text] = 0;
    if (!toe_number(first, SNAPLEN_MIN, TOECAP_SNAPLEN_MAX, &value, NULL, 0))
        return -1;
    *snaplen = (uint32_t)value;
    if (!toe_number(second + 1, 1, TOECAP_MIB_MAX, &value, NULL, 0) || (value & (value - 1)) != 0)
        return -1;
    *mib = (uint32_t)value;
    return 0;
}

/* ---- memory ---- */

static uint8_t *map_twice(int fd, uint64_t at, uint64_t size)
{
    const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;
    uint8_t *p = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (mmap(p, size, prot, flags, fd, (off_t)at) != MAP_FAILED &&
        mmap(p + size, size, prot, flags, fd, (off_t)at) != MAP_FAILED)
        return p;
    munmap(p, 2 * size);
    return NULL;
}

static void free_area(struct capture_area *a)
{
    uint32_t i;

    for (i = 0; a->data && i < a->layout.engines; i++)
        if (a->data[i])
            munmap(a->data[i], 2 * a->layout.ring_size);
    for (i = 0; a->taps && i < a->layout.engines; i++)
        free(a->taps[i]);
    if (a->header)
        munmap(a->header, a->header_size);
    free(a->data);
    free(a->taps);
    free(a);
}

/* Makes a memfd whose pages exist: an engine that touched a missing one would end by SIGBUS. */
static int make_file(uint64_t size, char *err, size_t err_size)
{
    int fd = memfd_create("toehold-capture", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0 && fallocate(fd, 0, 0, (off_t)size) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    snprintf(err, err_size, "no memory for a capture (%llu MiB): %s",
             (unsigned long long)(size >> 20), strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int map_header(struct capture_area *a, int fd)
{
    void *p = mmap(NULL, a->header_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        return -1;
    a->header = p;
    *a->header = a->layout;
    wiretap_reasons((void *)((uint8_t *)p + a->layout.reasons_at));
    return 0;
}

static void name_slot(const void *owner, struct wiretap_flow *flow)
{
    const struct slot *s = owner;

    flow->qp = s->qp->id;
    flow->slot = s->index;
    trace_id(s, &flow->ring, &flow->serial);
}

static int make_taps(struct capture_area *a, int fd)
{
    const struct toecap_header *h = &a->layout;
    struct toecap_ring *rings = (void *)((uint8_t *)a->header + h->rings_at);
    uint32_t i;

    for (i = 0; i < h->engines; i++) {
        struct wiretap_config cfg = {
            .ring = &rings[i], .ring_size = h->ring_size, .snaplen = h->snaplen, .name = name_slot};

        cfg.data = a->data[i] = map_twice(fd, h->data_at + i * h->ring_size, h->ring_size);
        if (!cfg.data)
            return -1;
        a->taps[i] = wiretap_new(&cfg);
        if (!a->taps[i])
            return -1;
    }
    return 0;
}

static struct capture_area *new_area(const struct toecap_header *layout, int *fd, char *err,
                                     size_t err_size)
{
    struct capture_area *a = calloc(1, sizeof(*a));

    snprintf(err, err_size, "no memory for a capture");
    if (!a)
        return NULL;
    a->layout = *layout;
    a->header_size = layout->data_at;
    a->data = calloc(layout->engines, sizeof(*a->data));
    a->taps = calloc(layout->engines, sizeof(struct wiretap *));
    *fd = -1;
    if (a->data && a->taps)
        *fd = make_file(layout->data_at + layout->engines * layout->ring_size, err, err_size);
    if (*fd >= 0 && map_header(a, *fd) == 0 && make_taps(a, *fd) == 0)
        return a;
    if (*fd >= 0)
        close(*fd);
    free_area(a);
    return NULL;
}

/* ---- begin and end ---- */

static void attach_tap(struct engine *e, void *arg)
{
    e->wiretap = arg;
}

/* Refuses users that --user-limits separates from each other: a frame may be another's. */
static int may_capture(const struct control *c, const struct client *cl)
{
    static const struct user_limits none;

    return cl->uid == 0 || cl->uid == geteuid() ||
           memcmp(&c->options->limits, &none, sizeof(none)) == 0;
}

int capture_begin(struct control *c, const struct client *cl, const char *text, int *fd, char *err,
                  size_t err_size)
{
    struct toecap_header layout;
    uint32_t snaplen, mib, i;

    if (!may_capture(c, cl)) {
        snprintf(err, err_size, "with --user-limits only root may capture: run toehold as root");
        return -1;
    }
    if (c->capture) {
        snprintf(err, err_size, "pid %d is capturing already; end it first", c->capture->pid);
        return -1;
    }
    if (parse(text, &snaplen, &mib) != 0) {
        /* without the text: it would reach the log as it is */
        snprintf(err, err_size,
                 "such a capture is not possible; use toehold and toed of one release");
        return -1;
    }
    lay_out(c, snaplen, mib, &layout);
    c->capture = new_area(&layout, fd, err, err_size);
    if (!c->capture)
        return -1;
    c->capture->pid = cl->pid;
    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], attach_tap, c->capture->taps[i]);
    log_limited("pid %d captures frames", cl->pid);
    return 0;
}

void capture_end(struct control *c)
{
    uint32_t i;

    if (!c->capture)
        return;
    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], attach_tap, NULL);
    log_limited("pid %d has ended its capture", c->capture->pid);
    free_area(c->capture);
    c->capture = NULL;
}
