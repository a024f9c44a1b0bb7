/* SPDX-License-Identifier: Apache-2.0 */
/* wiretap.c - see wiretap.h. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "gro.h"
#include "vlan.h"
#include "wiretap.h"

#define LOST    UINT64_MAX /* in place of a record: it did not fit */
#define ETH_LEN 14u
#define IP4_LEN 20u
#define IP6_LEN 40u
#define TCP_LEN 20u
#define HEADERS (ETH_LEN + IP6_LEN + TCP_LEN)

/* A received frame of the current batch. */
struct tapped {
    const uint8_t *start;
    uint32_t len;
    uint64_t at; /* its record in the ring, or LOST */
};

struct wiretap {
    struct wiretap_config cfg;
    uint64_t head; /* the ring's, which the tool sees later */
    uint64_t lost;
    unsigned count, next; /* frames of the batch; where to begin to look for one */
    int in_batch;
    struct tapped batch[WIRETAP_BATCH];
    uint64_t seen[DROP_REASONS]; /* the counters before core/ processes a frame */
};

/* One frame to record, in up to three parts: header, tag or nothing, the rest. */
struct piece {
    const uint8_t *data;
    uint32_t len;
};

/* ---- the reasons ---- */

#define TEXT_OF(counter, words)      [DROP_##counter - 1] = {#counter, words},
#define TEXT_OF_CORE(counter, words) [DROP_CORE_##counter - 1] = {#counter, words},
static const struct toecap_reason reasons[DROP_REASONS - 1] = {ENGINE_DROPS(TEXT_OF)
                                                                   TOEC_DROPS(TEXT_OF_CORE)};
#undef TEXT_OF
#undef TEXT_OF_CORE

