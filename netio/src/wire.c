/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - packets by shared memory to another TOE, without the kernel.
 *
 * wire:PATH[,side=a|b][,mtu=N]
 *
 * Frames are built in the ring. They are copied out of it, because the other side could change them
 * there. So the caller holds only our memory, and the other side never waits for it. Without
 * another side, sent frames are dropped and counted, as on an unplugged cable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "big.h"
#include "spec.h"
#include "wire_link.h"

#define FRAME_COUNT 2048u
#define HOLD_MAX    (FRAME_COUNT / 2)
#define HOLD_BIG    (BIG_COUNT / 2)
#define SERVICE_NS  10000000u /* how often a busy poller services the link */
#define LINKING_NS  50000000u /* how often a sleeper tries to link */
#define AHEAD       4u        /* frames to prefetch ahead */
#define LINE        64u
#define SLOT_LINES  3u
#define RETRY_NS    100000u /* delay until a full ring may have room again */

struct wire {
    struct netio n;
    struct wire_link link;
    struct pool big;         /* received frames of many segments */
    struct pool pool;        /* received frames, and one to write to while there is no link */
    uint32_t spare;          /* the frame to write to while there is no link */
    uint32_t held, held_big; /* frames of netio_rx_hold(), of each pool */
    uint32_t slot_size;
    uint32_t tx_head, tx_published, rx_tail; /* ours; the shared memory only has copies */
    uint32_t tx_tail;                        /* the other side's, as last read */
    int asleep;                              /* has announced it to the other side */
    int building; /* a send buffer of the ring is in the caller's hands */
    int blocked;  /* the last netio_tx_alloc() found the ring full */
    uint64_t last_ns, service_ns;
    enum wire_state described; /* in the mode text */
};

static struct wire *self(struct netio *n)
{
    return (struct wire *)n;
}

static struct wire_ring *tx_ring(const struct wire *w)
{
    return &w->link.shm->rings[w->link.side == WIRE_A ? 0 : 1];
}

static struct wire_ring *rx_ring(const struct wire *w)
{
    return &w->link.shm->rings[w->link.side == WIRE_A ? 1 : 0];
}

static uint8_t *slot_data(const struct wire *w, int ring, uint32_t index)
{
    uint8_t *frames = (uint8_t *)(w->link.shm + 1);

    return frames + ((size_t)ring * WIRE_SLOTS + index % WIRE_SLOTS) * w->slot_size;
}

static void describe(struct wire *w)
{
    static const char *const states[] = {
        [WIRE_UNLINKED] = "waiting for the other side",
        [WIRE_BUSY] = "waiting: the other side has a peer",
        [WIRE_MISMATCH] = "waiting: the other side has another MTU",
        [WIRE_LINKED] = "linked",
    };

    w->described = w->link.state;
    snprintf(w->n.mode, sizeof(w->n.mode), "wire side %c, %s", w->link.side == WIRE_A ? 'a' : 'b',
             states[w->link.state]);
}

/* Resets the indices: both sides start at zero, as each link has new memory. */
static void restart(struct wire *w)
{
    w->tx_head = w->tx_published = w->rx_tail = w->tx_tail = 0;
    w->asleep = 0;
    w->blocked = 0;
}

/* Publishes the features that we accept, again for each link, as its memory is new. */
static void publish(struct wire *w)
{
    uint32_t takes = 0;

    if (!w->link.shm)
        return;
    if (w->n.features & NETIO_O_PARTIAL)
        takes |= WIRE_TAKES_PARTIAL;
    if (w->n.features & NETIO_O_LRO)
        takes |= WIRE_TAKES_LARGE;
    atomic_store_explicit(&rx_ring(w)->takes, takes, memory_order_relaxed);
}

static void drop_link(struct wire *w)
{
    wire_link_drop(&w->link);
    restart(w);
    describe(w);
}

