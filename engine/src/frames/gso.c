/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gso.c - segmentation in software: the headers of the segments that a large one is split into, as
 * TSO generates them (RFC 9293 3.7; Linux: Documentation/networking/segmentation-offloads.rst).
 */
#include <string.h>

#include "bytes.h"
#include "gso.h"
#include "sums.h"
#include "vlan.h"

#define IP4_DF      0x40u
#define IP6_LEN     40u
#define TCP_SEQ     4u
#define TCP_FLAGS   13u
#define TH_FIN      0x01u
#define TH_PSH      0x08u
#define TH_CWR      0x80u
#define VERSION(ip) ((ip)[0] >> 4)

static uint16_t native(uint32_t v)
{
    uint8_t b[2];
    uint16_t w;

    put16(b, v);
    memcpy(&w, b, 2);
    return w;
}

/* Sets length and identification. With DF the ID has no meaning (RFC 6864 4.1) and is left
 * unchanged. */
static void set_ip4(uint8_t *ip, uint32_t len, uint32_t index)
{
    uint16_t sum;

    put16(ip + 2, len);
    if (!(ip[6] & IP4_DF))
        put16(ip + 4, get16(ip + 4) + index);
    memset(ip + 10, 0, 2);
    sum = (uint16_t)~toec_sum(ip, (ip[0] & 15u) * 4);
    memcpy(ip + 10, &sum, 2);
}

void gso_header(uint8_t *out, const struct toec_tx *tx, uint32_t at, uint32_t n)
{
    uint32_t ip_at = vlan_ip_at(tx->hdr);
    uint8_t *ip = out + ip_at, *tcp = out + tx->csum_start;
    uint32_t l4 = tx->hdr_len - tx->csum_start, seq;
    uint16_t sum;

    memcpy(out, tx->hdr, tx->hdr_len);
    if (VERSION(ip) == 4)
        set_ip4(ip, tx->hdr_len - ip_at + n, at / tx->gso_size);
    else
        put16(ip + 4, tx->hdr_len - ip_at - IP6_LEN + n);
    seq = (get16(tcp + TCP_SEQ) << 16 | get16(tcp + TCP_SEQ + 2)) + at;
    put16(tcp + TCP_SEQ, seq >> 16);
    put16(tcp + TCP_SEQ + 2, seq);
    if (at + n < tx->len) /* flags at the end of the data: on the last segment only */
        tcp[TCP_FLAGS] &= (uint8_t) ~(TH_FIN | TH_PSH);
    if (at) /* RFC 3168 6.1.2: CWR on one segment only */
        tcp[TCP_FLAGS] &= (uint8_t)~TH_CWR;
    /* The pseudo-header includes the length: replace the old one by the new one (RFC 1624). */
    memcpy(&sum, tcp + tx->csum_offset, 2);
    sum = toec_sum_add(sum, (uint16_t)~native(l4 + tx->len), 0);
    sum = toec_sum_add(sum, native(l4 + n), 0);
    memcpy(tcp + tx->csum_offset, &sum, 2);
}

void gso_slice(struct offload_payload *out, const struct offload_payload *p, uint32_t from,
               uint32_t n)
{
    unsigned i;

    out->count = 0;
    for (i = 0; i < p->count && n; i++) {
        uint32_t part = p->ref[i].len;

        if (from >= part) {
            from -= part;
            continue;
        }
        part = part - from < n ? part - from : n;
        out->ref[out->count++] = (struct netio_ref){p->ref[i].data + from, part};
        n -= part;
        from = 0;
    }
}

uint16_t gso_gather_sum(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n)
{
    struct offload_payload s;
    uint32_t done = 0;
    uint16_t sum = 0;
    unsigned i;

    if (p->count == 1)
        return sums->copy(out, p->ref[0].data + from, n);
    gso_slice(&s, p, from, n);
    for (i = 0; i < s.count; i++) {
        sum = toec_sum_add(sum, sums->copy(out + done, s.ref[i].data, s.ref[i].len), done & 1);
        done += s.ref[i].len;
    }
    return sum;
}

void gso_gather(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n)
{
    struct offload_payload s;
    unsigned i;

    if (n == 0)
        return;
    if (p->count == 1) {
        memcpy(out, p->ref[0].data + from, n);
        return;
    }
    gso_slice(&s, p, from, n);
    for (i = 0; i < s.count; i++) {
        memcpy(out, s.ref[i].data, s.ref[i].len);
        out += s.ref[i].len;
    }
}
