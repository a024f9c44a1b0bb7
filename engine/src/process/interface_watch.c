/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interface_watch.c - see interface_watch.h. rtnetlink reports state and MTU of the interface
 * (link.c). It does not report that the XDP program was detached, nor anything about a device of
 * DPDK, so the back end is polled.
 */
#include <unistd.h>

#include "base/log.h"
#include "frames/engine_state.h"
#include "interface_watch.h"
#include "registers.h"
#include "round/thread.h"

static void set_mtu(struct engine *e, void *arg)
{
    uint32_t *mtu = arg;

    *mtu = toec_set_mtu(e->stack, *mtu);
    e->idle_until = 0;
}

static void log_mtu(uint32_t now, uint32_t used, int before)
{
    if (now == used)
        log_msg("the MTU of the interface is now %u: all connections use it", now);
    else if (now < used)
        log_warning(
            "the MTU of the interface is now %u, and toed sends frames for %u: longer ones may "
            "be lost",
            now, used);
    else if (before)
        log_msg(
            "the MTU of the interface is now %u: toed keeps %u, its value at the start; restart "
            "it to use the larger one",
            now, used);
}

/* Replaces the register page for hosts that attach later. A host that already has the page keeps
 * the old one. */
static void notify_hosts(struct control *c)
{
    int fd = registers_new(c);

    if (fd < 0)
        return;
    close(c->regs_fd);
    c->regs_fd = fd;
}

static void follow_mtu(struct control *c)
{
    uint32_t used = 0, i;

    if (c->link.mtu == c->mtu_seen)
        return;
    for (i = 0; i < c->engine_count; i++) {
        used = c->link.mtu;
        engine_call(c->engines[i], set_mtu, &used);
    }
    if (c->mtu_seen || used != c->mtu)
        log_mtu(c->link.mtu, used, c->mtu_seen != 0);
    c->mtu_seen = c->link.mtu;
    if (used == c->mtu)
        return;
    c->mtu = used;
    notify_hosts(c);
}

int interface_watch(struct control *c, int news)
{
    char text[160];
    int rc;

    if (c->link.fd >= 0) {
        if (news && link_gone(&c->link))
            return 1;
        follow_mtu(c);
    }
    rc = netio_tend(c->engines[0]->netio, text, sizeof(text));
    if (rc < 0 && c->link.fd >= 0 && link_gone(&c->link))
        return 1; /* the reason is logged */
    if (rc < 0)
        log_error("%s", text);
    else if (rc > 0)
        log_msg("%s", text);
    return rc < 0;
}
