/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - which TCP payload is sent again (tally.h). */
#include <string.h>

#include "tally.h"

#define ETH   14u
#define PROBE 16u /* places of the table that a flow may be at */
#define SYN   0x02u

struct segment {
    uint32_t source, destination, ports;
    uint32_t seq, payload;
    int syn;
};

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Returns 0, or -1 when the frame has no TCP header or is a fragment. */
static int parse(const uint8_t *f, uint32_t len, struct segment *s)
{
    const uint8_t *ip = f + ETH, *tcp;
    uint32_t head, total, offset;

    if (len < ETH + 20 || f[12] != 0x08 || f[13] != 0x00 || ip[0] >> 4 != 4 || ip[9] != 6 ||
        (ip[6] & 0x3f) != 0 || ip[7] != 0)
        return -1;
    head = (ip[0] & 15u) * 4;
    total = (uint32_t)ip[2] << 8 | ip[3];
    if (head < 20 || total > len - ETH || total < head + 20)
        return -1;
    tcp = ip + head;
    offset = (tcp[12] >> 4) * 4u;
    if (offset < 20 || total < head + offset)
        return -1;
    s->source = be32(ip + 12);
    s->destination = be32(ip + 16);
    s->ports = be32(tcp);
    s->seq = be32(tcp + 4);
    s->payload = total - head - offset;
    s->syn = (tcp[13] & SYN) != 0;
    return 0;
}

/* Returns the flow's place, a free one, or NULL. */
static struct tally_flow *find(struct tally *t, const struct segment *s)
{
    uint32_t mixed =
        s->source * 2654435761u ^ s->destination * 2246822519u ^ s->ports * 3266489917u;
    uint32_t at = (mixed ^ mixed >> 15) % TALLY_FLOWS, i;

    for (i = 0; i < PROBE; i++) {
        struct tally_flow *f = &t->flow[(at + i) % TALLY_FLOWS];

        if (!f->ports ||
            (f->source == s->source && f->destination == s->destination && f->ports == s->ports))
            return f;
    }
    return NULL;
}

static struct tally_sender *sender_of(struct tally *t, const uint8_t ip[4])
{
    unsigned i;

    for (i = 0; i < t->senders; i++) {
        if (memcmp(t->sender[i].ip, ip, 4) == 0)
            return &t->sender[i];
    }
    if (t->senders == TALLY_SENDERS)
        return NULL;
    memcpy(t->sender[t->senders].ip, ip, 4);
    return &t->sender[t->senders++];
}

/* Returns how many of the payload's bytes are before the flow's highest one, and moves that. */
static uint32_t advance(struct tally_flow *f, const struct segment *s)
{
    uint32_t end = s->seq + s->payload, before;

    if (!f->ports || s->syn) {
        *f = (struct tally_flow){s->source, s->destination, s->ports,
                                 s->seq + (uint32_t)s->syn + s->payload};
        return 0;
    }
    before = f->next - s->seq;
    if ((int32_t)before < 0)
        before = 0;
    if ((int32_t)(end - f->next) > 0)
        f->next = end;
    return before < s->payload ? before : s->payload;
}

void tally_frame(struct tally *t, const uint8_t *frame, uint32_t len)
{
    struct tally_sender *sender;
    struct tally_flow *flow;
    struct segment s;
    uint32_t repeated;

    if (parse(frame, len, &s) != 0 || (!s.payload && !s.syn))
        return;
    flow = find(t, &s);
    sender = sender_of(t, frame + ETH + 12);
    if (!flow || !sender) {
        t->uncounted++;
        return;
    }
    repeated = advance(flow, &s);
    sender->segments += s.payload != 0;
    sender->bytes += s.payload;
    sender->repeated += repeated;
}
