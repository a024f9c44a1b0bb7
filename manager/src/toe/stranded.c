/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stranded.c - TOEDEV_HELLO_STRANDED (stranded.h). A listener that was inherited stays open in the
 * parent, so without a report its connections would wait for a process that never accepts.
 */
#include <stdio.h>
#include <string.h>

#include <toe/attach.h>

#include "ctx.h"
#include "handle.h"
#include "host.h"
#include "stranded.h"
#include "tsock.h"

/* What is tried again in this time may succeed: another process is just ending. */
#define GRACE_NS  NSEC
#define REPEAT_NS NSEC

static uint64_t since, next; /* clock of tclock_ns(); 0: attached, or not tried yet */

static void report(const struct tsock *s)
{
    struct toedev_hello h = {
        .magic = TOEDEV_MAGIC, .version = TOEDEV_CONTRACT_VERSION, .kind = TOEDEV_HELLO_STRANDED};
    int saved = errno, fd = sys_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(h.name, sizeof(h.name), "%u", ntohs(s->local_port));
    if (fd >= 0 && thost_attach(fd, tctx.cfg.socket) == 0)
        (void)!sys_sendto(fd, &h, sizeof(h), MSG_NOSIGNAL, NULL, 0);
    if (fd >= 0)
        sys_close(fd);
    errno = saved;
}

static void report_used(struct tsock *s)
{
    if (s->state == TS_LISTEN && s->inherited && s->used)
        report(s);
}

void tstranded_unattached(void)
{
    uint64_t now = tclock_ns();

    if (!since) {
        since = now;
        next = now + GRACE_NS;
    }
    if (now < next || tctx.cfg.place != TPLACE_TOED)
        return;
    next = now + REPEAT_NS;
    thandle_each(report_used);
}

void tstranded_attached(void)
{
    since = 0;
}

void tstranded_refused(const struct tsock *s)
{
    if (tctx.cfg.place == TPLACE_TOED)
        report(s);
}
