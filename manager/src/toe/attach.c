/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.c - attaches a queue pair of toed: the host's side of attach.h (SEEDS S1.10).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <toe/fds.h>

#include "attach.h"
#include "config.h"
#include "host.h"
#include "inline.h"
#include "internal.h"
#include "log.h"
#include "qp.h"

#define WELCOME_SECS 5
#define WELCOME_FDS  2
#define SLOTS_LEAST  1 /* serves one client after another; without a queue pair all of them wait */

static int fail(char *err, size_t size, const char *what, const char *detail)
{
    snprintf(err, size, "%s%s%s", what, detail ? ": " : "", detail ? detail : "");
    return -1;
}

static int connect_toed(const char *path, char *err, size_t size)
{
    struct timeval limit = {.tv_sec = WELCOME_SECS};
    int fd;

    fd = sys_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail(err, size, "cannot make a Unix socket", strerror(errno));
    sys_setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    sys_setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (thost_attach(fd, path) < 0) {
        snprintf(err, size, "no TOE answers at %s (%s); %s", path, strerror(errno),
                 errno == EACCES ? "may this user open it? see toed --group" : "is toed running?");
        sys_close(fd);
        return -1;
    }
    return fd;
}

/* Creates the DMA area. It is sealed, so that its size cannot change while the TOE uses it, and not
 * inherited by fork. */
