/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c - the file of the Unix socket, and hello and welcome on its connections
 * (toe/attach.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <toe/fds.h>

#include "attach.h"
#include "base/log.h"
#include "base/log_limited.h"
#include "base/pace.h"
#include "kernel/numa.h"
#include "round/engine.h"
#include "round/thread.h"
#include "socket_file.h"

#define LISTEN_BACKLOG 128

/* Connects to the address. Returns 0, or the errno when there is no listener. */
static int knock(const struct sockaddr_un *addr)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int why = 0;

    if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) != 0)
        why = errno;
    if (fd >= 0)
        close(fd);
    return why == EAGAIN ? 0 : why; /* a listener whose backlog is full */
}

/* Returns 1 when the path exists and is not a socket: it must not be replaced. */
static int is_taken(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode);
}

/* Finds the ids of --user and --group. */
static int find_owner(const struct options *o, uid_t *uid, gid_t *gid, char *err, size_t err_size)
{
    const struct passwd *u = o->user ? getpwnam(o->user) : NULL;
    const struct group *g = o->group ? getgrnam(o->group) : NULL;

    if (o->user && !u) {
        snprintf(err, err_size, "--user %s: there is no such user", o->user);
        return EXIT_CONFIG;
    }
    if (o->group && !g) {
        snprintf(err, err_size, "--group %s: there is no such group", o->group);
        return EXIT_CONFIG;
    }
    *uid = u ? u->pw_uid : SOCKET_FILE_NO_OWNER;
    *gid = g ? g->gr_gid : SOCKET_FILE_NO_OWNER;
    return 0;
}

int control_open(struct control *c, char *err, size_t err_size)
{
    uid_t uid;
    gid_t gid;
    int rc;

    if (link_open(&c->link, c->info.ifindex) != 0) {
        snprintf(err, err_size, "cannot watch the interface: %s", strerror(errno));
        return EXIT_RUNTIME;
    }
    rc = find_owner(c->options, &uid, &gid, err, err_size);
    if (rc != 0)
        return rc;
    c->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->listen_fd < 0) {
        snprintf(err, err_size, "--socket %s: %s", c->options->socket, strerror(errno));
        return EXIT_CONFIG;
    }
    return socket_file_listen(c->listen_fd, LISTEN_BACKLOG, c->options->socket, uid, gid,
                              &c->socket_file, err, err_size) == 0
               ? 0
               : EXIT_CONFIG;
}

/* The kernel records the credentials of the listener at listen(2): those of the socket and of the
 * claim become ours. */
int attach_listen(const struct control *c)
{
    if (listen(c->listen_fd, LISTEN_BACKLOG) != 0)
        return -1;
    return c->lock_fd < 0 ? 0 : listen(c->lock_fd, 1);
}

int attach_inherit(struct control *c, int listen_fd)
{
    c->listen_fd = listen_fd;
    if (link_open(&c->link, c->info.ifindex) != 0 || attach_listen(c) != 0)
        return -1;
    socket_file_find(c->options->socket, &c->socket_file);
    return 0;
}

void attach_unlink(struct control *c)
{
    /* before close(): the number of the file belongs to no other file as long as it is ours */
    if (socket_file_remove(c->options->socket, &c->socket_file) != 0)
        log_msg("cannot remove %s: %s", c->options->socket, strerror(errno));
    close(c->listen_fd);
    c->listen_fd = -1;
}

void attach_sweep(const char *pattern)
{
    glob_t found;
    size_t i;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (i = 0; i < found.gl_pathc; i++) {
        struct sockaddr_un addr = {.sun_family = AF_UNIX};
        const char *number = strpbrk(found.gl_pathv[i], "0123456789");
        long pid = number ? strtol(number, NULL, 10) : 0;

        /* Leave running processes alone. If the pid is not visible here (another pid namespace),
         * the socket still accepts the connection. */
        if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH ||
            strlen(found.gl_pathv[i]) >= sizeof(addr.sun_path))
            continue;
        memcpy(addr.sun_path, found.gl_pathv[i], strlen(found.gl_pathv[i]) + 1);
        if (knock(&addr) == ECONNREFUSED && !is_taken(addr.sun_path))
            unlink(addr.sun_path);
    }
    globfree(&found);
}

static void check_hello(struct hello_message *m, ssize_t len)
{
    m->wrong = NULL;
    m->kind = 0;
    if (len != (ssize_t)sizeof(m->hello) || m->hello.magic != TOEDEV_MAGIC)
        m->wrong = "not a hello of the device contract";
    else if (m->hello.version != TOEDEV_CONTRACT_VERSION)
        m->wrong = "another version of the device contract; use libtoe and toed of one release";
    else if (m->hello.kind < TOEDEV_HELLO_ATTACH || m->hello.kind > TOEDEV_HELLO_TRACE)
        m->wrong = "neither attach nor query";
    else
        m->kind = m->hello.kind;
    m->hello.name[sizeof(m->hello.name) - 1] = 0;
}

