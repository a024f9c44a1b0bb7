/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcphand.c - saves a host's stack and restores it as another one (toec_save(), toec_restore()).
 * With TOEHOLD_HANDOVER=N in the environment this happens before every Nth poll of any test: all
 * its assertions must still hold.
 */
#include <stdlib.h>

#include "tcpsim_parts.h"

static void name_of(void *arg, void *owner, int listener, toec_u64 *out)
{
    (void)arg;
    (void)listener;
    *out = (uintptr_t)owner;
}

static int take_flow(void *arg, toec_u64 name, struct toec_tcb *flow, const struct toec_open *info,
                     struct toec_buffers *out)
{
    struct host *h = arg;
    struct conn *c = h->conns;

    while (c && (uintptr_t)c != name)
        c = c->next;
    if (!c)
        return -1;
    if (c->remote_port)
        assert_int_equal(c->remote_port, info->remote_port);
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
    (void)arg;
    (void)id;
    (void)addr;
    (void)port;
    *owner = (void *)(uintptr_t)name;
    return 0;
}

void image_save(struct image *m, const struct host *h)
{
    struct toec_saver to = {m, image_put, name_of};

    m->n = 0;
    assert_int_equal(toec_save(h->stack, &to, h->sim->now), 0);
}

const char *image_restore(const struct image *m, struct host *h)
{
    struct toec_restorer by = {h, take_flow, take_listener};

    memset(h->mem, 0x5a, h->mem_size < 65536 ? h->mem_size : 65536);
    h->stack = toec_init(h->mem, h->mem_size, &h->cfg, h->sim->now);
    assert_non_null(h->stack);
    return toec_restore(h->stack, m->bytes, m->n, &by, h->sim->now);
}

void sim_hand_over(struct host *h)
{
    static struct image first, again;
    const char *wrong;
    char difference[128];

    image_save(&first, h);
    wrong = image_restore(&first, h);
    if (wrong)
        fail_msg("%s", wrong);
    image_save(&again, h);
    if (!image_equal(&first, &again, difference, sizeof(difference)))
        fail_msg("saved again, %s", difference);
}

void sim_hand_over_now_and_then(struct host *h)
{
    static unsigned every = ~0u, polls;

    if (every == ~0u) {
        const char *asked = getenv("TOEHOLD_HANDOVER");

        every = asked ? (unsigned)strtoul(asked, NULL, 10) : 0;
    }
    if (every && ++polls % every == 0)
        sim_hand_over(h);
}