/* Returns the number of slots that wait, at most WIRE_SLOTS; a larger claim ends the link. */
static uint32_t frames_waiting(struct wire *w)
{
    uint32_t head = atomic_load_explicit(&rx_ring(w)->head, memory_order_acquire);
    uint32_t count = head - w->rx_tail;

    if (count <= WIRE_SLOTS)
        return count;
    if (!w->building) {
        w->n.stats.rx_dropped++;
        drop_link(w);
    }
    return 0;
}

static void service(struct wire *w)
{
    if (w->building) /* the memory must stay until the frame is submitted */
        return;
    if (wire_link_service(&w->link)) {
        restart(w);
        publish(w);
    }
    /* Frames that the other side sent before it ended are still delivered: a reset, for example. */
    if (w->link.peer_gone && frames_waiting(w) == 0)
        drop_link(w);
    if (w->link.state != w->described)
        describe(w);
}

/* Slots are contiguous except at the ring's end. Returns the address of byte `at` of slot `index`,
 * and how many of len bytes are before that end. */
static uint8_t *slot_span(const struct wire *w, int ring, uint32_t index, uint32_t at, uint32_t len,
                          uint32_t *first)
{
    size_t ring_size = (size_t)WIRE_SLOTS * w->slot_size;
    size_t from = ((size_t)(index % WIRE_SLOTS) * w->slot_size + at) % ring_size;

    *first = len < ring_size - from ? len : (uint32_t)(ring_size - from);
    return slot_data(w, ring, 0) + from;
}

static void copy_out(const struct wire *w, uint8_t *to, uint32_t len)
{
    int ring = w->link.side == WIRE_A ? 1 : 0;
    uint32_t first;
    const uint8_t *from = slot_span(w, ring, w->rx_tail, 0, len, &first);

    memcpy(to, from, first);
    if (first < len)
        memcpy(to + first, slot_data(w, ring, 0), len - first);
}

/* Copies a reference to byte `at` of the frame being built. */
static void copy_in(const struct wire *w, uint32_t at, const struct netio_ref *r)
{
    int ring = w->link.side == WIRE_A ? 0 : 1;
    uint32_t first;
    uint8_t *to = slot_span(w, ring, w->tx_head, at, r->len, &first);

    memcpy(to, r->data, first);
    if (first < r->len)
        memcpy(slot_data(w, ring, 0), r->data + first, r->len - first);
}

/* Prefetches a line for writing. For plain x86-64 gcc has only prefetches for reading, after which
 * the write requests the line again. On a CPU without this instruction it is a no-op. */
