/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - fuzz target: the shared-memory wire of netio with a peer that writes anything there.
 * Functions here replace those of wire_link.c and create the link.
 *
 * Input: a list of acts. Checks: frames lie within their buffers; a sent frame stays where it was
 * built; nothing beyond the memory is touched.
 */
#include "../../netio/src/wire.c" /* NOLINT(bugprone-suspicious-include) */

#include "fuzz.h"

#define MOST_ACTS 200
#define MTU       1500u
#define BURST     16u

static struct wire_shm *memory;
static volatile unsigned seen; /* the reads must not be optimised away */
static struct netio_frame held[BURST];
static unsigned held_count;

static void link_up(struct wire_link *l)
{
    l->shm = memory;
    l->state = WIRE_LINKED;
    l->peer_gone = 0;
}

int wire_link_open(struct wire_link *l, const char *path, enum wire_side side, uint32_t mtu,
                   const struct netio_err *err)
{
    (void)path;
    (void)err;
    memset(l, 0, sizeof(*l));
    l->side = side;
    l->mtu = mtu;
    l->epoll_fd = -1;
    link_up(l);
    return 0;
}

void wire_link_close(struct wire_link *l)
{
    l->shm = NULL;
}

int wire_link_service(struct wire_link *l)
{
    if (l->shm)
        return 0;
    memset(memory, 0, sizeof(*memory)); /* another memory, as far as the wire can know */
    link_up(l);
    return 1;
}

void wire_link_drop(struct wire_link *l)
{
    l->shm = NULL;
    l->state = WIRE_UNLINKED;
}

void wire_link_wake_peer(const struct wire_link *l)
{
    (void)l;
}

/* Held frames keep their content, whatever the other side does, until they are released. */
static void unhold_all(struct netio *n)
{
    unsigned i;

    for (i = 0; i < held_count; i++) {
        FUZZ_CHECK(held[i].data[held[i].len - 1] == (uint8_t)held[i].gso_size);
        netio_rx_unhold(n, held[i].token);
    }
    held_count = 0;
}

static int hold(struct netio *n, const struct netio_frame *f)
{
    if (held_count == BURST)
        unhold_all(n);
    if (netio_rx_hold(n, f))
        return 0;
    held[held_count] = *f;
    held[held_count++].gso_size = f->data[f->len - 1];
    return 1;
}

static void receive(struct netio *n, int keep, uint64_t now)
{
    struct netio_frame f[BURST];
    unsigned count = netio_rx(n, f, BURST, now), i;
    uint32_t k;

    FUZZ_CHECK(count <= BURST);
    for (i = 0; i < count; i++) {
        FUZZ_CHECK(f[i].len >= ETH_HEADER && f[i].len <= f[i].cap);
        FUZZ_CHECK((f[i].flags & ~NETIO_F_L4_CSUM_OK) == 0);
        for (k = 0; k < f[i].len; k++)
            seen = f[i].data[k];
    }
    for (i = 0; keep && i < count && hold(n, &f[i]); i++)
        ;
    netio_rx_release(n, f + (keep ? i : 0), count - (keep ? i : 0));
}

static void transmit(struct netio *n, unsigned how, uint64_t now)
{
    struct netio_frame f;

    if (netio_tx_alloc(n, &f))
        return;
    FUZZ_CHECK(f.cap >= MTU + ETH_HEADER);
    memset(f.data, (int)how, f.cap);
    f.len = MTU;
    if (f.flags & NETIO_F_TSO) {
        static const uint8_t bytes[60000];
        static const struct netio_ref refs[] = {{bytes, 1}, {bytes + 7, 40000}, {bytes, 20000}};

        f.refs = refs;
        f.ref_count = how >> 2 & 3;
        f.gso_size = 1400;
    }
    if (how & 1)
        netio_tx_cancel(n, &f);
    else
        netio_tx_submit(n, &f, now);
    if (how & 2)
        netio_tx_flush(n, now);
}

static void scribble(struct fuzz_in *in)
{
    uint8_t *b = (uint8_t *)memory;
    size_t n, i, whole = wire_shm_size(MTU);
    size_t at = fuzz_u32(in) % whole;
    const uint8_t *p = fuzz_bytes(in, 1 + (fuzz_u8(in) & 31), &n);

    for (i = 0; i < n; i++)
        b[(at + i) % whole] = p[i];
}

/* The other side writes a valid frame, or nearly. */
static void put(struct wire *w, struct fuzz_in *in)
{
    struct wire_ring *r = &memory->rings[w->link.side == WIRE_A ? 1 : 0];
    uint32_t head = atomic_load(&r->head);

    atomic_store(&r->slots[head % WIRE_SLOTS].len, fuzz_u16(in));
    atomic_store(&r->slots[head % WIRE_SLOTS].flags, fuzz_u8(in));
    atomic_store(&r->head, head + 1 + (fuzz_u8(in) == 255 ? fuzz_u16(in) : 0));
}

static void act(struct wire *w, struct fuzz_in *in, uint64_t *now)
{
    struct wire_ring *r;
    unsigned what = fuzz_u8(in);

    switch (what & 7) {
    case 0:
        put(w, in);
        break;
    case 1:
    case 2:
        receive(&w->n, what & 8, *now);
        break;
    case 3:
        transmit(&w->n, what >> 3, *now);
        break;
    case 4:
        scribble(in);
        break;
    case 5:
        r = &memory->rings[what >> 3 & 1];
        atomic_store(what & 16 ? &r->head : &r->tail, fuzz_u32(in));
        break;
    case 6:
        (void)netio_prepare_sleep(&w->n);
        (void)netio_next_event(&w->n);
        break;
    default:
        if (what & 128)
            w->link.peer_gone = 1;
        (void)netio_set_features(&w->n, what & 64 ? ~0u : what & 32 ? NETIO_O_RX_CSUM : 0);
        *now += (uint64_t)fuzz_u8(in) * 1000000;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    const struct netio_config cfg = {.ip = {10, 0, 0, 1}};
    char err[256];
    struct netio_err e = {err, sizeof(err)};
    uint64_t now = 1000000000;
    struct netio *n;
    unsigned acts;

    memory = aligned_alloc(WIRE_CACHE, wire_shm_size(MTU));
    FUZZ_CHECK(memory);
    memset(memory, 0, sizeof(*memory));
    n = wire_open(fuzz_u8(&in) & 1 ? "x,side=a" : "x,side=b", &cfg, &e);
    FUZZ_CHECK(n);
    for (acts = 0; in.left && acts < MOST_ACTS; acts++)
        act(self(n), &in, &now);
    unhold_all(n);
    netio_close(n);
    free(memory);
    return 0;
}
