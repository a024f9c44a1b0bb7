/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_relay.c - a process executes a program without libtoe, and another process stays behind and
 * keeps its connections (exec.h).
 *
 * The process that stays behind is a copy of this one before the exec: it has the same descriptors,
 * and maps the queue pairs' memory again. It first waits for the exec, which closes the other end
 * of a pipe. It is no child of the program, which therefore need not reap it, and it has none of
 * the program's files.
 */
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "attach.h"
#include "config.h"
#include "ctx.h"
#include "exec_relay.h"
#include "fdtab.h"
#include "fork.h"
#include "handover.h"
#include "internal.h"
#include "lock.h"
#include "qp.h"
#include "relay.h"
#include "route.h"
#include "wait.h"

/* Ends the process by the system call, because _exit() may be ours (preload_exec.c). */
static void finish(int status)
{
    sys_call(SYS_exit_group, status);
}

/* Binds the life of the queue pairs to process pid (toe/attach.h). */
static void move_to(int pid)
{
    int pidfd = (int)sys_call(SYS_pidfd_open, pid, 0);

    for (uint32_t q = 0; q < tctx.qps_n && pidfd >= 0; q++)
        tqp_moved(tctx.qps[q], pidfd);
    sys_close(pidfd);
}

static int exec_pipe = -1; /* written to when the exec fails */

static bool map_again(void)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        const struct tqp *qp = tctx.qps[q];

        if (mmap(qp->area, qp->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 qp->mem_fd, 0) == MAP_FAILED)
            return false;
    }
    return true;
}

static void clear_number(int fd, struct tobj *o)
{
    (void)o;
    if (!tfd_is_internal(fd))
        tfd_clear(fd);
}

/* Closes all descriptors except libtoe's own. */
static void close_files(void)
{
    unsigned first = 0;
    int own;

    while ((own = tfd_next_internal(first, ~0u)) >= 0) {
        if ((unsigned)own > first)
            (void)sys_call(SYS_close_range, first, (unsigned)own - 1, 0);
        first = (unsigned)own + 1;
    }
    (void)sys_call(SYS_close_range, first, ~0u, 0);
}

static void serve_all(void)
{
    trelay_rest(false); /* the thread does not exist in this process */
    tctx.sleepers = 0;
    tctx.polling = false;
    tctx.sigurg.n = 0;
    twait_forget();
    troute_forget();
    thandover_carry_lent();
    tfd_each_number(clear_number); /* the program's numbers: connections not served end */
    close_files();
    tctx_progress();
    tctx_unlock();
    trelay_serve();
    toe_terminate();
}

static void stay(int end)
{
    sigset_t all;
    char failed;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    (void)sys_call(SYS_setsid);
    if (sys_read(end, &failed, 1) == 0 && map_again())
        serve_all();
    finish(0);
}

/* Forks a grandchild, which init adopts when its parent ends. */
static bool leave_one(const int ends[2])
{
    int pid = tfork_copy(), status = -1;

    if (pid == 0) {
        sys_close(ends[1]);
        pid = tfork_copy();
        if (pid == 0)
            stay(ends[0]);
        move_to(pid);
        finish(pid < 0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

/* Leaves a process behind, which waits until this one has executed a program, or ended. */
static bool leave(void)
{
    int ends[2];
    bool left;

    if (sys_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    trelay_rest(true);
    exec_pipe = tfd_internal(ends[1]);
    ends[1] = exec_pipe;
    left = leave_one(ends);
    sys_close(ends[0]);
    return left;
}

bool thandover_stay_behind(void)
{
    int saved = errno;
    bool left;

    if (!thandover_lend(true) && !trelay_any())
        return false;
    left = leave();
    if (!left)
        thandover_come_back();
    errno = saved;
    return left;
}

bool thandover_succeed(void)
{
    if (!trelay_any() || tctx.cfg.place != TPLACE_TOED)
        return false;
    if (!leave()) {
        move_to(getpid());
        trelay_rest(false);
        return false;
    }
    trelay_forget();
    return true;
}

void thandover_come_back(void)
{
    trelay_rest(false);
    move_to(getpid());
    /* there may be no reader, so avoid SIGPIPE */
    if (exec_pipe >= 0)
        (void)!sys_call(SYS_sendto, exec_pipe, "f", 1, MSG_NOSIGNAL, NULL, 0);
    tfd_internal_close(exec_pipe);
    exec_pipe = -1;
    thandover_take_back(false);
}
