/* SPDX-License-Identifier: Apache-2.0 */
/* share_use.c - the first use of a connection that another process owns (share_use.h). */
#include <toe/fds.h>

#include "epoll.h"
#include "fdtab.h"
#include "internal.h"
#include "lock.h"
#include "share_use.h"
#include "tsock.h"

bool tshare_some;

static struct tsock *replaced; /* for replace_number() */
static int replaced_by;

void tshare_replace(int fd, int end)
{
    int close_on_exec = sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC;

    sys_dup3(end, fd, close_on_exec ? O_CLOEXEC : 0);
}

static void replace_number(int fd, struct tobj *o)
{
    if (o == &replaced->obj && !tfd_is_internal(fd) && !tfd_is_own(fd))
        tshare_replace(fd, replaced_by);
}

void tshare_replace_all(struct tsock *s, int end)
{
    replaced = s;
    replaced_by = end;
    tfd_each_number(replace_number);
}

/* This option has no effect on a Unix socket; sockopt.c stores its users' own value elsewhere. */
#define NOTE_OPTION SO_MAX_PACING_RATE
#define NOTE        0x70e5a4edu

void tshare_note(int end)
{
    uint32_t v = NOTE;

    sys_setsockopt(end, SOL_SOCKET, NOTE_OPTION, &v, sizeof(v));
}

bool tshare_is_noted(int end)
{
    uint32_t v = 0;
    socklen_t len = sizeof(v);

    return sys_getsockopt(end, SOL_SOCKET, NOTE_OPTION, &v, &len) == 0 && v == NOTE;
}

/* Waits until the owner serves the asker, or ends. The answer carries the Unix socket to use
 * instead. */
static void wait_for_owner(struct tsock *s, int answer)
{
    struct pollfd p = {.fd = answer, .events = POLLIN};
    TOE_FDS_ROOM(1) room;
    char byte;
    struct iovec v = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room)};
    int end;

    tctx_unlock();
    while (sys_ppoll(&p, 1, NULL, NULL) < 0 && errno == EINTR)
        ;
    tctx_lock();
    if (sys_recvmsg(answer, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0 ||
        toe_fds_take(&m, &end, 1) != 1)
        return;
    tshare_replace_all(s, end);
    sys_close(end);
}

/* Sends one byte with the asker's end and the descriptor for the answer. */
static bool send_ask(int fd, int answer)
{
    TOE_FDS_ROOM(2) room;
    char byte = 0;
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    int fds[2] = {fd, answer};

    toe_fds_put(&m, &room, fds, 2);
    return sys_sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

void tshare_ask(struct tsock *s)
{
    int fd = tfd_find(&s->obj, -1), ends[2], saved = errno;

    s->unasked = false;
    atomic_store_explicit(&s->settled, true, memory_order_relaxed);
    tepoll_to_kernel(s);
    tobj_hold(&s->obj);
    if (fd >= 0 && !tshare_is_noted(fd) &&
        sys_call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        bool sent = send_ask(fd, ends[1]);

        sys_close(ends[1]);
        if (sent) {
            wait_for_owner(s, ends[0]);
            tshare_note(tfd_find(&s->obj, -1));
        }
        sys_close(ends[0]);
    }
    tobj_put(&s->obj);
    errno = saved;
}
