/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_reass.h - IPv4 reassembly (RFC 791 3.2, RFC 1122 3.3.2) in memory given at init.
 */
#ifndef TOEC_IP4_REASS_H
#define TOEC_IP4_REASS_H

#include "hash.h"
#include "ip.h"
#include "pool.h"
#include "timer.h"

struct toec_datagram;

struct toec_reass {
    struct toec_pool pool;
    struct toec_htab by_key;
    struct toec_datagram *oldest, *newest;
};

unsigned long toec_reass_size(const struct toec_config *cfg);
void toec_reass_init(struct toec_stack *s, void *mem);
void toec_reass_timer(struct toec_stack *s, struct toec_timer *t, toec_time now);
/* A fragment (MF set or offset not 0) of a datagram for us, header checked. */
void toec_reass_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);

#endif