static inline void expect_to_write(const uint8_t *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/*
 * Prefetches a slot, whose lines are in the cache of the other side's core. Requested some frames
 * ahead, they arrive while we process the frames before. The first lines hold a small frame, or the
 * headers of a large one.
 */
static void expect_slot(const struct wire *w, int ring, uint32_t index, int write)
{
    const uint8_t *data = slot_data(w, ring, index);
    unsigned i;

    for (i = 0; i < SLOT_LINES; i++) {
        if (write)
            expect_to_write(data + i * LINE);
        else
            __builtin_prefetch(data + i * LINE, 0);
    }
}

/* Allocates a buffer for a frame of len bytes. Returns 0, or -1 when there is none now. */
static int rx_buffer(struct wire *w, uint32_t len, struct netio_frame *frame)
{
    uint32_t offset;

    memset(frame, 0, sizeof(*frame));
    if (len > w->slot_size) {
        frame->cap = BIG_SIZE;
        return big_get(&w->big, &frame->token, &frame->data);
    }
    frame->cap = w->slot_size;
    if (pool_get(&w->pool, &offset))
        return -1;
    frame->data = w->pool.mem + offset;
    frame->token = offset;
    return 0;
}

/* Returns whether we accept a frame of this length. Large ones sent before LRO was disabled are
 * rejected. */
static int is_frame(const struct wire *w, uint32_t len, uint32_t waiting)
{
    if (len < ETH_HEADER)
        return 0;
    if (len <= w->slot_size)
        return 1;
    return len <= BIG_FRAME && (w->n.features & NETIO_O_LRO) &&
           wire_slots_of(len, w->slot_size) <= waiting;
}

/* Copies one frame out of the waiting slots. Returns how many slots it filled, or 0 when there is
 * no buffer. *got is 0 when the frame was rejected and counted. */
static uint32_t take_frame(struct wire *w, uint32_t waiting, struct netio_frame *frame, int *got)
{
    struct wire_slot *slot = &rx_ring(w)->slots[w->rx_tail % WIRE_SLOTS];
    uint32_t len = atomic_load_explicit(&slot->len, memory_order_relaxed);
    uint32_t flags = atomic_load_explicit(&slot->flags, memory_order_relaxed), slots;

    *got = is_frame(w, len, waiting);
    slots = len <= BIG_FRAME ? wire_slots_of(len, w->slot_size) : 1;
    slots = slots == 0 ? 1 : slots;
    if (!*got) {
        w->n.stats.rx_dropped++;
        return slots < waiting ? slots : waiting;
    }
    if (rx_buffer(w, len, frame))
        return 0;
    copy_out(w, frame->data, len);
    frame->len = len;
    frame->gso_size = (uint16_t)(flags >> 16);
    if (w->n.features & NETIO_O_RX_CSUM || flags & NETIO_F_CSUM_PARTIAL)
        frame->flags = flags & NETIO_F_L4_CSUM_OK;
    w->n.stats.rx_frames++;
    w->n.stats.rx_bytes += len;
    return slots;
}

static unsigned wire_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    struct wire *w = self(n);
    int ring = w->link.side == WIRE_A ? 1 : 0;
    uint32_t waiting, ahead;
    unsigned count = 0;

    w->last_ns = now_ns;
    if (now_ns >= w->service_ns) {
        service(w);
        w->service_ns = now_ns + SERVICE_NS;
    }
    if (!w->link.shm)
        return 0;
    if (w->asleep) {
        atomic_store_explicit(&rx_ring(w)->sleeping, 0, memory_order_relaxed);
        w->asleep = 0;
    }
    waiting = frames_waiting(w);
    if (!waiting)
        return 0;
    for (ahead = 0; ahead < AHEAD && ahead < waiting; ahead++)
        expect_slot(w, ring, w->rx_tail + ahead, 0);
    while (waiting && count < max) {
        int got;
        uint32_t slots = take_frame(w, waiting, &frames[count], &got);

        if (!slots)
            break;
        if (waiting > AHEAD)
            expect_slot(w, ring, w->rx_tail + AHEAD, 0);
        count += got != 0;
        w->rx_tail += slots;
        waiting -= slots;
    }
    atomic_store_explicit(&rx_ring(w)->tail, w->rx_tail, memory_order_release);
    return count;
}

static void wire_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        big_put(&self(n)->big, &self(n)->pool, frames[i].token);
}

/* Limits held frames so that the rest suffices for the next batch. Frames without a buffer wait in
 * the ring. */
static int wire_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    struct wire *w = self(n);
    int big = (frame->token & BIG_TOKEN) != 0;
    uint32_t *held = big ? &w->held_big : &w->held;

    if (*held >= (big ? HOLD_BIG : HOLD_MAX))
        return -1;
    ++*held;
    return 0;
}

static void wire_rx_unhold(struct netio *n, uintptr_t token)
{
    struct wire *w = self(n);

    --*(token & BIG_TOKEN ? &w->held_big : &w->held);
    big_put(&w->big, &w->pool, token);
}

/* Returns the flags possible for this frame: the other side accepts them, and there is room. */
static uint32_t tx_flags(const struct wire *w, uint32_t room)
{
    uint32_t takes = atomic_load_explicit(&tx_ring(w)->takes, memory_order_relaxed);
    uint32_t flags = 0;

    if (!(w->n.features & NETIO_O_TX_CSUM) || !(takes & WIRE_TAKES_PARTIAL))
        return 0;
    flags = NETIO_F_CSUM_PARTIAL;
    if (room < wire_slots_of(BIG_FRAME, w->slot_size) || !(takes & WIRE_TAKES_LARGE) ||
        !(w->n.features & NETIO_O_TSO))
        return flags;
    return flags | NETIO_F_SG | NETIO_F_TSO;
}

