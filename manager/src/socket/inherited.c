/* SPDX-License-Identifier: Apache-2.0 */
/* inherited.c - the first use of a listener that came from another program (inherited.h). */
#include <linux/tcp.h>
#include <string.h>

#include "dispatch.h"
#include "fdtab.h"
#include "inherited.h"
#include "lock.h"
#include "sock.h"
#include "tsock.h"

/* Returns the backlog, which the kernel reports for a listener only here. */
static int backlog_of(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof info;

    memset(&info, 0, sizeof info);
    if (sys_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 || !info.tcpi_sacked)
        return SOMAXCONN;
    return (int)info.tcpi_sacked;
}

int tinherit_use(int fd)
{
    struct tsock *s = tsock_get(fd);
    int saved = errno;

    if (likely(!s || s->state != TS_NEW || !s->inherited))
        return 0;
    s->used = 1; /* announced without WEAK */
    if (tsock_listens(s, fd, backlog_of(fd)) < 0)
        return -1;
    errno = saved;
    return 0;
}

void tinherit_look(int fd)
{
    struct tsock *s = tsock_get(fd);
    int saved = errno;

    if (likely(!s || s->state != TS_NEW || !s->inherited))
        return;
    tctx_lock();
    s = tsock_get(fd);
    if (s && s->state == TS_NEW && s->inherited)
        (void)tsock_listens(s, fd, backlog_of(fd)); /* accept() reports errors */
    tctx_unlock();
    errno = saved;
}