/* Where each reason is counted. */
static const struct {
    uint16_t reason, counter;
} in_engine[] =
    {
#define X(name, words) {DROP_##name, EC_##name},
        ENGINE_DROPS_IN_CORE(X)
#undef X
},
  in_core[] = {
#define X(name, words) {DROP_CORE_##name, TOEC_C_##name},
      TOEC_DROPS(X)
#undef X
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

void wiretap_reasons(struct toecap_reason *out)
{
    memcpy(out, reasons, sizeof(reasons));
}

/* Notes the counters, and returns the first reason whose counter has grown. */
static enum drop_reason grown(struct engine *e)
{
    struct wiretap *w = e->wiretap;
    const toec_u64 *core = toec_counters(e->stack);
    enum drop_reason found = DROP_NONE;
    size_t i;

    for (i = 0; i < COUNT(in_engine); i++) {
        uint64_t n = e->counters[in_engine[i].counter];

        if (n != w->seen[in_engine[i].reason] && !found)
            found = (enum drop_reason)in_engine[i].reason;
        w->seen[in_engine[i].reason] = n;
    }
    for (i = 0; i < COUNT(in_core); i++) {
        uint64_t n = core[in_core[i].counter];

        if (n != w->seen[in_core[i].reason] && !found)
            found = (enum drop_reason)in_core[i].reason;
        w->seen[in_core[i].reason] = n;
    }
    return found;
}

/* ---- the ring ---- */

struct wiretap *wiretap_new(const struct wiretap_config *cfg)
{
    struct wiretap *w = lines_calloc(1, sizeof(*w));

    if (w)
        w->cfg = *cfg;
    return w;
}

static struct toecap_record *record_at(const struct wiretap *w, uint64_t at)
{
    return (void *)(w->cfg.data + (at & (w->cfg.ring_size - 1)));
}

static void publish(struct wiretap *w)
{
    struct toecap_ring *r = w->cfg.ring;

    atomic_store_explicit(&r->lost, w->lost, memory_order_relaxed);
    atomic_store_explicit(&r->head, w->head, memory_order_release);
}

/* Copies up to `room` bytes of the pieces. Returns how many. */
static uint32_t gather(uint8_t *to, uint32_t room, const struct piece *p, unsigned n)
{
    uint32_t done = 0;
    unsigned i;

    for (i = 0; i < n && done < room; i++) {
        uint32_t part = p[i].len < room - done ? p[i].len : room - done;

        memcpy(to + done, p[i].data, part);
        done += part;
    }
    return done;
}

/* Appends a record. Returns where it is, or LOST. */
static uint64_t append(struct engine *e, const struct piece *p, unsigned n, uint32_t flags)
{
    struct wiretap *w = e->wiretap;
    uint64_t tail = atomic_load_explicit(&w->cfg.ring->tail, memory_order_acquire);
    uint64_t used = w->head - tail, at = w->head;
    struct toecap_record *r = record_at(w, at);
    uint32_t len = 0, cap, size;
    unsigned i;

    for (i = 0; i < n; i++)
        len += p[i].len;
    cap = len < w->cfg.snaplen ? len : w->cfg.snaplen;
    size = ((uint32_t)sizeof(*r) + cap + 7) & ~7u;
    /* a tail that is ahead makes `used` large: the tool harms only itself */
    if (used > w->cfg.ring_size || w->cfg.ring_size - used < size) {
        w->lost++;
        return LOST;
    }
    *r = (struct toecap_record){.size = size,
                                .flags = flags,
                                .time_ns = e->now,
                                .len = len,
                                .qp = TOECAP_NONE,
                                .slot = TOECAP_NONE};
    r->cap = gather((uint8_t *)(r + 1), cap, p, n);
    w->head += size;
    return at;
}

/* ---- received ---- */

void wiretap_receive(struct engine *e, const struct netio_frame *f, unsigned n)
{
    struct wiretap *w = e->wiretap;
    unsigned i;

    w->in_batch = 1;
    w->count = w->next = 0;
    for (i = 0; i < n && i < WIRETAP_BATCH; i++) {
        const struct piece whole = {f[i].data, f[i].len};
        uint64_t at = append(e, &whole, 1, 0);

        if (at != LOST)
            record_at(w, at)->gso_size = f[i].gso_size;
        w->batch[w->count++] = (struct tapped){f[i].data, f[i].len, at};
    }
}

/* Finds the record of a frame of the batch, whose tags may have been removed since. */
static struct toecap_record *find(struct wiretap *w, const struct netio_frame *f)
{
    unsigned i;

    for (i = 0; i < w->count; i++) {
        unsigned k = (w->next + i) % w->count; /* mostly the one after the last found */
        const struct tapped *t = &w->batch[k];

        if ((uintptr_t)f->data - (uintptr_t)t->start < t->len || f->data == t->start) {
            w->next = k + 1;
            return t->at == LOST ? NULL : record_at(w, t->at);
        }
    }
    return NULL;
}

void wiretap_drop(struct engine *e, const struct netio_frame *f, enum drop_reason reason)
{
    struct toecap_record *r = find(e->wiretap, f);

    if (r)
        r->reason = (uint16_t)reason;
}

void wiretap_hand_over(struct engine *e, const struct netio_frame *f)
{
    struct wiretap *w = e->wiretap;
    struct toecap_record *r = find(w, f);

    if (r)
        r->flags |= TOECAP_VOID;
    else
        w->lost--; /* the other engine counts it */
}

/* The flow that a packet belongs to, and what became of it. */
struct verdict {
    struct wiretap_flow flow;
    enum drop_reason reason;
};

static const struct wiretap_flow no_flow = {.qp = TOECAP_NONE, .slot = TOECAP_NONE};

static void find_flow(const struct engine *e, const struct toec_packet *p, struct verdict *v)
{
    struct toec_expected found;

    toec_expect(e->stack, p, 1, &found);
    if (found.owner)
        e->wiretap->cfg.name(found.owner, &v->flow);
}

/* Has core/ process the packet. */
static struct verdict judge(struct engine *e, const struct toec_packet *p)
{
    struct verdict v = {.flow = no_flow};

    find_flow(e, p, &v); /* before: the packet may end the flow */
    (void)grown(e);
    toec_input(e->stack, p, e->now);
    v.reason = grown(e);
    if (v.flow.qp == TOECAP_NONE)
        find_flow(e, p, &v); /* it may have opened one */
    return v;
}

static void enter(struct toecap_record *r, const struct verdict *v)
{
    if (!r)
        return;
    r->qp = v->flow.qp;
    r->slot = v->flow.slot;
    r->ring = v->flow.ring;
    r->serial = v->flow.serial;
    r->reason = (uint16_t)v->reason;
}

void wiretap_input(struct engine *e, const struct toec_packet *p, const struct netio_frame *f)
{
    struct verdict v = judge(e, p);
    const struct gro_chain *chain = p->opaque;
    uint32_t i;

    if (f)
        enter(find(e->wiretap, f), &v);
    for (i = 0; !f && chain && i < chain->count; i++)
        enter(find(e->wiretap, chain->frame[i]), &v);
}

void wiretap_input_alone(struct engine *e, const struct toec_packet *p, int local)
{
    struct wiretap *w = e->wiretap;
    int tagged = !local && e->cfg.vlan && p->len >= VLAN_TYPE_AT;
    uint32_t cut = tagged ? VLAN_TYPE_AT : 0;
    uint8_t tag[VLAN_TAG_LEN];
    struct piece piece[3] = {
        {p->data, cut}, {tag, tagged ? VLAN_TAG_LEN : 0}, {p->data + cut, p->len - cut}};
    struct verdict v;
    uint64_t at;

    put16(tag, VLAN_TYPE_TAG);
    put16(tag + 2, e->cfg.vlan);
    w->in_batch = 1;
    at = append(e, piece, 3, local ? TOECAP_LOCAL : 0);
    v = judge(e, p);
    enter(at == LOST ? NULL : record_at(w, at), &v);
    wiretap_end_batch(e);
}

void wiretap_end_batch(struct engine *e)
{
    struct wiretap *w = e->wiretap;

    w->in_batch = 0;
    w->count = 0;
    publish(w);
}

/* ---- sent ---- */

static void swap(uint8_t *a, uint8_t *b, uint32_t n)
{
    uint32_t i;

    for (i = 0; i < n; i++) {
        uint8_t byte = a[i];

        a[i] = b[i];
        b[i] = byte;
    }
}

/* Finds the flow of a frame to send by its addresses, as those of a received frame. Segments
 * without payload have no owner, nor has the rest of a cut frame. */
static void find_sender(const struct engine *e, const struct piece *head, struct verdict *v)
{
    uint8_t copy[HEADERS] = {0};
    struct toec_packet p = {.data = copy};
    uint32_t ip = vlan_ip_at(head->data), behind = head->len - ip, ip_len, addr, n;
    int ip4 = get16(head->data + ip - 2) == 0x0800;

    if (behind > head->len || behind < (ip4 ? IP4_LEN : IP6_LEN) + TCP_LEN)
        return;
    p.head_len = behind < HEADERS - ETH_LEN ? behind + ETH_LEN : HEADERS;
    p.len = p.head_len;
    memcpy(copy + ETH_LEN - 2, head->data + ip - 2, p.head_len - ETH_LEN + 2);
    ip_len = ETH_LEN + (ip4 ? IP4_LEN : IP6_LEN);
    addr = ETH_LEN + (ip4 ? 12 : 8);
    n = ip4 ? 4 : 16;
    swap(copy + addr, copy + addr + n, n);
    swap(copy + ip_len, copy + ip_len + 2, 2);
    find_flow(e, &p, v);
}

static struct toecap_record *append_sent(struct engine *e, const struct piece *p, unsigned n,
                                         const void *owner)
{
    struct wiretap *w = e->wiretap;
    struct verdict v = {.flow = no_flow};
    uint64_t at = append(e, p, n, TOECAP_OUT);

    if (at == LOST)
        return NULL;
    if (owner)
        w->cfg.name(owner, &v.flow);
    else
        find_sender(e, p, &v);
    enter(record_at(w, at), &v);
    return record_at(w, at);
}

void wiretap_send(struct engine *e, const struct netio_frame *f, const void *owner)
{
    struct piece p[1 + NETIO_REFS_MAX] = {{f->data, f->len}};
    uint32_t refs = f->ref_count < NETIO_REFS_MAX ? f->ref_count : NETIO_REFS_MAX, i;
    struct toecap_record *r;

    for (i = 0; i < refs; i++)
        p[1 + i] = (struct piece){f->refs[i].data, f->refs[i].len};
    r = append_sent(e, p, 1 + refs, owner);
    if (r && f->flags & NETIO_F_CSUM_PARTIAL)
        r->flags |= TOECAP_PARTIAL;
    if (r && f->flags & NETIO_F_TSO)
        r->gso_size = f->gso_size;
    if (!e->wiretap->in_batch)
        publish(e->wiretap);
}

void wiretap_unsent(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                    enum drop_reason reason)
{
    struct piece all[1 + NETIO_REFS_MAX] = {{tx->hdr, tx->hdr_len}};
    struct toecap_record *r;
    uint32_t i;

    for (i = 0; i < p->count; i++)
        all[1 + i] = (struct piece){p->ref[i].data, p->ref[i].len};
    r = append_sent(e, all, 1 + p->count, tx->owner);
    if (r)
        r->reason = (uint16_t)reason;
    if (!e->wiretap->in_batch)
        publish(e->wiretap);
}
