/* SPDX-License-Identifier: Apache-2.0 */
/* workers_group.c - the group of the workers of one address (workers_group.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "workers_file.h"
#include "workers_group.h"

#define WAIT_LIMIT_MS 10000u /* a worker that opens the interface may take three seconds */
#define WAIT_STEP_MS  2u
#define DRAIN_MAX     16
#define BACKLOG       64    /* processes that ask at once whose claim it is */
#define CLOSED_MS     3000u /* a peer repeats its SYN after one second and after three */

uint64_t group_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int group_wait(uint64_t *since_ms)
{
    const struct timespec step = {0, WAIT_STEP_MS * 1000000L};

    if (!*since_ms)
        *since_ms = group_clock_ms();
    if (group_clock_ms() - *since_ms >= WAIT_LIMIT_MS)
        return 0;
    nanosleep(&step, NULL);
    return 1;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- names: abstract sockets ---- */

/* sun_path[0] stays 0: abstract. */
static socklen_t name_of(struct sockaddr_un *a, const char *name)
{
    int n;

    memset(a, 0, sizeof(*a));
    a->sun_family = AF_UNIX;
    n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)n;
}

static socklen_t member_name(const struct group *g, uint32_t number, struct sockaddr_un *a)
{
    char name[GROUP_CLAIM + 16];

    snprintf(name, sizeof(name), "%s/worker/%u", g->claims[0], number % WORKERS_MAX);
    return name_of(a, name);
}

int group_lives(const struct group *g, uint32_t number)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;
    struct sockaddr_un a;
    socklen_t len = member_name(g, number, &a);

    if (fd < 0)
        return 1; /* not known */
    rc = connect(fd, (const struct sockaddr *)&a, len);
    close(fd);
    return rc == 0;
}

void group_wake(const struct group *g, uint32_t number)
{
    struct sockaddr_un a;
    socklen_t len = member_name(g, number, &a);

    /* EAGAIN: it is being woken already; ECONNREFUSED: it is dead */
    (void)!sendto(g->wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&a, len);
}

/* Takes the lowest free number. Returns 0, or 1 when all are in use, -1 with errno. */
static int take_number(struct group *g, uint32_t count)
{
    struct sockaddr_un a;
    socklen_t len;

    g->wake_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (g->wake_fd < 0)
        return -1;
    for (g->number = 0; g->number < count; g->number++) {
        len = member_name(g, g->number, &a);
        if (bind(g->wake_fd, (struct sockaddr *)&a, len) == 0)
            return 0;
        if (errno != EADDRINUSE)
            return -1;
    }
    return 1;
}

static int is_alone(const struct group *g)
{
    uint32_t i;

    for (i = 0; i < WORKERS_MAX; i++)
        if (i != g->number && group_lives(g, i))
            return 0;
    return 1;
}

/* ---- the claim ---- */

int group_claim(struct group *g)
{
    struct sockaddr_un a;
    unsigned i;
    int e;

    for (i = 0; i < g->claim_count; i++) {
        socklen_t len = name_of(&a, g->claims[i]);

        g->claim_fd[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (g->claim_fd[i] < 0 || bind(g->claim_fd[i], (struct sockaddr *)&a, len) != 0)
            break;
        if (i == 0 && listen(g->claim_fd[i], BACKLOG) != 0)
            break;
    }
    if (i == g->claim_count)
        return 0;
    e = errno;
    group_unclaim(g);
    errno = e;
    return e == EADDRINUSE ? 1 : -1;
}

void group_unclaim(struct group *g)
{
    unsigned i;

    for (i = 0; i < NETIO_CLAIMS; i++)
        close_fd(&g->claim_fd[i]);
}

uint32_t group_claimant(const struct group *g)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct ucred cred = {0};
    socklen_t cred_len = sizeof(cred), len;
    struct sockaddr_un a;

    if (fd < 0)
        return 0;
    len = name_of(&a, g->claims[0]);
    if (connect(fd, (const struct sockaddr *)&a, len) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) != 0)
        cred.pid = 0;
    close(fd);
    return (uint32_t)cred.pid;
}

void group_drain(const struct group *g)
{
    char byte[8];
    int i;

    for (i = 0; i < DRAIN_MAX && recv(g->wake_fd, byte, sizeof(byte), MSG_DONTWAIT) >= 0; i++)
        ;
}

void group_answer(const struct group *g)
{
    int i, fd;

    for (i = 0; i < DRAIN_MAX && g->claim_fd[0] >= 0; i++) {
        fd = accept4(g->claim_fd[0], NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return;
        close(fd);
    }
}

/* ---- the file ---- */

static int refuse(const struct group *g, const struct netio_err *err, const char *why)
{
    (void)workers_file_refuse(g->path, err, why);
    return -1;
}

int group_join(struct group *g, const struct netio_group *names, uint32_t count, int *first,
               const struct netio_err *err)
{
    unsigned i;
    int rc;

    memset(g, 0, sizeof(*g));
    g->file = g->wake_fd = -1;
    snprintf(g->path, sizeof(g->path), "%s", names->path);
    for (i = 0; i < NETIO_CLAIMS; i++)
        g->claim_fd[i] = -1;
    for (i = 0; i < NETIO_CLAIMS && names->claims[i]; i++)
        snprintf(g->claims[g->claim_count++], sizeof(g->claims[0]), "%s", names->claims[i]);
    g->count = count;
    g->file = workers_file_join(g->path, err);
    if (g->file < 0)
        return -1;
    rc = take_number(g, count);
    if (rc == 0) {
        *first = is_alone(g);
        if (*first)
            workers_file_sweep(g->path);
        return 0;
    }
    if (rc > 0)
        netio_err_set(err,
                      "workers: there are %u already: give workers() a larger number, with room "
                      "for new workers beside old ones",
                      count);
    else
        netio_err_set(err, "workers: cannot make a socket: %s", strerror(errno));
    return -1;
}

static int map(struct group *g, const struct netio_err *err)
{
    void *p = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_SHARED, g->file, 0);

    if (p == MAP_FAILED)
        return refuse(g, err, strerror(errno));
    g->shm = p;
    return 0;
}

