/* SPDX-License-Identifier: Apache-2.0 */
/* raw.c - see raw.h. */
#include "raw.h"

uint32_t raw_word(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

void raw_input(struct sim *s, unsigned host, const struct raw *r)
{
    uint8_t f[1600] = {0};
    struct toec_packet p = {.data = f};
    struct toec_tx sum = {.csum_start = 34, .csum_offset = 16};
    unsigned options = (r->has_ts ? 12u : 0u) + (r->mss ? 4u : 0u), tcp = 20 + options + r->len;
    uint8_t tail[4] = {0, 6, (uint8_t)(tcp >> 8), (uint8_t)tcp}, *o = f + 54;
    uint16_t folded;

    assert_true(tcp + 34 <= sizeof(f));
    memcpy(f, s->host[host].cfg.mac, 6);
    f[6] = 2;
    f[11] = (uint8_t)(2 - host);
    f[12] = 8;
    f[14] = 0x45;
    f[16] = (uint8_t)((20 + tcp) >> 8);
    f[17] = (uint8_t)(20 + tcp);
    f[20] = 0x40;
    f[22] = 64;
    f[23] = 6;
    put(f + 26, r->src);
    put(f + 30, r->dst);
    folded = (uint16_t)~toec_sum(f + 14, 20);
    memcpy(f + 24, &folded, 2);
    put(f + 34, (uint32_t)r->sport << 16 | r->dport);
    put(f + 38, r->seq);
    put(f + 42, r->ack);
    put(f + 46, (20 + options) / 4 << 28 | r->flags << 16 | (r->shut ? 0u : 0xffffu));
    if (r->mss) {
        put(o, 0x02040000u | (uint32_t)r->mss);
        o += 4;
    }
    if (r->has_ts) {
        put(o, 0x0101080au);
        put(o + 4, r->tsval);
        put(o + 8, r->tsecr);
        o += 12;
    }
    memset(o, 'x', r->len);
    folded = toec_sum_add(toec_sum(f + 26, 8), toec_sum(tail, 4), 0);
    memcpy(f + 50, &folded, 2);
    p.len = p.head_len = 34 + tcp;
    toec_tx_finish(&sum, f, p.len);
    toec_input(s->host[host].stack, &p, s->now);
}
