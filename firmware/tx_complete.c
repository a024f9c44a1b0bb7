/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_complete.c - a descriptor for each segment, a template for each flow (tx_header.h). The header
 * unit fetches the payload, writes headers and checksums, and sends the frame: the processor
 * neither copies nor sums nor waits.
 */
#include "tx.h"
#include "tx_header.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);

#define TEMPLATES      ((volatile uint32_t *)0x30010000u)
#define TEMPLATE_WORDS 16u
#define IP_SUM         60 /* in a template (hyb_header.sv) */
#define PSEUDO_SUM     62
#define IP             14 /* in a frame */
#define TCP4           34
#define TCP6           54
#define PORTS          4
#define PROTO_TCP      6
#define DONT_FRAGMENT  0x40
#define ENDS           0x09u /* FIN and PSH: of a burst's last segment */

static uint32_t load(const uint8_t *from)
{
    uint32_t word;

    memcpy(&word, from, 4);
    return word;
}

static uint16_t load_half(const uint8_t *from)
{
    uint16_t half;

    memcpy(&half, from, 2);
    return half;
}

static void store_half(uint8_t *to, uint16_t half)
{
    memcpy(to, &half, 2);
}

/* Fills the template of an IPv4 frame: the fields that vary are 0 in its sum. */
static void fill4(uint8_t *t, const uint8_t *hdr)
{
    memcpy(t, hdr, TCP4 + PORTS);
    t[IP + 1] = 0;
    store_half(t + IP + 2, 0);
    store_half(t + IP + 10, 0);
    store_half(t + IP_SUM, toec_sum(t + IP, 20));
    store_half(t + PSEUDO_SUM, tx_fold((uint32_t)toec_sum(t + IP + 12, 8) +
                                       toec_sum(t + TCP4, PORTS) + (PROTO_TCP << 8)));
}

static void fill6(uint8_t *t, const uint8_t *hdr)
{
    memcpy(t, hdr, TCP6 + PORTS);
    store_half(t + PSEUDO_SUM, tx_fold((uint32_t)toec_sum(t + IP + 8, 32) +
                                       toec_sum(t + TCP6, PORTS) + (PROTO_TCP << 8)));
}

void tx_header_learn(struct tx_header *h, uint32_t flow, const struct toec_tx *tx)
{
    const uint8_t *hdr = tx->hdr;
    int v6 = tx->csum_start == TCP6;
    uint8_t hops = hdr[v6 ? IP + 7 : IP + 8], t[4 * TEMPLATE_WORDS];
    unsigned i;

    if (h->known && h->mac_low == load(hdr) && h->mac_high == load_half(hdr + 4) && h->hops == hops)
        return;
    if (!v6 && (tx->csum_start != TCP4 || !(hdr[IP + 6] & DONT_FRAGMENT)))
        return;
    memset(t, 0, sizeof(t));
    if (v6)
        fill6(t, hdr);
    else
        fill4(t, hdr);
    while (TX_REG(HEADER_BUSY)) /* a frame that is under way uses the template before */
        ;
    for (i = 0; i < TEMPLATE_WORDS; i++)
        TEMPLATES[(flow & HYB_REGS__HEADER_FLOW__FLOW_bm) * TEMPLATE_WORDS + i] = load(t + 4 * i);
    h->flow = flow | (v6 ? HYB_REGS__HEADER_FLOW__V6_bm : 0);
    h->mac_low = load(hdr);
    h->mac_high = load_half(hdr + 4);
    h->hops = hops;
    h->known = 1;
}

/* Cuts a burst into segments, the first one in this slot. Returns the last one's slot. */
static uint32_t cut(const struct toec_tx_segment *g, uint32_t from, uint32_t slot, uint32_t fields)
{
    uint32_t at;

    TX_REG(HEADER_FIELDS) = fields & ~((uint32_t)ENDS << HYB_REGS__HEADER_FIELDS__FLAGS_bp);
    for (at = 0; g->len - at > g->mss; at += g->mss) {
        TX_REG(HEADER_SEQ) = g->seq + at;
        TX_REG(HEADER_FROM) = from + at;
        TX_REG(HEADER_GO) = slot + g->mss;
        while ((slot = TX_REG(ADDRESS)) == 0)
            ; /* one is free as soon as a frame before it has left */
    }
    TX_REG(HEADER_SEQ) = g->seq + at;
    TX_REG(HEADER_FROM) = from + at;
    TX_REG(HEADER_FIELDS) = fields;
    TX_REG(HEADER_GO) = slot + g->len - at;
    return slot;
}

uint32_t tx_header_send(const struct tx_header *h, const struct toec_tx_segment *g, uint32_t from)
{
    uint32_t slot, fields;

    if (!h->known || h->mac_low != load(g->mac) || h->mac_high != load_half(g->mac + 4) ||
        h->hops != g->hops)
        return TX_REFUSED;
    TX_STEP(TX_SLOT);
    slot = TX_REG(ADDRESS);
    if (!slot)
        return TX_FULL;
    TX_STEP(TX_HEADERS);
    TX_REG(HEADER_FLOW) = h->flow | (uint32_t)g->stamps << HYB_REGS__HEADER_FLOW__STAMPS_bp;
    TX_REG(HEADER_ACK) = g->ack;
    TX_REG(HEADER_VAL) = g->ts_val;
    TX_REG(HEADER_ECR) = g->ts_ecr;
    fields = g->tos | (uint32_t)g->flags << HYB_REGS__HEADER_FIELDS__FLAGS_bp |
             (uint32_t)g->wnd << HYB_REGS__HEADER_FIELDS__WINDOW_bp;
    if (g->len > g->mss)
        slot = cut(g, from, slot, fields);
    else {
        TX_REG(HEADER_SEQ) = g->seq;
        TX_REG(HEADER_FROM) = from;
        TX_REG(HEADER_FIELDS) = fields;
        TX_REG(HEADER_GO) = slot + g->len;
    }
    TX_STEP(TX_AFTER);
    return slot;
}
