/* SPDX-License-Identifier: Apache-2.0 */
/* area.c - see area.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/fds.h>

#include "area.h"
#include "common/daemon.h"
#include "common/exit.h"
#include "common/message.h"

#define ANSWER_SECONDS 5 /* as for other requests (daemon.c) */
#define REASONS_MAX    4096u

/* The ring of one engine. */
struct reader {
    const uint8_t *data; /* ring_size bytes, mapped twice in a row */
    uint64_t tail;       /* records before it have been taken */
    uint64_t end;        /* of the records to take, once the capture has ended */
    uint64_t frames;     /* taken */
    bool has;            /* next is the record at tail */
    struct toecap_record next;
};

struct area {
    int fd; /* the connection; -1: ended */
    uint8_t *base;
    uint64_t base_size;
    struct toecap_header h; /* a copy, checked */
    struct toecap_reason *reasons;
    struct toecap_ring *rings;
    struct reader *readers;
    uint8_t *copy; /* of the frame taken last */
};

/* Ends a text of the TOE and replaces what a terminal would take for commands. */
static void clean(char *text, size_t size)
{
    text[size - 1] = 0;
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

/* ---- opening ---- */

/* Sends the request and receives the memory. Returns its descriptor, or -1 after a message. */
static int request(int fd, uint32_t snaplen, uint32_t mib)
{
    struct toedev_hello hello = {
        .magic = TOEDEV_MAGIC, .version = TOEDEV_CONTRACT_VERSION, .kind = TOEDEV_HELLO_CAPTURE};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    struct toedev_welcome w = {0};
    TOE_FDS_ROOM(1) control;
    struct iovec iov = {&w, sizeof w};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof control};
    int memory = -1;
    ssize_t n;

    snprintf(hello.name, sizeof hello.name, "%u %u", snaplen, mib);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
        send(fd, &hello, sizeof hello, MSG_NOSIGNAL) < 0) {
        cli_message("cannot send the request to the TOE: %s", strerror(errno));
        return -1;
    }
    do {
        n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n > 0)
        (void)toe_fds_take(&msg, &memory, 1);
    clean(w.message, sizeof w.message);
    if (n == (ssize_t)sizeof w && w.magic == TOEDEV_MAGIC && !w.reason && memory >= 0)
        return memory;
    if (n == (ssize_t)sizeof w && w.magic == TOEDEV_MAGIC && w.reason)
        cli_message("capture: the TOE refuses: %s", w.message);
    else if (n < 0 && errno == EAGAIN)
        cli_message("capture: the TOE did not answer within %d seconds: it is stopped, or it hangs",
                    ANSWER_SECONDS);
    else if (n < 0)
        cli_message("capture: no answer of the TOE: %s", strerror(errno));
    else
        cli_message("capture: this TOE cannot capture: it is of another release than toehold");
    if (memory >= 0)
        close(memory);
    return -1;
}

static bool is_within(uint64_t at, uint64_t count, uint64_t each, uint64_t end)
{
    return at <= end && count <= (end - at) / each;
}

/* Checks the header against the size of the memory. */
static bool is_sound(const struct toecap_header *h, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return h->magic == TOECAP_MAGIC && h->version == TOECAP_VERSION && h->engines >= 1 &&
           h->engines <= TOECAP_ENGINES_MAX && h->reasons <= REASONS_MAX &&
           h->snaplen <= TOECAP_SNAPLEN_MAX && h->ring_size >= page &&
           (h->ring_size & (h->ring_size - 1)) == 0 &&
           h->ring_size <= (uint64_t)TOECAP_MIB_MAX << 20 && h->data_at % page == 0 &&
           h->rings_at % _Alignof(struct toecap_ring) == 0 &&
           is_within(h->reasons_at, h->reasons, sizeof(struct toecap_reason), h->data_at) &&
           is_within(h->rings_at, h->engines, sizeof(struct toecap_ring), h->data_at) &&
           is_within(h->data_at, h->engines, h->ring_size, size);
}

static const uint8_t *map_twice(int fd, uint64_t at, uint64_t size)
{
    const int flags = MAP_SHARED | MAP_FIXED;
    uint8_t *p = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (mmap(p, size, PROT_READ, flags, fd, (off_t)at) != MAP_FAILED &&
        mmap(p + size, size, PROT_READ, flags, fd, (off_t)at) != MAP_FAILED)
        return p;
    munmap(p, 2 * size);
    return NULL;
}

/* Maps the header. Its memory must not shrink: a read would end this process by SIGBUS. */
static bool map_base(struct area *a, int memory)
{
    struct stat st;
    int seals = fcntl(memory, F_GET_SEALS);
    void *p;

    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(memory, &st) != 0 ||
        st.st_size < (off_t)sizeof a->h || pread(memory, &a->h, sizeof a->h, 0) != sizeof a->h ||
        !is_sound(&a->h, (uint64_t)st.st_size))
        return false;
    clean(a->h.toe, sizeof a->h.toe);
    clean(a->h.netif, sizeof a->h.netif);
    p = mmap(NULL, a->h.data_at, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (p == MAP_FAILED)
        return false;
    a->base = p;
    a->base_size = a->h.data_at;
    a->rings = (void *)(a->base + a->h.rings_at);
    return true;
}

static bool copy_reasons(struct area *a)
{
    uint32_t i;

    a->reasons = calloc(a->h.reasons + 1, sizeof *a->reasons);
    if (!a->reasons)
        return false;
    memcpy(a->reasons, a->base + a->h.reasons_at, a->h.reasons * sizeof *a->reasons);
    for (i = 0; i < a->h.reasons; i++) {
        clean(a->reasons[i].name, sizeof a->reasons[i].name);
        clean(a->reasons[i].text, sizeof a->reasons[i].text);
    }
    return true;
}

