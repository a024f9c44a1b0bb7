/* SPDX-License-Identifier: Apache-2.0 */
/* hand.c - saves a host's stack and restores it in other memory (toec_save(), toec_restore()): this
 * has no visible effect, so all invariants still hold. */
#include <stdlib.h>
#include <string.h>

#include "../memimage.h"
#include "prop.h"

static struct image first, again;

static void name_of(void *arg, void *owner, int listener, toec_u64 *out)
{
    const struct conn *c = owner;
    toec_u64 i = 0;

    (void)arg;
    while (!listener && c->host->conn[i] != c)
        i++;
    *out = i;
}

static int take_flow(void *arg, toec_u64 name, struct toec_tcb *flow, const struct toec_open *info,
                     struct toec_buffers *out)
{
    struct host *h = arg;
    struct conn *c = name < h->conns ? h->conn[name] : NULL;

    if (!c || c->lport != info->local_port || c->rport != info->remote_port)
        return -1;
    if (c->flow)
        c->flow = flow;
    out->owner = c;
    out->tx_size = c->tx_size;
    out->rx_size = c->rx_size;
    return 0;
}

static int take_listener(void *arg, toec_u64 name, toec_u32 id, const struct toec_addr *addr,
                         toec_u16 port, void **owner)
{
    struct host *h = arg;
    unsigned i;

    (void)name;
    (void)addr;
    *owner = h;
    for (i = 0; i < h->listeners; i++)
        if (h->listener[i].id == id && h->listener[i].port == port)
            return 0;
    return -1;
}

static void save(struct host *h, struct image *m)
{
    struct toec_saver to = {m, image_put, name_of};

    m->n = 0;
    if (toec_save(h->stack, &to, host_now(h)) != 0)
        prop_fail(h->world, "hand over", "the stack of host %u is not saved", h->index);
}

void hand_over(struct host *h)
{
    struct toec_restorer by = {h, take_flow, take_listener};
    unsigned long size = toec_size(&h->cfg);
    struct toec_usage before, after;
    const char *wrong;
    char difference[128];

    save(h, &first);
    toec_usage(h->stack, &before);
    free(h->mem);
    h->mem = must(aligned_alloc(64, (size + 63) / 64 * 64));
    memset(h->mem, 0x5a, size);
    h->stack = toec_init(h->mem, size, &h->cfg, host_now(h));
    wrong = toec_restore(h->stack, first.bytes, first.n, &by, host_now(h));
    if (wrong)
        prop_fail(h->world, "hand over", "%s", wrong);
    save(h, &again);
    if (!image_equal(&first, &again, difference, sizeof(difference)))
        prop_fail(h->world, "hand over", "saved again, of host %u %s", h->index, difference);
    toec_usage(h->stack, &after);
    before.datagrams = after.datagrams; /* fragments are not handed over */
    if (memcmp(&before, &after, sizeof(before)) != 0)
        prop_fail(h->world, "hand over", "of host %u other pools are in use", h->index);
    h->due = h->world->now;
}
