/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_spawn.c - libc's names that start another program, and descriptors passed by SCM_RIGHTS.
 *
 * Another program gets a Unix socket in the place of a connection (handover.h). Once a connection
 * has been passed on, this process has the same Unix socket. A child of vfork() would have only the
 * placeholder. So while there are connections to hand over, vfork() is a fork() that waits until
 * the child has executed its program. A listener is a kernel socket, which the receiver announces
 * to the TOE again (inherit.c).
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "epoll.h"
#include "exec_file.h"
#include "fdtab.h"
#include "fork.h"
#include "handover.h"
#include "inherit.h"
#include "internal.h"
#include "log.h"
#include "preload.h"
#include "preload_exec.h"
#include "preload_spawn.h"

/* ---- posix_spawn ---- */

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                     const posix_spawnattr_t *, char *const[], char *const[]);

static int spawn(spawn_fn *next, pid_t *pid, const char *path, const char *found,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const argv[], char *const envp[])
{
    pid_t child = 0;
    bool asks;
    int r;

    if (!tproc_borrowed())
        tfork_lends_listeners();
    if (tproc_borrowed() || !thandover_any())
        return next(pid, path, actions, attributes, argv, envp);
    asks = texec_loads_us(found, envp);
    thandover_spawn_begin(asks);
    r = next(&child, path, actions, attributes, argv, envp);
    thandover_spawn_end(r == 0 ? child : 0, asks);
    if (r == 0 && pid)
        *pid = child;
    return r;
}

EXPORT(int, posix_spawn,
       (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]))
{
    return spawn(libc.posix_spawn, pid, path, path, actions, attributes, argv, envp);
}

EXPORT(int, posix_spawnp,
       (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]))
{
    char found[PATH_MAX];

    return spawn(libc.posix_spawnp, pid, file, preload_find(file, found), actions, attributes, argv,
                 envp);
}

/* ---- vfork ---- */

static long by_fork(void *arg)
{
    (void)arg;
    return fork();
}

long preload_fork_and_wait(long (*make)(void *arg), void *arg)
{
    struct pollfd p = {.events = POLLIN};
    int ends[2], end;
    long pid;

    tfork_alone_begin();
    if (sys_call(SYS_pipe2, ends, O_CLOEXEC) < 0) {
        tfork_alone_end();
        return -1;
    }
    end = tfd_internal(ends[1]); /* a child closes it only by its exec */
    pid = make(arg);
    if (pid == 0) {
        sys_close(ends[0]);
        return 0;
    }
    tfd_internal_close(end);
    tfork_alone_end();
    p.fd = ends[0];
    while (pid > 0 && sys_ppoll(&p, 1, NULL, NULL) < 0 && errno == EINTR)
        ;
    sys_close(ends[0]);
    return pid;
}

static pid_t fork_and_wait(void)
{
    return (pid_t)preload_fork_and_wait(by_fork, NULL);
}

/* Returns the function to which vfork() jumps. */
__attribute__((used, visibility("hidden"))) void *preload_choose_vfork(void)
{
    pid_t (*chosen)(void) = !tproc_borrowed() && thandover_any() ? fork_and_wait : libc.vfork;
    void *r;

    if (!tproc_borrowed())
        tfork_lends_listeners();
    memcpy(&r, &chosen, sizeof r);
    return r;
}

/* vfork() is a jump, because a child of vfork() returns from here on its parent's stack. */
#if defined(__x86_64__)
__asm__(".text\n.globl vfork\n.type vfork, @function\nvfork:\n"
        "endbr64\nsub $8, %rsp\ncall preload_choose_vfork\nadd $8, %rsp\njmp *%rax\n"
        ".size vfork, . - vfork\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl vfork\n.type vfork, %function\nvfork:\n"
        "bti c\nstp x29, x30, [sp, #-16]!\nbl preload_choose_vfork\nldp x29, x30, [sp], #16\n"
        "mov x16, x0\nbr x16\n"
        ".size vfork, . - vfork\n");
#else
EXPORT(pid_t, vfork, (void))
{
    return fork_and_wait();
}
#endif

/* ---- SCM_RIGHTS ---- */

/* Returns whether c is within the caller's buffer. If not, the kernel returns EINVAL, and c must
 * not be read. */
static bool is_whole(const struct msghdr *m, const struct cmsghdr *c)
{
    size_t at = (size_t)((const char *)c - (const char *)m->msg_control);

    return c->cmsg_len >= CMSG_LEN(0) && c->cmsg_len <= m->msg_controllen - at;
}

static struct cmsghdr *after(struct msghdr *m, struct cmsghdr *c)
{
    return is_whole(m, c) ? CMSG_NXTHDR(m, c) : NULL;
}

static bool is_rights(const struct msghdr *m, const struct cmsghdr *c)
{
    return is_whole(m, c) && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS;
}

static size_t numbers(const struct cmsghdr *c)
{
    return (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
}

/* Replaces connections that are to be passed on by Unix sockets. */
static int make_fit(const struct cmsghdr *c)
{
    for (size_t i = 0; i < numbers(c); i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
        if (tepoll_watches(fd)) {
            tlog_once("sendmsg: an epoll instance with sockets of the TOE cannot be passed on");
            return terr(EOPNOTSUPP);
        }
        if (tsock_get(fd) && thandover_pass(fd) < 0)
            return -1;
        tlisten_pass(fd);
    }
    return 0;
}

bool preload_has_rights(const struct msghdr *msg)
{
    struct msghdr m = *msg;

    if (!msg->msg_control || tuser_unreadable(msg->msg_control, msg->msg_controllen))
        return false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = after(&m, c))
        for (size_t i = 0; is_rights(&m, c) && i < numbers(c); i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (is_toe_fd(fd))
                return true;
        }
    return false;
}

ssize_t preload_send_rights(int fd, const struct msghdr *msg, int flags)
{
    struct msghdr m;

    if (likely(tuser_unreadable(msg, sizeof *msg) || !msg->msg_control) || !preload_has_rights(msg))
        return libc.sendmsg(fd, msg, flags);
    m = *msg;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = after(&m, c))
        if (is_rights(&m, c) && make_fit(c) < 0)
            return -1;
    return libc.sendmsg(fd, msg, flags);
}

void preload_take_rights(const struct msghdr *msg)
{
    struct msghdr m = *msg;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = after(&m, c))
        for (size_t i = 0; is_rights(&m, c) && i < numbers(c); i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            tinherit(fd);
        }
}
