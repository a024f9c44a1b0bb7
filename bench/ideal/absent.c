/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.c - the functions of core.h for what this TOE does not have: a network, neighbours,
 * routes, shared ports, checksums. The engine calls them and needs a plausible answer.
 */
#include <string.h>

#include <toe/port.h>

#include "stack.h"

int toec_connect_from(struct toec_stack *s, const struct toec_addr *local,
                      const struct toec_addr *remote, toec_u16 remote_port, toec_u32 local_port,
                      const struct toec_buffers *bufs, toec_time now, struct toec_tcb **flow)
{
    (void)s;
    (void)local;
    (void)remote;
    (void)remote_port;
    (void)local_port;
    (void)bufs;
    (void)now;
    *flow = NULL;
    return TOEC_E_UNREACH; /* there is no network */
}

int toec_fastopen(struct toec_stack *s, struct toec_tcb *flow, int no_cookie, toec_time now)
{
    (void)s;
    (void)flow;
    (void)no_cookie;
    (void)now;
    return 0;
}

int toec_set_option(struct toec_stack *s, struct toec_tcb *flow, enum toec_option opt,
                    toec_u32 value, toec_time now)
{
    (void)s;
    (void)flow;
    (void)opt;
    (void)value;
    (void)now;
    return 0;
}

void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now)
{
    (void)s;
    (void)p;
    (void)now;
}

int toec_flow_waits(struct toec_stack *s, const struct toec_tcb *flow)
{
    (void)s;
    (void)flow;
    return -1; /* it has no TIME-WAIT */
}

void toec_watch_rtt(struct toec_stack *s, toec_rtt_fn fn)
{
    (void)s; /* there is no network, so no RTT */
    (void)fn;
}

/* Flows have no cold state to prefetch. */
void toec_expect(const struct toec_stack *s, const struct toec_packet *p, unsigned n,
                 struct toec_expected *out)
{
    (void)s;
    (void)p;
    memset(out, 0, n * sizeof(*out));
}

unsigned toec_own_addresses(const struct toec_stack *s, struct toec_own_addr *out, unsigned max)
{
    (void)s;
    (void)out;
    (void)max;
    return 0;
}

enum toec_ip4_state toec_ip4_state(const struct toec_stack *s, toec_u8 mac[6])
{
    (void)s;
    memset(mac, 0, 6);
    return TOEC_IP4_OWN;
}

int toec_has_router(const struct toec_stack *s)
{
    (void)s;
    return 0;
}

toec_u32 toec_own_epoch(const struct toec_stack *s)
{
    (void)s;
    return 0;
}

int toec_set_max_gso(struct toec_stack *s, toec_u32 max_gso)
{
    (void)s;
    (void)max_gso;
    return 0;
}

toec_u32 toec_set_mtu(struct toec_stack *s, toec_u32 mtu)
{
    (void)s;
    return mtu;
}

void toec_set_prefix(struct toec_stack *s, unsigned prefix_len)
{
    (void)s;
    (void)prefix_len;
}

/* It has no TIME-WAIT, and its listeners outlive their connections. */
int toec_bind_ok(const struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                 unsigned how)
{
    (void)s;
    (void)addr;
    (void)port;
    (void)how;
    return 0;
}

/* Its address is never shared. */
void toec_set_addresses6(struct toec_stack *s, const struct toec_given *given, unsigned n)
{
    (void)s;
    (void)given;
    (void)n;
}

void toec_neighbour(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                    toec_time now)
{
    (void)s;
    (void)addr;
    (void)mac;
    (void)now;
}

void toec_set_ports(struct toec_stack *s, toec_u16 first, toec_u16 last, const toec_u8 *reserved)
{
    (void)s;
    (void)first;
    (void)last;
    (void)reserved;
}

void toec_routes_changed(struct toec_stack *s)
{
    (void)s;
}

void toec_output(struct toec_stack *s, toec_time now)
{
    (void)s;
    (void)now;
}

toec_u16 toec_sum_add(toec_u16 a, toec_u16 b, int odd)
{
    (void)a;
    (void)b;
    (void)odd;
    return 0;
}

toec_u16 toec_sum(const void *data, unsigned long n)
{
    (void)data;
    (void)n;
    return 0;
}

void toec_tx_finish(const struct toec_tx *tx, toec_u8 *frame, toec_u32 frame_len)
{
    (void)tx;
    (void)frame;
    (void)frame_len;
}

toec_u32 toec_rss_hash(const struct toec_addr *a, const struct toec_addr *b, toec_u16 pa,
                       toec_u16 pb)
{
    (void)a;
    (void)b;
    (void)pa;
    (void)pb;
    return 0;
}
