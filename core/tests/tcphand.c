/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcphand.c - saves a host's stack and restores it as another one (toec_save(), toec_restore()).
 * With TOEHOLD_HANDOVER=N in the environment this happens before every Nth poll of any test: all
 * its assertions must still hold.
 */
#include <stdlib.h>

#include <toe/image.h>

#include "tcpsim_parts.h"

static int put(void *arg, const void *data, toec_u32 n)
{
    struct image *m = arg;

    if (m->n + n > m->room) {
        m->room = 2 * m->room + n;
        m->bytes = must(realloc(m->bytes, m->room));
    }
    memcpy(m->bytes + m->n, data, n);
    m->n += n;
    return 0;
}

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
    struct toec_saver to = {m, put, name_of};

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

void image_free(struct image *m)
{
    free(m->bytes);
    memset(m, 0, sizeof(*m));
}

/* Prints the place. */
static void differ(const struct image *a, const struct image *b)
{
    struct toec_image_in x, y;

    toec_image_open(&x, a->bytes, a->n);
    toec_image_open(&y, b->bytes, b->n);
    while (toec_image_next(&x) == 1 && toec_image_next(&y) == 1) {
        unsigned i = 0, tag = 0, at = 0;

        if (x.type == y.type && x.n == y.n && memcmp(x.fields, y.fields, x.n) == 0)
            continue;
        for (; i < x.n && i < y.n && x.fields[i] == y.fields[i]; i++)
            if (i == at) {
                tag = x.fields[i];
                at += 2u + x.fields[i + 1];
            }
        fail_msg("saved again, record 0x%x is 0x%x; the first difference is in field %u or behind",
                 x.type, y.type, tag);
    }
    fail_msg("saved again, the image has %lu bytes and had %lu", b->n, a->n);
}

void sim_hand_over(struct host *h)
{
    static struct image first, again;
    const char *wrong;

    image_save(&first, h);
    wrong = image_restore(&first, h);
    if (wrong)
        fail_msg("%s", wrong);
    image_save(&again, h);
    if (first.n != again.n || memcmp(first.bytes, again.bytes, first.n) != 0)
        differ(&first, &again);
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