static bool map_all(struct area *a, int memory)
{
    uint32_t i;

    if (!map_base(a, memory) || !copy_reasons(a))
        return false;
    a->readers = calloc(a->h.engines, sizeof *a->readers);
    a->copy = malloc(TOECAP_SNAPLEN_MAX);
    if (!a->readers || !a->copy)
        return false;
    for (i = 0; i < a->h.engines; i++) {
        a->readers[i].data = map_twice(memory, a->h.data_at + i * a->h.ring_size, a->h.ring_size);
        if (!a->readers[i].data)
            return false;
    }
    return true;
}

struct area *area_open(const char *socket, uint32_t snaplen, uint32_t mib, int *code)
{
    struct area *a = calloc(1, sizeof *a);
    char why[512];
    int memory;

    *code = CLI_NO_DAEMON;
    if (!a) {
        cli_message("capture: no memory");
        return NULL;
    }
    a->fd = cli_connect(socket, why, sizeof why);
    if (a->fd < 0) {
        cli_message("%s", why);
        free(a);
        return NULL;
    }
    *code = CLI_FAILURE;
    memory = request(a->fd, snaplen, mib);
    if (memory >= 0) {
        if (map_all(a, memory)) {
            close(memory);
            return a;
        }
        close(memory);
        cli_message("capture: cannot use the memory of the TOE; use toehold and toed of one "
                    "release, and see whether this process may map %u MiB",
                    2 * mib);
    }
    area_close(a);
    return NULL;
}

static uint64_t head_of(const struct area *a, unsigned i)
{
    return atomic_load_explicit(&a->rings[i].head, memory_order_acquire);
}

void area_stop(struct area *a)
{
    uint32_t i;

    if (a->fd < 0)
        return;
    for (i = 0; a->readers && i < a->h.engines; i++)
        a->readers[i].end = head_of(a, i);
    close(a->fd);
    a->fd = -1;
}

void area_close(struct area *a)
{
    uint32_t i;

    area_stop(a);
    for (i = 0; a->readers && i < a->h.engines; i++)
        if (a->readers[i].data)
            munmap((void *)(uintptr_t)a->readers[i].data, 2 * a->h.ring_size);
    if (a->base)
        munmap(a->base, a->base_size);
    free(a->readers);
    free(a->reasons);
    free(a->copy);
    free(a);
}

/* ---- reading ---- */

const struct toecap_header *area_header(const struct area *a)
{
    return &a->h;
}

int area_fd(const struct area *a)
{
    return a->fd;
}

bool area_ended(const struct area *a)
{
    struct pollfd p = {.fd = a->fd, .events = POLLIN};

    return a->fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Passes a record: its room is the engine's again. */
static void pass(struct area *a, unsigned i)
{
    struct reader *r = &a->readers[i];

    r->tail += r->next.size;
    r->has = false;
    atomic_store_explicit(&a->rings[i].tail, r->tail, memory_order_release);
}

/* Looks for the next record of a ring, into r->next. Returns 1, 0 when there is none, -1 when the
 * ring is broken. */
static int look(struct area *a, unsigned i)
{
    struct reader *r = &a->readers[i];

    while (!r->has) {
        uint64_t there = (a->fd < 0 ? r->end : head_of(a, i)) - r->tail;

        if (there == 0)
            return 0;
        if (there > a->h.ring_size || there < sizeof r->next)
            return -1;
        memcpy(&r->next, r->data + (r->tail & (a->h.ring_size - 1)), sizeof r->next);
        if (r->next.size % 8 != 0 || r->next.size < sizeof r->next || r->next.size > there ||
            r->next.cap > r->next.size - sizeof r->next || r->next.cap > TOECAP_SNAPLEN_MAX ||
            r->next.cap > r->next.len || r->next.reason > a->h.reasons)
            return -1;
        r->has = true;
        if (r->next.flags & TOECAP_VOID)
            pass(a, i);
    }
    return 1;
}

static void take(struct area *a, unsigned i, struct frame *f)
{
    struct reader *r = &a->readers[i];
    const struct toecap_record *c = &r->next;

    memcpy(a->copy, r->data + (r->tail & (a->h.ring_size - 1)) + sizeof *c, c->cap);
    *f = (struct frame){.engine = i,
                        .time_ns = c->time_ns + (uint64_t)a->h.epoch_ns,
                        .cycle = c->cycle,
                        .data = a->copy,
                        .len = c->len,
                        .cap = c->cap,
                        .qp = c->qp,
                        .slot = c->slot,
                        .flags = c->flags,
                        .gso_size = c->gso_size,
                        .reason = c->reason ? &a->reasons[c->reason - 1] : NULL};
    if (c->qp != TOECAP_NONE && c->serial)
        snprintf(f->flow, sizeof f->flow, "%u.%" PRIu32 ".%" PRIu32, i, c->ring, c->serial);
    r->frames++;
    pass(a, i);
}

int area_next(struct area *a, struct frame *f)
{
    unsigned i, first = a->h.engines;

    for (i = 0; i < a->h.engines; i++) {
        int is = look(a, i);

        if (is < 0) {
            cli_message("capture: the records of the TOE's engine %u are broken; use toehold and "
                        "toed of one release",
                        i);
            return -1;
        }
        if (is &&
            (first == a->h.engines || a->readers[i].next.time_ns < a->readers[first].next.time_ns))
            first = i;
    }
    if (first == a->h.engines)
        return 0;
    take(a, first, f);
    return 1;
}

void area_counts(const struct area *a, unsigned engine, uint64_t *frames, uint64_t *lost)
{
    *lost = atomic_load_explicit(&a->rings[engine].lost, memory_order_relaxed);
    *frames = a->readers[engine].frames + *lost;
}