/* Has the file system reserve memory: a write into a hole of a full one would kill the process. */
static int reserve(struct group *g, size_t from, size_t size, const struct netio_err *err)
{
    int rc = posix_fallocate(g->file, (off_t)from, (off_t)size);

    return rc == 0 ? 0 : refuse(g, err, strerror(rc));
}

static int reserve_part(struct group *g, const struct netio_err *err)
{
    return reserve(g, workers_part_at(g->number, g->stride), workers_part_size(g->stride), err);
}

int group_create(struct group *g, uint32_t stride, uint64_t options, const struct netio_err *err)
{
    struct workers_shm *shm;

    g->stride = stride;
    g->size = workers_size(g->count, stride);
    if (ftruncate(g->file, 0) != 0 || ftruncate(g->file, (off_t)g->size) != 0)
        return refuse(g, err, strerror(errno));
    if (reserve(g, 0, sizeof(struct workers_shm), err) != 0 || reserve_part(g, err) != 0 ||
        map(g, err) != 0)
        return -1;
    shm = g->shm;
    if (getrandom(shm->key, sizeof(shm->key), 0) != sizeof(shm->key))
        return refuse(g, err, "no random numbers");
    shm->count = g->count;
    shm->stride = stride;
    shm->options = options;
    shm->magic = WORKERS_MAGIC;
    return 0;
}

int group_attach(struct group *g, uint64_t options, const struct netio_err *err)
{
    uint32_t head[3] = {0}; /* magic, count, stride */
    struct stat st;

    if (g->shm)
        return 0;
    if (pread(g->file, head, sizeof(head), 0) != sizeof(head) || fstat(g->file, &st) != 0)
        return refuse(g, err, "it is not the workers' memory: end all workers");
    g->stride = head[2];
    if (head[0] != WORKERS_MAGIC || head[1] == 0 || head[1] > WORKERS_MAX || g->stride == 0 ||
        g->stride % WORKERS_UNIT || g->stride > WORKERS_FRAME_MAX ||
        (uint64_t)st.st_size != workers_size(head[1], g->stride))
        return refuse(g, err, "it is of another version: end all workers");
    if (head[1] != g->count)
        return refuse(g, err, "the others have another number in workers(): use the same");
    g->size = workers_size(g->count, g->stride);
    if (reserve_part(g, err) != 0 || map(g, err) != 0)
        return -1;
    if (g->shm->options != options)
        return refuse(g, err, "the others have another interface or address: use the same options");
    return 0;
}

static uint32_t closed_word(int ip6, uint16_t port)
{
    return 1u << 17 | (ip6 ? 1u << 16 : 0) | port;
}

void group_note_closed(const struct group *g, int ip6, uint16_t port)
{
    uint32_t at = atomic_fetch_add(&g->shm->closed_next, 1) % WORKERS_CLOSED;

    atomic_store(&g->shm->closed[at].at_ms, group_clock_ms());
    atomic_store(&g->shm->closed[at].what, closed_word(ip6, port));
}

static int is_recent(const struct workers_closed *c)
{
    return group_clock_ms() < atomic_load(&c->at_ms) + CLOSED_MS;
}

int group_closed_lately(const struct group *g, int ip6, uint16_t port)
{
    uint32_t i;

    for (i = 0; i < WORKERS_CLOSED; i++)
        if (atomic_load(&g->shm->closed[i].what) == closed_word(ip6, port) &&
            is_recent(&g->shm->closed[i]))
            return 1;
    return 0;
}

int group_any_closed_lately(const struct group *g)
{
    uint32_t i;

    for (i = 0; i < WORKERS_CLOSED; i++)
        if (atomic_load(&g->shm->closed[i].what) && is_recent(&g->shm->closed[i]))
            return 1;
    return 0;
}

void group_enter(struct group *g)
{
    struct workers_member *m = &g->shm->members[g->number];
    struct workers_part *part = group_part(g, g->number);
    struct workers_ring *rx = &part->rings[WORKERS_RX];
    memset(part->ports, 0, sizeof(part->ports));
    /* frames for a predecessor with this number; those that it has sent still leave */
    atomic_store(&rx->tail, atomic_load(&rx->head));
    atomic_store(&m->sleeping, 0);
    atomic_store(&m->joined_ms, group_clock_ms());
    atomic_store(&m->pid, (uint32_t)getpid());
    g->joined = 1;
    workers_file_live(g->file);
}

void group_leave(struct group *g)
{
    uint32_t i;

    if (g->joined) {
        atomic_store(&g->shm->members[g->number].pid, 0);
        if (g->claim_fd[0] >= 0)
            atomic_store(&g->shm->steerer, 0);
        group_unclaim(g);
        for (i = 0; i < g->count; i++) /* one of them steers next */
            if (i != g->number && atomic_load(&g->shm->members[i].pid))
                group_wake(g, i);
    }
    group_unclaim(g);
    if (g->shm)
        munmap(g->shm, g->size);
    g->shm = NULL;
    if (g->file >= 0)
        workers_file_remove(g->path, g->file);
    close_fd(&g->wake_fd);
    close_fd(&g->file);
    g->joined = 0;
}

void group_forget(struct group *g)
{
    group_unclaim(g);
    close_fd(&g->wake_fd);
    close_fd(&g->file);
}
