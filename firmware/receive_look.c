/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_look.c - frames of which hyb_look.sv has read the headers and verified the checksums, for
 * core/: a usual segment as fields, for the flow that the last segment with its hash was for. The
 * processor then reads nothing of the frame but the addresses. Segments that wait one behind the
 * other, and continue the stream, are one for core/ (merged receive), which decides once. All other
 * frames go to toec_input(), with the checksums that are verified. Of the complete configuration.
 */
#include <stddef.h>

#include "toe.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);

#define ADDRESSES4 26u /* in a frame */
#define ADDRESSES6 22u
#define HEADER4    34u
#define HEADER6    54u
#define PSH        0x08u
#define ACK        0x10u

/* The frames of a merged segment, the first one included. */
struct pieces {
    unsigned count;
    struct {
        const uint8_t *payload;
        uint32_t len;
    } piece[RECEIVE_MOST];
};

void receive_place(struct host_flow at, const struct toec_packet *p, uint32_t p_off, uint32_t len,
                   uint32_t to)
{
    const struct pieces *m = p->opaque;
    uint32_t skip;
    unsigned i;

    if (!m) {
        host_place(at, p->data + p_off, len, to);
        return;
    }
    skip = p_off - (uint32_t)(m->piece[0].payload - p->data); /* trimmed by core/ */
    for (i = 0; i < m->count && len; i++) {
        uint32_t n = m->piece[i].len;

        if (skip >= n) {
            skip -= n;
            continue;
        }
        n = n - skip < len ? n - skip : len;
        host_place(at, m->piece[i].payload + skip, n, to);
        to += n;
        len -= n;
        skip = 0;
    }
}

/* Takes the fields of a description. */
static void read_fields(struct toec_rx_segment *g, const uint8_t *data,
                        const volatile struct host_look *l, uint32_t facts)
{
    uint32_t lengths = l->lengths, fields = l->fields, ports = l->ports;
    uint32_t v6 = facts & HOST_V6;

    g->remote = data + (v6 ? ADDRESSES6 : ADDRESSES4);
    g->local = g->remote + (v6 ? 16 : 4);
    g->header = data + (v6 ? HEADER6 : HEADER4);
    g->seq = l->seq;
    g->ack = l->ack;
    g->ts_val = l->ts_val;
    g->ts_ecr = l->ts_ecr;
    g->off = lengths & 0xff;
    g->len = lengths >> 8 & 0xfff;
    g->remote_port = (uint16_t)ports;
    g->local_port = (uint16_t)(ports >> 16);
    g->wnd = (uint16_t)(fields >> 16);
    g->flags = (uint8_t)fields;
    g->tos = (uint8_t)(facts >> 8);
    g->v6 = v6 != 0;
    g->stamps = (facts & HOST_STAMPS) != 0;
}

static int same_peer(const uint8_t *a, const uint8_t *b, int v6)
{
    uint32_t x, y, i;

    for (i = 0; i < (v6 ? 16u : 4u); i += 4) {
        memcpy(&x, a + i, 4);
        memcpy(&y, b + i, 4);
        if (x != y)
            return 0;
    }
    return 1;
}

/* Returns not 0 when the segment of a frame that waits continues *g: what Linux's GRO demands. */
static int continues(const struct toec_rx_segment *g, const uint8_t *data,
                     const volatile struct host_look *l, uint32_t facts)
{
    uint32_t fields = l->fields;

    return l->facts == facts && l->seq == g->seq + g->len && l->ack == g->ack &&
           ((uint8_t)fields & ~PSH) == ACK && (uint16_t)(fields >> 16) == g->wnd &&
           l->ports == ((uint32_t)g->local_port << 16 | g->remote_port) &&
           (!g->stamps || (l->ts_val == g->ts_val && l->ts_ecr == g->ts_ecr)) &&
           (l->lengths >> 8 & 0xfff) != 0 &&
           same_peer(data + (g->v6 ? ADDRESSES6 : ADDRESSES4), g->remote, g->v6);
}

/* Adds the frames that continue the segment of the frame at hand. PSH is the last one of a write's:
 * nothing is added behind it. */
static void merge(struct toec_rx_segment *g, struct toec_packet *p, struct pieces *m,
                  uint32_t facts)
{
    const uint8_t *data;
    uint32_t length;

    m->count = 1;
    m->piece[0].payload = p->data + g->off;
    m->piece[0].len = g->len;
    if (g->len == 0 || g->flags != ACK)
        return;
    while (m->count < RECEIVE_MOST && !(g->flags & PSH) &&
           (data = host_frame_ahead(m->count, &length)) != 0) {
        const volatile struct host_look *l = host_look(m->count);
        uint32_t lengths;

        if (!continues(g, data, l, facts))
            return;
        lengths = l->lengths;
        m->piece[m->count].payload = data + (lengths & 0xff);
        m->piece[m->count].len = lengths >> 8 & 0xfff;
        g->len += m->piece[m->count].len;
        g->flags |= (uint8_t)l->fields & PSH;
        p->len += length;
        p->opaque = m;
        m->count++;
    }
}

unsigned receive_frames(const uint8_t *data, uint32_t length)
{
    const volatile struct host_look *l = host_look(0);
    uint32_t facts = l->facts;
    struct toec_packet p = {data, length, length, 0, 0};
    struct agent **expected = &toe.expected[facts >> 16 & 0xff];

    if (facts & HOST_USUAL) {
        if (*expected && (*expected)->flow) {
            struct toec_rx_segment g;
            struct pieces m;

            g.pkt = &p;
            read_fields(&g, data, l, facts);
            merge(&g, &p, &m, facts);
            if (toec_input_flow(toe.stack, (*expected)->flow, &g, toe.now) == 0)
                return m.count;
            p.len = length;
            p.opaque = 0;
        }
        toe.active = 0;
    }
    if (facts & HOST_IP_SUM)
        p.flags |= TOEC_RX_IP_CSUM_OK;
    if (facts & HOST_SUM)
        p.flags |= TOEC_RX_L4_CSUM_OK;
    toec_input(toe.stack, &p, toe.now);
    /* The flow of its segment, if it had an event. */
    if ((facts & HOST_USUAL) && toe.active)
        *expected = toe.active;
    return 1;
}