/* Reads the other side's tail only when the ring is half full: that side writes its cache line for
 * each frame it takes.
 */
static uint32_t slots_in_use(struct wire *w)
{
    if (w->tx_head - w->tx_tail >= WIRE_SLOTS / 2)
        w->tx_tail = atomic_load_explicit(&tx_ring(w)->tail, memory_order_acquire);
    return w->tx_head - w->tx_tail;
}

static int wire_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct wire *w = self(n);
    uint32_t used;

    *frame = (struct netio_frame){
        .data = w->pool.mem + w->spare,
        .cap = w->slot_size,
        /* Memory does not change a frame: the checksum is right if the sender made it so. */
        .flags = NETIO_F_L4_CSUM_OK,
    };
    if (!w->link.shm || w->link.peer_gone)
        return 0;
    used = slots_in_use(w);
    w->blocked = used >= WIRE_SLOTS; /* a larger value means a false tail, which blocks only frames
                                      * to that side */
    if (w->blocked)
        return -1;
    frame->data = slot_data(w, w->link.side == WIRE_A ? 0 : 1, w->tx_head);
    frame->flags |= tx_flags(w, WIRE_SLOTS - used);
    expect_slot(w, w->link.side == WIRE_A ? 0 : 1, w->tx_head + AHEAD, 1);
    expect_to_write((const uint8_t *)&tx_ring(w)->slots[(w->tx_head + AHEAD) % WIRE_SLOTS]);
    w->building = 1;
    return 0;
}

/* Copies the referenced bytes after the frame's own bytes, into its slot and the next ones. */
static uint32_t put_refs(struct wire *w, const struct netio_frame *frame)
{
    uint32_t at = frame->len, i;

    for (i = 0; i < frame->ref_count; i++) {
        copy_in(w, at, &frame->refs[i]);
        at += frame->refs[i].len;
    }
    return at;
}

static void wire_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    struct wire *w = self(n);
    struct wire_slot *slot;
    uint32_t len;

    (void)now_ns;
    if (!w->building) {
        n->stats.tx_dropped++;
        return;
    }
    slot = &tx_ring(w)->slots[w->tx_head % WIRE_SLOTS];
    len = put_refs(w, frame);
    atomic_store_explicit(&slot->len, len, memory_order_relaxed);
    atomic_store_explicit(&slot->flags,
                          (frame->flags & (NETIO_F_L4_CSUM_OK | NETIO_F_CSUM_PARTIAL)) |
                              (uint32_t)frame->gso_size << 16,
                          memory_order_relaxed);
    w->tx_head += wire_slots_of(len, w->slot_size);
    w->building = 0;
    n->stats.tx_frames++;
    n->stats.tx_bytes += len;
}

static void wire_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    (void)frame;
    self(n)->building = 0;
}

static void wire_tx_flush(struct netio *n, uint64_t now_ns)
{
    struct wire *w = self(n);
    struct wire_ring *ring;

    (void)now_ns;
    if (!w->link.shm || w->tx_head == w->tx_published)
        return;
    ring = tx_ring(w);
    w->tx_published = w->tx_head;
    atomic_store_explicit(&ring->head, w->tx_head, memory_order_release);
    /* Pairs with the fence of wire_prepare_sleep(): either we see the other side's sleeping flag,
     * or it sees the new head. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&ring->sleeping, memory_order_relaxed)) {
        atomic_store_explicit(&ring->sleeping, 0, memory_order_relaxed);
        wire_link_wake_peer(&w->link);
    }
}

static int wire_prepare_sleep(struct netio *n)
{
    struct wire *w = self(n);
    int linked = w->link.shm != NULL;

    service(w);
    if (!w->link.shm)
        return linked; /* the caller computed its timeout before the link was lost */
    atomic_store_explicit(&rx_ring(w)->sleeping, 1, memory_order_relaxed);
    w->asleep = 1;
    atomic_thread_fence(memory_order_seq_cst);
    return frames_waiting(w) > 0 || !w->link.shm;
}

