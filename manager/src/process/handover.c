/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c - connections across fork, and for other programs (handover.h). */
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fdtab.h"
#include "handover.h"
#include "internal.h"
#include "lock.h"
#include "log.h"
#include "relay.h"
#include "share.h"
#include "share_use.h"
#include "tsock.h"

/* A server that forks per connection has few connections open in the parent. A process with more is
 * no such server, and must not bear the cost at each fork (redis with thousands of clients forks
 * to save). */
#define HANDOVER_MAX 64

static unsigned open_n; /* open connections at the current fork */
static bool offered;    /* ... some of which the child gets */

static struct tsock *open_sock(struct tobj *o)
{
    struct tsock *s = o->kind == TOBJ_SOCK ? (struct tsock *)o : NULL;

    return s && s->state == TS_OPEN && s->qp ? s : NULL;
}

static struct tsock *open_of(int fd, struct tobj *o)
{
    return tfd_is_internal(fd) || tfd_is_own(fd) ? NULL : open_sock(o);
}

static void count_open(int fd, struct tobj *o)
{
    open_n += open_of(fd, o) != NULL;
}

static void offer(int fd, struct tobj *o)
{
    struct tsock *s = open_of(fd, o);

    if (!s || s->child_end)
        return;
    if (trelay_offer(s))
        offered = true;
    else
        tlog_once("fork: a child cannot have a connection: no descriptors are left");
}

static void withdraw(int fd, struct tobj *o)
{
    struct tsock *s = open_of(fd, o);

    if (s && s->child_end)
        trelay_withdraw(s);
}

static void close_child_end(int fd, struct tobj *o)
{
    struct tsock *s = (struct tsock *)o;

    (void)fd;
    if (o->kind != TOBJ_SOCK || !s->child_end)
        return;
    tfd_internal_close(s->child_end - 1);
    s->child_end = 0;
}

/* Offers each connection. `serves`: by a thread of this process. */
static void offer_all(unsigned most, bool serves)
{
    open_n = 0;
    offered = false;
    tfd_each_number(count_open);
    if (!open_n || open_n > most)
        return;
    tfd_each_number(offer);
    if (!offered || !serves || trelay_start())
        return;
    tlog_once("fork: no thread can be made to serve the connections that a child would have: it "
              "does not have them");
    tfd_each_number(withdraw);
    tfd_each_number(close_child_end);
    offered = false;
}

/* ---- around fork ---- */

void thandover_before(void)
{
    offer_all(HANDOVER_MAX, true);
}

void thandover_in_parent(void)
{
    if (offered)
        tfd_each_number(close_child_end);
    offered = false;
}

static void take_number(int fd, struct tobj *o)
{
    const struct tsock *s = open_of(fd, o);

    if (s && s->child_end)
        tshare_replace(fd, s->child_end - 1);
}

static void take_over(int fd, struct tobj *o)
{
    struct tsock *s = (struct tsock *)o;

    if (o->kind != TOBJ_SOCK || !s->child_end)
        return;
    close_child_end(fd, o);
    tshare_inherit(s);
}

void thandover_in_child(void)
{
    tfd_each_number(take_number);
    tfd_each_number(take_over);
    offered = false;
    trelay_forget();
}

/* ---- another program ---- */

/* A number of this process that is the child's end in the kernel for now. */
struct lent {
    int fd, placeholder;
    struct lent *next;
};

static struct lent *lents;

static void lend(int fd, struct tobj *o)
{
    struct tsock *s = open_of(fd, o);
    struct lent *l;

    if (!s || !s->child_end)
        return;
    l = malloc(sizeof *l);
    if (!l)
        return;
    l->fd = fd;
    l->placeholder = tfd_internal(sys_dup(fd));
    l->next = lents;
    if (l->placeholder < 0) {
        free(l);
        return;
    }
    lents = l;
    tshare_replace(fd, s->child_end - 1);
}

static void take_back(void)
{
    while (lents) {
        struct lent *l = lents;

        tshare_replace(l->fd, l->placeholder);
        tfd_internal_close(l->placeholder);
        lents = l->next;
        free(l);
    }
}

bool thandover_lend(bool at_exec)
{
    offer_all(at_exec ? UINT_MAX : HANDOVER_MAX, !at_exec);
    if (offered)
        tfd_each_number(lend);
    return lents != NULL;
}

void thandover_take_back(bool used)
{
    take_back();
    if (offered && !used)
        tfd_each_number(withdraw);
    thandover_in_parent();
}

/* Returns whether the process has the Unix socket `end`. */
static bool has_it(pid_t pid, int end)
{
    char path[64], wanted[64], to[64];
    const struct dirent *e;
    bool found = false;
    struct stat st;
    DIR *dir;

    if (fstat(end, &st) < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", (unsigned long)st.st_ino);
    dir = opendir(path);
    while (dir && !found && (e = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, to, sizeof to - 1);

        to[n > 0 ? n : 0] = 0;
        found = strcmp(to, wanted) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

static pid_t spawned;

static void share_with_spawned(int fd, struct tobj *o)
{
    struct tsock *s = open_of(fd, o);

    if (s && s->child_end && has_it(spawned, s->child_end - 1))
        trelay_share(s);
}

void thandover_spawn_begin(bool asks)
{
    tctx_lock();
    if (!asks)
        tshare_use_all(false);
    thandover_lend(false);
}

void thandover_spawn_end(pid_t pid, bool asks)
{
    int cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* opendir() is a cancellation point */
    take_back();
    spawned = pid;
    if (offered && pid && !asks)
        tfd_each_number(share_with_spawned);
    thandover_take_back(pid != 0);
    tctx_unlock();
    pthread_setcancelstate(cancel, NULL);
}

void thandover_before_exec(void)
{
    tctx_lock();
    tshare_use_all(true);
    tctx_unlock();
}

bool thandover_any(void)
{
    bool any;

    tctx_lock();
    open_n = 0;
    tfd_each_number(count_open);
    any = (open_n && open_n <= HANDOVER_MAX) || tshare_any_unasked();
    tctx_unlock();
    return any;
}

static int pass(struct tsock *s)
{
    if (!trelay_offer(s))
        return terr(EMFILE);
    if (!trelay_start()) {
        trelay_withdraw(s);
        tlog_once("sendmsg: no thread can be made to serve a connection that is passed on");
        errno = EAGAIN;
    } else {
        trelay_share(s);
    }
    close_child_end(-1, &s->obj);
    return s->state == TS_SHARED ? 0 : -1;
}

int thandover_pass(int fd)
{
    struct tsock *s;
    int r = 0;

    tctx_lock();
    tshare_use(fd);
    s = tsock_get(fd);
    if (s && s->state == TS_CONNECTING)
        r = terr(ENOTCONN);
    else if (s && s->state == TS_OPEN)
        r = tfd_is_own(fd) ? terr(EBADF) : pass(s);
    tctx_unlock();
    return r;
}

static void share_lent(int fd, struct tobj *o)
{
    struct tsock *s = open_of(fd, o);

    if (s && s->child_end)
        trelay_share(s);
}

void thandover_carry_lent(void)
{
    take_back();
    tfd_each_number(share_lent);
    thandover_in_parent();
}