int attach_receive(int fd, struct hello_message *m)
{
    TOE_FDS_ROOM(16) control;
    struct iovec iov = {&m->hello, sizeof(m->hello)};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    ssize_t n;

    memset(m, 0, sizeof(*m));
    m->fds[0] = m->fds[1] = -1;
    n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? -1 : 0;
    m->fd_count = (int)toe_fds_take(&msg, m->fds, HELLO_FDS);
    if (n == 0)
        return 0;
    check_hello(m, n);
    return 1;
}

int attach_moved(struct client *cl, struct hello_message *m)
{
    int pid = m->fd_count == 1 ? toedev_process_of(m->fds[0], cl->uid) : 0;

    if (!pid) {
        log_limited("pid %d would leave its queue pair to no process of its user", cl->pid);
        return -1;
    }
    if (cl->pidfd >= 0)
        close(cl->pidfd);
    cl->pidfd = m->fds[0];
    cl->pid = pid;
    m->fds[0] = -1;
    return 0;
}

void attach_discard(struct hello_message *m)
{
    int i;

    for (i = 0; i < HELLO_FDS; i++)
        if (m->fds[i] >= 0)
            close(m->fds[i]);
    m->fds[0] = m->fds[1] = -1;
}

static int send_welcome(int to, const struct toedev_welcome *w, const int *fds, size_t n)
{
    TOE_FDS_ROOM(2) control;
    struct iovec iov = {(void *)w, sizeof(*w)};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    toe_fds_put(&msg, &control, fds, n);
    return sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*w) ? 0 : -1;
}

static void fill_welcome(const struct control *c, struct toedev_welcome *w)
{
    memset(w, 0, sizeof(*w));
    w->magic = TOEDEV_MAGIC;
    w->version = TOEDEV_CONTRACT_VERSION;
    w->engines = c->engine_count;
    w->mtu = c->mtu;
    memcpy(w->mac, c->mac, sizeof(w->mac));
    memcpy(w->ip, c->options->ip, sizeof(w->ip));
    w->prefix_len = c->options->prefix_len;
    w->flags = TOEDEV_WELCOME_EOR | (c->options->shared ? TOEDEV_WELCOME_SHARED : 0);
    memcpy(w->gateway, c->options->gateway, sizeof(w->gateway));
}

static int refuse(struct control *c, const struct client *cl, uint32_t reason, const char *why)
{
    struct toedev_welcome w;

    fill_welcome(c, &w);
    w.reason = reason;
    snprintf(w.message, sizeof(w.message), "%s", why);
    c->refused++;
    log_limited("pid %d refused: %s", cl->pid, why);
    send_welcome(cl->fd, &w, NULL, 0); /* the connection ends either way */
    return -1;
}

struct adoption {
    struct qp *qp;
    int rc;
};

static void adopt_in_engine(struct engine *e, void *arg)
{
    struct adoption *a = arg;

    a->rc = engine_adopt(e, a->qp);
}

/* Makes the queue pair and its area on the NUMA node of its engine. If the kernel does not permit
 * that, a message was logged at start. */
static struct qp *new_near(const struct engine *e, const struct qp_attach *a, uint32_t *reason,
                           char *why, size_t why_size)
{
    struct numa_policy was;
    struct qp *qp;

    (void)numa_prefer(e->node, &was);
    qp = qp_new(a, reason, why, why_size);
    numa_restore(&was);
    if (qp)
        (void)numa_place(qp->area, qp->layout.total, e->node);
    return qp;
}

/* Sets those limits of its user that the engine enforces. */
static void set_limits(const struct control *c, struct qp *qp)
{
    const struct user_limits *l = &c->options->limits;

    if (qp->uid == 0)
        return;
    qp->max_listeners = l->listeners;
    pace_set(&qp->pace, l->commands);
}

static void pay(struct user *u, struct qp *qp)
{
    qp->user = u;
    u->qps++;
    u->slots += qp->cfg.slots;
    u->bytes += qp->layout.total;
}

/* Returns the memory left. More than the limit may be in use after a take-over from a toed with
 * other options. */
static uint64_t memory_left(const struct control *c)
{
    uint64_t most = (uint64_t)c->options->max_memory_mib << 20;

    return c->memory < most ? most - c->memory : 0;
}

/* Makes the queue pair of a hello that is valid so far. Returns NULL on failure, with reason and
 * why. */
