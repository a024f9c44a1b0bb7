/* SPDX-License-Identifier: Apache-2.0 */
/* ao_keys.h - keys of TCP-AO for the tests of its rules. */
#ifndef AO_KEYS_H
#define AO_KEYS_H

#include "tcpsim.h"
#include "tcpsim_parts.h"

#define PORT 179

/* Returns a key for peers in remote/prefix, with these IDs. */
static inline struct toec_ao_mkt mkt(uint32_t remote, uint8_t prefix, uint8_t send_id,
                                     uint8_t recv_id)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    k.remote.b[10] = k.remote.b[11] = 0xff;
    put32(k.remote.b + 12, remote);
    k.prefix = prefix;
    k.alg = TOEC_AO_HMAC_SHA1;
    k.send_id = send_id;
    k.recv_id = recv_id;
    k.secret = (const uint8_t *)"a secret";
    k.secret_len = 8;
    return k;
}

/* Adds a key to a connection; returns 0 or TOEC_E_... */
static inline int flow_add(struct conn *c, struct toec_ao_mkt k)
{
    return toec_ao_add(c->host->stack, c->flow, &k);
}

#endif