static uint64_t wire_next_event(const struct netio *n)
{
    const struct wire *w = (const struct wire *)n;

    if (w->blocked)
        return w->last_ns + RETRY_NS;
    return w->link.shm || w->link.side == WIRE_A ? UINT64_MAX : w->last_ns + LINKING_NS;
}

static void wire_close(struct netio *n)
{
    struct wire *w = self(n);

    wire_link_close(&w->link);
    pool_free(&w->pool);
    pool_free(&w->big);
    free(w);
}

static void wire_set_features(struct netio *n)
{
    publish(self(n));
}

static const struct netio_ops ops = {
    .close = wire_close,
    .rx = wire_rx,
    .rx_release = wire_rx_release,
    .rx_hold = wire_rx_hold,
    .rx_unhold = wire_rx_unhold,
    .tx_alloc = wire_tx_alloc,
    .tx_submit = wire_tx_submit,
    .tx_cancel = wire_tx_cancel,
    .tx_flush = wire_tx_flush,
    .prepare_sleep = wire_prepare_sleep,
    .next_event = wire_next_event,
    .set_features = wire_set_features,
};

/* Derives a locally administered address from the path and the side (FNV-1a). It is the same after
 * a restart, so the other side's neighbour cache stays valid. */
static void make_mac(const struct wire_link *l, uint8_t mac[6])
{
    uint32_t hash = 2166136261u;
    const char *c;

    for (c = l->path; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    mac[0] = 0x02;
    mac[1] = (uint8_t)(hash >> 24);
    mac[2] = (uint8_t)(hash >> 16);
    mac[3] = (uint8_t)(hash >> 8);
    mac[4] = (uint8_t)hash;
    mac[5] = l->side == WIRE_A ? 0x0a : 0x0b;
}

struct netio *wire_open(const char *args, const struct netio_config *cfg,
                        const struct netio_err *err)
{
    struct spec spec;
    unsigned side;
    uint64_t mtu;
    struct wire *w;

    if (backend_one_queue("wire", cfg, err) || spec_parse(&spec, "wire", args, "side mtu", err) ||
        spec_get_choice(&spec, "wire", "side", "auto a b", &side, err) ||
        spec_get_number(&spec, "wire", "mtu", WIRE_MTU_MIN, WIRE_MTU_MAX, 1500, &mtu, err))
        return NULL;
    w = lines_calloc(1, sizeof(*w));
    if (!w) {
        netio_err_set(err, "wire: out of memory");
        return NULL;
    }
    w->n.ops = &ops;
    w->slot_size = wire_slot_size((uint32_t)mtu);
    if (wire_link_open(&w->link, spec.name, (enum wire_side)side, (uint32_t)mtu, err)) {
        wire_close(&w->n);
        return NULL;
    }
    if (pool_init(&w->pool, w->slot_size, FRAME_COUNT)) {
        netio_err_set(err, "wire: no memory for %u frames of %u bytes", FRAME_COUNT, w->slot_size);
        wire_close(&w->n);
        return NULL;
    }
    (void)pool_get(&w->pool, &w->spare);
    make_mac(&w->link, w->n.info.mac);
    w->n.info.mtu = (uint32_t)mtu;
    w->n.info.queues = 1;
    w->n.info.offered = NETIO_O_RX_CSUM | NETIO_O_TX_CSUM | NETIO_O_SG | NETIO_O_TSO | NETIO_O_LRO |
                        NETIO_O_PARTIAL;
    w->n.info.tso_max = BIG_PAYLOAD;
    w->n.info.hold_max = HOLD_MAX + HOLD_BIG;
    w->n.fd = w->link.epoll_fd;
    describe(w);
    return &w->n;
}
