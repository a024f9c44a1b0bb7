/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ao.c - any TCP header (long: of 60 bytes) whose options the walker takes, at a listener and
 * at a connection with keys: the option is read within the header, and what the MAC is fed is
 * memory.
 */
#include "proof.h"

#include "tcp_opt.c"

#include "../core/src/tcp_ao_seg.c"

static toec_u8 header[SIZE];
static struct toec_stack s;
static struct toec_ao_key key;
static struct toec_ao ao;
static struct toec_listener l;
static struct toec_packet packet;

void start(struct toec_mac *m, enum toec_ao_alg alg, const toec_u8 *k, unsigned len)
{
    (void)m;
    (void)alg;
    READABLE(k, len);
}

void feed(struct toec_mac *m, const void *data, toec_u32 n)
{
    (void)m;
    READABLE(data, n);
}

void code(struct toec_mac *m, toec_u8 *out)
{
    (void)m;
    WRITABLE(out, TOEC_MAC_MOST);
    out[0] = nondet_u8();
}

struct toec_ao_key *find(struct toec_ao_key *list, int send_id, int recv_id)
{
    (void)list;
    (void)send_id;
    (void)recv_id;
    return nondet_u8() ? &key : 0;
}

void proof(void)
{
    struct toec_ip_in in;
    struct toec_seg g;
    unsigned hlen = nondet_u8();

    ASSUME(hlen >= TOEC_TCP_LEN && hlen <= SIZE && hlen % 4 == 0);
    ANYTHING(header);
    ANYTHING(key);
    ASSUME(key.len >= 1 && key.len <= TOEC_AO_SECRET_MAX && !key.next);
    ao.keys = ao.current = ao.rnext = &key;
    l.ao_keys = &key;
    in.pkt = &packet;
    packet.flags = TOEC_RX_REASSEMBLED;
    in.l4 = header + SIZE - hlen;
    header[SIZE - hlen + TOEC_TCP_OFF] = (toec_u8)(hlen / 4 << 4);
    g.n_sack = 0;
    g.ao_n = 0;
    g.len = 0;
    g.id.local = &in.dst;
    g.id.remote = &in.src;
    if (toec_opt_parse(&g, in.l4 + TOEC_TCP_LEN, hlen - TOEC_TCP_LEN))
        return;
    if (nondet_u8())
        (void)listener_refuses(&s, &in, &g, &l);
    else
        (void)connection_refuses(&s, &in, &g, &ao, 0);
}
