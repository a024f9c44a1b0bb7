/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - one TCP/IP stack: configuration, counters, timers, keys, and the state of each layer.
 */
#ifndef TOEC_STACK_H
#define TOEC_STACK_H

#include "../base/hash.h"
#include "../base/pool.h"
#include "../base/rate.h"
#include "arp.h"
#include "icmp4.h"
#include "ip.h"
#include "ip4_reass.h"
#include "ip6.h"
#include "keys.h"
#include "neigh.h"
#include "pmtu.h"
#include "stack_timer.h"
#include "udp.h"
#include "wait.h"

struct toec_tcp; /* defined by TCP */

struct toec_stack {
    struct toec_config cfg; /* as used: defaults filled in */
    toec_u32 ip4;           /* own address */
    toec_u32 mask4;         /* of the on-link network */
    toec_u32 gateway4;      /* 0: none */
    struct toec_addr addr;  /* own IPv4 address, mapped */
    toec_u32 link_mtu;      /* at most cfg.mtu: toec_set_mtu() */
    toec_u16 route_epoch;   /* changes when next hops must be chosen again */
    struct toec_tcp *tcp;
    int tx_full;         /* transmit had no room since the last toec_poll() */
    toec_u32 send_epoch; /* see toec_send_epoch() */
    toec_u64 rand_count;
    struct toec_wheel wheel;
    struct toec_keys keys;
    struct toec_neigh_table neigh;
    struct toec_arp_state arp;
    struct toec_reass reass;
    struct toec_pmtu pmtu;
    struct toec_udp_state udp;
    struct toec_icmp4 icmp4;
    struct toec_ip6 ip6;
    struct toec_wait wait;
    toec_rtt_fn rtt_watch; /* 0: not watched */
    toec_u64 counters[TOEC_C_MAX];
};

#define TOEC_COUNT(s, name)        ((s)->counters[TOEC_C_##name]++)
#define TOEC_COUNT_ADD(s, name, n) ((s)->counters[TOEC_C_##name] += (n))

#endif
