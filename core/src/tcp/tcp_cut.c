/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cut.c - segmentation in software: the headers of the segments that a large one is cut into,
 * as TSO makes them (RFC 9293 3.7; Linux: Documentation/networking/segmentation-offloads.rst).
 */
#include "../base/base.h"
#include "../base/wire.h"
#include "../wire/wire_eth.h"
#include "../wire/wire_ip4.h"
#include "../wire/wire_ip6.h"
#include "../wire/wire_tcp.h"

/* Sets length and identification. With DF the ID has no meaning (RFC 6864 4.1) and stays. */
static void set_ip4(toec_u8 *ip, unsigned len, toec_u32 index)
{
    toec_put16(ip + TOEC_IP4_TOTAL, len);
    if (!(toec_ip4_frag(ip) & TOEC_IP4_DF))
        toec_put16(ip + TOEC_IP4_ID, (toec_get16(ip + TOEC_IP4_ID) + index) & 0xffff);
    toec_put16(ip + TOEC_IP4_SUM, 0);
    toec_put_sum(ip + TOEC_IP4_SUM, (toec_u16)~toec_sum(ip, TOEC_IP4_LEN));
}

/* Returns not 0 when IPv6 is before the TCP header: neither family has options here. */
static int is_ip6(const struct toec_tx *tx)
{
    unsigned l3 = tx->csum_start - TOEC_IP6_LEN;

    return tx->csum_start >= TOEC_ETH_LEN + TOEC_IP6_LEN &&
           toec_get16(tx->hdr + l3 - 2) == TOEC_ETHERTYPE_IP6;
}

void toec_tx_cut(const struct toec_tx *tx, toec_u32 at, toec_u32 n, toec_u8 *hdr)
{
    toec_u8 *tcp = hdr + tx->csum_start;
    unsigned l4 = (unsigned)tx->hdr_len - tx->csum_start;
    toec_u16 sum;

    memcpy(hdr, tx->hdr, tx->hdr_len);
    if (is_ip6(tx))
        toec_put16(tcp - TOEC_IP6_LEN + TOEC_IP6_PAYLOAD, l4 + n);
    else
        set_ip4(tcp - TOEC_IP4_LEN, TOEC_IP4_LEN + l4 + n, at / tx->gso_size);
    toec_put32(tcp + TOEC_TCP_SEQ, toec_get32(tcp + TOEC_TCP_SEQ) + at);
    if (at + n < tx->len) /* flags of the data's end: on the last segment only */
        tcp[TOEC_TCP_FLAGS] &= (toec_u8) ~(TOEC_TH_FIN | TOEC_TH_PSH);
    if (at) /* RFC 3168 6.1.2: CWR on one segment only */
        tcp[TOEC_TCP_FLAGS] &= (toec_u8)~TOEC_TH_CWR;
    /* The pseudo-header includes the length: the new one replaces the old one (RFC 1624). */
    sum = toec_get_sum(tcp + tx->csum_offset);
    sum = toec_sum_add(sum, (toec_u16)~toec_hton16((toec_u16)(l4 + tx->len)), 0);
    sum = toec_sum_add(sum, toec_hton16((toec_u16)(l4 + n)), 0);
    toec_put_sum(tcp + tx->csum_offset, sum);
}