static int make_area(struct tqp *qp, char *err, size_t size)
{
    void *m;

    qp->mem_fd = tfd_internal(memfd_create("toehold-qp", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (qp->mem_fd < 0)
        return fail(err, size, "cannot make the DMA area", strerror(errno));
    if (ftruncate(qp->mem_fd, (off_t)qp->layout.total) < 0 ||
        sys_fcntl(qp->mem_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return fail(err, size, "cannot size the DMA area", strerror(errno));
    m = mmap(NULL, qp->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, qp->mem_fd, 0);
    if (m == MAP_FAILED)
        return fail(err, size, "cannot map the DMA area", strerror(errno));
    madvise(m, qp->layout.total, MADV_DONTFORK);
    tqp_use_area(qp, m);
    return 0;
}

/* Sends a hello of this kind with n descriptors. */
static int send_fds(const struct tqp *qp, uint32_t kind, const int *fds, size_t n)
{
    struct toedev_hello h = {.magic = TOEDEV_MAGIC,
                             .version = TOEDEV_CONTRACT_VERSION,
                             .kind = kind,
                             .engine = qp->engine,
                             .qp = qp->cfg};
    TOE_FDS_ROOM(2) room;
    struct iovec v = {&h, sizeof(h)};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

    /* not argv[0]: nginx and others overwrite that */
    prctl(PR_GET_NAME, h.name);
    toe_fds_put(&m, &room, fds, n);
    return sys_sendmsg(qp->ctl_fd, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(h) ? 0 : -1;
}

static int send_hello(struct tqp *qp, char *err, size_t size)
{
    int fds[2] = {qp->mem_fd, qp->irq_fd};

    if (send_fds(qp, TOEDEV_HELLO_ATTACH, fds, 2) < 0)
        return fail(err, size, "the TOE did not take our greeting", strerror(errno));
    return 0;
}

void tqp_moved(const struct tqp *qp, int pidfd)
{
    (void)send_fds(qp, TOEDEV_HELLO_MOVED, &pidfd, 1);
}

/* Returns the pid of the TOE behind the connection if it is stopped (SIGSTOP, a debugger), else 0.
 */
static int stopped_toe(int fd)
{
    struct ucred cred = {0};
    socklen_t len = sizeof(cred);
    char path[32], line[256];
    const char *end;
    ssize_t n;
    int stat;

    if (sys_getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.pid <= 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", cred.pid);
    stat = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (stat < 0)
        return 0;
    n = sys_read(stat, line, sizeof(line) - 1);
    sys_close(stat);
    line[n > 0 ? n : 0] = 0;
    end = strrchr(line, ')'); /* the name may contain anything */
    return end && end[1] == ' ' && (end[2] == 'T' || end[2] == 't') ? cred.pid : 0;
}

static int fail_silent(int fd, char *err, size_t size)
{
    int e = errno, pid = stopped_toe(fd);

    if (!pid)
        return fail(err, size, "the TOE did not answer", strerror(e));
    snprintf(err, size, "the TOE (pid %d) is stopped; continue it: kill -CONT %d", pid, pid);
    return -1;
}

static int take_welcome(struct tqp *qp, struct toedev_welcome *w, char *err, size_t size)
{
    TOE_FDS_ROOM(4) room;
    struct iovec v = {w, sizeof(*w)};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room)};
    int fds[WELCOME_FDS];
    size_t n;
    ssize_t got;

    thost_yield(0); /* a TOE in this thread answers now */
    do
        got = sys_recvmsg(qp->ctl_fd, &m, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail_silent(qp->ctl_fd, err, size);
    n = toe_fds_take(&m, fds, WELCOME_FDS);
    if (n >= WELCOME_FDS) {
        sys_close(fds[0]); /* the register page: libtoe does not use it */
        qp->doorbell_fd = tfd_internal(fds[1]);
    } else if (n == 1) {
        sys_close(fds[0]);
    }
    if (got != (ssize_t)sizeof(*w) || w->magic != TOEDEV_MAGIC)
        return fail(err, size, "what answers at the socket is not a TOE", NULL);
    w->message[sizeof(w->message) - 1] = 0;
    if (w->version != TOEDEV_CONTRACT_VERSION) {
        snprintf(err, size, "the TOE speaks contract version %u, this program version %u",
                 w->version, TOEDEV_CONTRACT_VERSION);
        return -1;
    }
    if (w->reason) {
        snprintf(err, size, "the TOE refuses: %s (%s)", w->message, strerror((int)w->reason));
        return -1;
    }
    if (qp->doorbell_fd < 0 || !w->engines || w->engines > 65536 || w->prefix_len > 32)
        return fail(err, size, "the TOE's welcome is not complete", NULL);
    qp->qp_id = w->qp_id;
    return 0;
}

static void note_welcome(const struct toedev_welcome *w, struct twelcome *out)
{
    out->engines = w->engines < TOE_MAX_ENGINES ? w->engines : TOE_MAX_ENGINES;
    memcpy(&out->ip, w->ip, 4);
    memcpy(&out->gw, w->gateway, 4);
    out->shared = (w->flags & TOEDEV_WELCOME_SHARED) != 0;
    out->stays = (w->flags & TOEDEV_WELCOME_STAYS) != 0;
    out->takes_eor = (w->flags & TOEDEV_WELCOME_EOR) != 0;
    out->mask = w->prefix_len ? htonl(UINT32_MAX << (32 - w->prefix_len)) : 0;
}

/* Returns whether n bytes of address space are left. */
static bool has_space(size_t n)
{
    void *m = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return m != MAP_FAILED && munmap(m, n) == 0;
}

/* Lets the queue pair use half of the address space that RLIMIT_AS leaves: workers of mail and web
 * servers have such limits, and cannot serve their listeners without a queue pair. */
static void limit_slots(struct tconfig *cfg)
{
    uint64_t slot = (uint64_t)cfg->tx_size + cfg->rx_size;
    uint32_t wanted = cfg->slots;
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    while (cfg->slots > SLOTS_LEAST && !has_space(2 * cfg->slots * slot))
        cfg->slots /= 2;
    if (cfg->slots < wanted)
        tlog_once("RLIMIT_AS leaves room for %u connections on the TOE instead of %u; less is "
                  "needed with smaller TOEHOLD_TX_SIZE and TOEHOLD_RX_SIZE",
                  cfg->slots, wanted);
}

struct tqp *tqp_attach(const struct tconfig *settings, uint32_t engine, struct twelcome *out,
                       char *err, size_t err_size)
{
    struct toedev_welcome w = {0};
    struct tconfig limited = *settings;
    const struct tconfig *cfg = &limited;
    struct tqp *qp;

    limit_slots(&limited);
    qp = tqp_new(cfg, engine);
    if (!qp) {
        fail(err, err_size, "no memory for a queue pair", NULL);
        return NULL;
    }
    qp->ctl_fd = tfd_internal(connect_toed(cfg->socket, err, err_size));
    if (qp->ctl_fd < 0 || make_area(qp, err, err_size) < 0)
        goto failed;
    qp->irq_fd = tfd_internal(sys_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (qp->irq_fd < 0) {
        fail(err, err_size, "cannot make an eventfd", strerror(errno));
        goto failed;
    }
    qp->db->irq_count = cfg->irq_count;
    qp->db->irq_usec = cfg->irq_usec;
    qp->adaptive = !cfg->irq_count && !cfg->irq_usec;
    if (send_hello(qp, err, err_size) < 0 || take_welcome(qp, &w, err, err_size) < 0)
        goto failed;
    note_welcome(&w, out);
    tqp_register(qp);
    return qp;
failed:
    tqp_detach(qp);
    return NULL;
}

void tqp_detach(struct tqp *qp)
{
    if (qp->inside)
        tinline_close(qp);
    else if (qp->area && !qp->kept)
        munmap(qp->area, qp->layout.total);
    qp->area = NULL;
    tqp_forget(qp);
}

void tqp_forget(struct tqp *qp)
{
    if (qp->inside)
        tinline_forget(qp);
    tfd_internal_close(qp->doorbell_fd);
    tfd_internal_close(qp->irq_fd);
    tfd_internal_close(qp->ctl_fd);
    tfd_internal_close(qp->mem_fd);
    free(qp->slots);
    free(qp->releases);
    free(qp);
}

bool tqp_gone(const struct tqp *qp)
{
    struct pollfd p = {.fd = qp->ctl_fd, .events = POLLIN};
    struct timespec now = {0, 0};

    if (qp->inside)
        return false; /* a TOE in this process cannot close it */
    /* The TOE sends nothing after its welcome, so a readable socket means that it has ended. */
    return sys_ppoll(&p, 1, &now, NULL) > 0;
}