static struct qp *make_qp(struct control *c, const struct client *cl, struct hello_message *m,
                          uint32_t *reason, char *why, size_t why_size)
{
    struct qp_attach a = {.cfg = m->hello.qp,
                          .area_fd = m->fds[0],
                          .irq_fd = m->fds[1],
                          .id = c->next_qp,
                          .pid = cl->pid,
                          .uid = cl->uid,
                          .name = m->hello.name,
                          .max_bytes = memory_left(c)};
    struct adoption adoption = {0};

    m->fds[0] = m->fds[1] = -1; /* owned by qp_new() */
    adoption.qp = new_near(c->engines[m->hello.engine], &a, reason, why, why_size);
    if (!adoption.qp)
        return NULL;
    set_limits(c, adoption.qp);
    owner_read(&adoption.qp->owner, cl->pid, cl->pidfd);
    engine_call(c->engines[m->hello.engine], adopt_in_engine, &adoption);
    if (adoption.rc == 0)
        return adoption.qp;
    qp_free(adoption.qp);
    *reason = TOE_R_NOBUFS;
    snprintf(why, why_size, "engine %u has all of its --max-qps %u queue pairs attached",
             m->hello.engine, c->options->max_qps);
    return NULL;
}

/* The same within the limits of the user, whose account is charged. */
static struct qp *make_users_qp(struct control *c, const struct client *cl, struct hello_message *m,
                                uint32_t *reason, char *why, size_t why_size)
{
    struct user *u = user_get(&c->users, cl->uid);
    struct toedev_layout l = {0};
    struct qp *qp = NULL;

    *reason = TOE_R_NOBUFS;
    if (!u) {
        snprintf(why, why_size, "no memory for an account of user %u", cl->uid);
        return NULL;
    }
    (void)toedev_layout(&m->hello.qp, &l); /* qp_new() reports its errors */
    if (user_may(u, &c->options->limits, m->hello.qp.slots, l.total, why, why_size) == 0)
        qp = make_qp(c, cl, m, reason, why, why_size);
    if (qp)
        pay(u, qp);
    user_put(&c->users, u);
    return qp;
}

void attach_free(struct control *c, struct qp *qp)
{
    struct user *u = qp->user;

    c->memory -= qp->layout.total;
    u->qps--;
    u->slots -= qp->cfg.slots;
    u->bytes -= qp->layout.total;
    user_put(&c->users, u);
    qp_free(qp);
}

int attach_client(struct control *c, struct client *cl, struct hello_message *m)
{
    struct toedev_welcome w;
    uint32_t reason = TOE_R_INVAL;
    char why[sizeof(w.message)];
    struct qp *qp = NULL;

    if (m->kind == TOEDEV_HELLO_MOVED)
        m->wrong = "a queue pair that is yet to come cannot be another process's";
    if (m->wrong)
        snprintf(why, sizeof(why), "%s", m->wrong);
    else if (m->fd_count != HELLO_FDS)
        snprintf(why, sizeof(why), "%d descriptors came, area and interrupt are 2", m->fd_count);
    else if (m->hello.engine >= c->engine_count)
        snprintf(why, sizeof(why), "engine %u asked, this toed has %u", m->hello.engine,
                 c->engine_count);
    else
        qp = make_users_qp(c, cl, m, &reason, why, sizeof(why));
    attach_discard(m);
    if (!qp)
        return refuse(c, cl, reason, why);
    c->memory += qp->layout.total;
    c->next_qp++;
    cl->qp = qp;
    cl->engine = c->engines[m->hello.engine];
    fill_welcome(c, &w);
    w.qp_id = qp->id;
    log_limited("queue pair %u (%s, pid %d) attached to engine %u", qp->id, qp->name, qp->pid,
                m->hello.engine);
    return send_welcome(cl->fd, &w, (int[]){c->regs_fd, qp->doorbell_fd}, 2);
}

int attach_answer_take_over(struct control *c, const struct client *cl, const char *why)
{
    struct toedev_welcome w;

    if (why)
        return refuse(c, cl, TOE_R_INVAL, why);
    fill_welcome(c, &w);
    return send_welcome(cl->fd, &w, NULL, 0);
}

int attach_account(struct control *c, struct qp *qp)
{
    struct user *u = user_get(&c->users, qp->uid);

    if (!u)
        return -1;
    pay(u, qp);
    c->memory += qp->layout.total;
    set_limits(c, qp);
    return 0;
}

void attach_registers(struct control *c, const struct client *cl)
{
    struct toedev_welcome w;

    fill_welcome(c, &w);
    if (send_welcome(cl->fd, &w, &c->regs_fd, 1) != 0)
        log_msg("cannot give the registers to pid %d: %s", cl->pid, strerror(errno));
}
