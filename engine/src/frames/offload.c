/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.c - the offloads in use, their names, and the sending of frames of several segments:
 * whole if the back end accepts them, else split in software.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "gso.h"
#include "offload.h"
#include "sums.h"
#include "wiretap.h"

/* Names as in ethtool -k, and short words as in ethtool -K. */
const struct offload_name offload_names[OFFLOAD_COUNT] = {
    {OFFLOAD_RX_CSUM, "rx-checksumming", "rx"},
    {OFFLOAD_TX_CSUM, "tx-checksumming", "tx"},
    {OFFLOAD_SG, "scatter-gather", "sg"},
    {OFFLOAD_TSO, "tcp-segmentation-offload", "tso"},
    {OFFLOAD_GSO, "generic-segmentation-offload", "gso"},
    {OFFLOAD_GRO, "generic-receive-offload", "gro"},
    {OFFLOAD_LRO, "large-receive-offload", "lro"},
    {OFFLOAD_RXHASH, "receive-hashing", "rxhash"},
};

static int same(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

uint32_t offload_find(const char *text, size_t len)
{
    unsigned i;

    for (i = 0; i < OFFLOAD_COUNT; i++)
        if (same(offload_names[i].name, text, len) || same(offload_names[i].word, text, len))
            return offload_names[i].bit;
    return 0;
}

/* Parses one "NAME=on" or "NAME=off" of len characters. */
static int parse_word(const char *text, size_t len, uint32_t *changed, uint32_t *on, char *err,
                      size_t err_size)
{
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals ? (size_t)(equals - text) : len;
    uint32_t bit = offload_find(text, name_len);
    const char *value = equals ? equals + 1 : text + len;
    size_t value_len = (size_t)(text + len - value);

    if (!bit) {
        snprintf(err, err_size,
                 "there is no offload '%.*s': known are rx, tx, sg, tso, gso, gro, lro, rxhash",
                 (int)name_len, text);
        return -1;
    }
    if (!same("on", value, value_len) && !same("off", value, value_len)) {
        snprintf(err, err_size, "'%.*s': write %.*s=on or %.*s=off", (int)len, text, (int)name_len,
                 text, (int)name_len, text);
        return -1;
    }
    *changed |= bit;
    *on = value_len == 2 ? *on | bit : *on & ~bit;
    return 0;
}

int offload_parse(const char *text, uint32_t *changed, uint32_t *on, char *err, size_t err_size)
{
    *changed = *on = 0;
    for (;;) {
        size_t len = strcspn(text, ",");

        if (parse_word(text, len, changed, on, err, err_size) != 0)
            return -1;
        if (!text[len])
            return 0;
        text += len + 1;
    }
}

void offload_set(struct engine *e, uint32_t wanted)
{
    struct offload *o = &e->offload;
    uint32_t ours = wanted & (OFFLOAD_GSO | OFFLOAD_GRO);
    uint32_t partial = wanted & OFFLOAD_RX_CSUM ? NETIO_O_PARTIAL : 0;

    o->wanted = wanted;
    o->active =
        (netio_set_features(e->netio, (wanted & o->offered) | partial) | ours) & OFFLOAD_ALL;
    /* cannot fail: GSO_MAX is within core's limit */
    (void)toec_set_max_gso(e->stack, o->active & (OFFLOAD_TSO | OFFLOAD_GSO) ? GSO_MAX : 0);
}

int offload_init(struct engine *e, uint32_t wanted)
{
    struct offload *o = &e->offload;
    struct netio_info info;

    o->held = lines_calloc(1, GSO_MAX);
    if (!o->held)
        return -1;
    netio_get_info(e->netio, &info);
    o->offered = (info.offered & OFFLOAD_ALL) | OFFLOAD_GSO | OFFLOAD_GRO;
    if (e->cfg.count > 1) /* the rings between engines hold frames of one segment */
        o->offered &= ~OFFLOAD_LRO;
    offload_set(e, wanted);
    return 0;
}

void offload_free(struct engine *e)
{
    free(e->offload.held);
    free(e->offload.gathered);
}

/* Less payload is copied first, then summed with the header: a second call costs more than a second
 * pass over so few bytes. */
#define SUM_APART 256u

static uint16_t fill_and_sum(const struct toec_tx *tx, const struct offload_payload *p,
                             uint32_t from, uint32_t n, const struct netio_frame *f)
{
    uint8_t *l4 = f->data + tx->csum_start, *payload = f->data + tx->hdr_len;
    uint32_t len = tx->hdr_len - tx->csum_start;

    if (n >= SUM_APART)
        return toec_sum_add(toec_sum(l4, len), gso_gather_sum(payload, p, from, n), len & 1);
    gso_gather(payload, p, from, n);
    return sums->sum(l4, len + n);
}

void offload_fill(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                  uint32_t from, uint32_t n, struct netio_frame *f)
{
    uint16_t sum;

    f->len = tx->hdr_len + n;
    f->flags &= ~(NETIO_F_SG | NETIO_F_TSO);
    if (tx->csum_start && tx->csum_offset == OFFLOAD_TCP_SUM && (f->flags & NETIO_F_CSUM_PARTIAL)) {
        f->csum_start = tx->csum_start;
        f->csum_offset = tx->csum_offset;
        engine_count(e, EC_csum_left);
        gso_gather(f->data + tx->hdr_len, p, from, n);
        return;
    }
    f->flags &= ~NETIO_F_CSUM_PARTIAL;
    if (tx->csum_start == 0) {
        gso_gather(f->data + tx->hdr_len, p, from, n);
        return;
    }
    sum = (uint16_t)~fill_and_sum(tx, p, from, n, f);
    memcpy(f->data + tx->csum_start + tx->csum_offset, &sum, sizeof(sum));
}

void offload_refer(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                   struct netio_frame *f)
{
    f->flags &= ~NETIO_F_TSO;
    f->len = tx->hdr_len;
    f->csum_start = tx->csum_start;
    f->csum_offset = tx->csum_offset;
    f->refs = p->ref;
    f->ref_count = p->count;
    wiretap_submit(e, f, tx->owner);
    engine_count(e, EC_csum_left);
    engine_count(e, EC_tx_sg);
}

/* Sends one segment of a large frame. */
static int send_segment(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                        uint32_t at)
{
    uint32_t n = tx->len - at < tx->gso_size ? tx->len - at : tx->gso_size;
    struct netio_frame f;

    if (netio_tx_alloc(e->netio, &f) != 0)
        return -1;
    if (tx->hdr_len + n > f.cap) {
        netio_tx_cancel(e->netio, &f);
        engine_count(e, EC_tx_too_big);
        if (wiretap_on(e))
            wiretap_unsent(e, tx, p, DROP_tx_too_big);
        return 0;
    }
    toec_tx_cut(tx, at, n, f.data);
    if (offload_may_refer(tx, n, &f)) {
        struct offload_payload part;

        gso_slice(&part, p, at, n);
        offload_refer(e, tx, &part, &f);
        engine_count(e, EC_gso_cut);
        return 0;
    }
    offload_fill(e, tx, p, at, n, &f);
    wiretap_submit(e, &f, tx->owner);
    engine_count(e, EC_gso_cut);
    return 0;
}

/* Sends the payload from offset `at` on, split into segments. Returns the offset reached. */
static uint32_t cut(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                    uint32_t at)
{
    while (at < tx->len && send_segment(e, tx, p, at) == 0)
        at += tx->len - at < tx->gso_size ? tx->len - at : tx->gso_size;
    return at;
}

/* Holds the rest of a frame. core/ considers a frame sent once it is begun, and the flow may be
 * gone before there is room. */
static void hold(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                 uint32_t at)
{
    struct offload *o = &e->offload;

    gso_gather(o->held + at, p, at, tx->len - at);
    memcpy(o->held_hdr, tx->hdr, tx->hdr_len);
    o->held_tx = *tx;
    o->held_tx.hdr = o->held_hdr;
    o->held_tx.owner = NULL; /* may be gone before the rest is sent */
    o->held_at = at;
    o->held_len = tx->len;
    engine_count(e, EC_gso_held);
}

int offload_push(struct engine *e)
{
    struct offload *o = &e->offload;
    const struct offload_payload p = {{{o->held, o->held_len}}, 1};

    o->held_at = cut(e, &o->held_tx, &p, o->held_at);
    return offload_holds(o) ? -1 : 0;
}

/* Sends the frame whole. Returns 1 when the back end does not accept it. */
static int send_whole(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p)
{
    struct netio_frame f;

    if (netio_tx_alloc(e->netio, &f) != 0)
        return -1;
    if (!(f.flags & NETIO_F_TSO)) { /* a wire's other end may refuse them at times */
        netio_tx_cancel(e->netio, &f);
        return 1;
    }
    memcpy(f.data, tx->hdr, tx->hdr_len);
    f.len = f.hdr_len = tx->hdr_len;
    f.gso_size = tx->gso_size;
    f.csum_start = tx->csum_start;
    f.csum_offset = tx->csum_offset;
    f.refs = p->ref;
    f.ref_count = p->count;
    wiretap_submit(e, &f, tx->owner);
    engine_count(e, EC_tx_tso);
    engine_count(e, EC_csum_left);
    return 0;
}

int offload_send(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p)
{
    uint32_t at;

    if (e->offload.active & OFFLOAD_TSO) {
        int r = send_whole(e, tx, p);

        if (r <= 0)
            return r;
    }
    at = cut(e, tx, p, 0);
    if (at == 0)
        return -1;
    if (at < tx->len)
        hold(e, tx, p, at);
    return 0;
}
