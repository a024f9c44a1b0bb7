/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - keys of a stack and the random numbers made with one of them. */
#include "keys.h"

#include "stack.h"

/* Derives one key from the secret: SipHash, keyed with its first half, over its second half and a
 * label. */
static toec_u64 derive(const struct toec_config *cfg, unsigned label)
{
    toec_u8 in[17];
    toec_u64 key[2];

    memcpy(key, cfg->secret, 16);
    memcpy(in, cfg->secret + 16, 16);
    in[16] = (toec_u8)label;
    return toec_siphash(key, in, sizeof(in));
}

/* The same from isn_secret, which stacks of several addresses may share. A key hashes no local IPv4
 * address (tcp_isn.c), so the key of each address differs. */
static toec_u64 derive_isn(const struct toec_config *cfg, unsigned label)
{
    toec_u8 in[5];
    toec_u64 key[2];

    memcpy(key, cfg->isn_secret, sizeof(key));
    if (!(key[0] | key[1]))
        return derive(cfg, label);
    memcpy(in, cfg->ip, 4);
    in[4] = (toec_u8)label;
    return toec_siphash(key, in, sizeof(in));
}

void toec_derive_keys(struct toec_stack *s)
{
    struct toec_keys *k = &s->keys;
    toec_u64 given[2];
    unsigned i;

    for (i = 0; i < 2; i++) {
        k->isn[i] = derive_isn(&s->cfg, i);
        k->cookie[i] = derive(&s->cfg, 2 + i);
        k->ts[i] = derive_isn(&s->cfg, 6 + i);
        k->rand[i] = derive(&s->cfg, 8 + i);
        k->tfo[i] = derive(&s->cfg, 200 + i);
    }
    for (i = 0; i <= TOEC_FLOW_WORDS; i++)
        k->flow.k[i] = derive(&s->cfg, 10 + i);
    for (i = 0; i < 2; i++) {
        s->ip6.label_key[i] = derive(&s->cfg, 64 + i);
        s->ip6.iid_key[i] = derive(&s->cfg, 66 + i);
    }
    memcpy(given, s->cfg.ip6_secret, sizeof(given));
    if (given[0] | given[1])
        memcpy(s->ip6.iid_key, given, sizeof(given));
}

toec_u32 toec_rand32(struct toec_stack *s)
{
    toec_u64 n = s->rand_count++;

    return (toec_u32)toec_siphash(s->keys.rand, &n, sizeof(n));
}
