/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - keyed hashes (SipHash-2-4 for values that an attacker must not predict, a universal hash
 * for flow lookup, Toeplitz for receive-side scaling) and the intrusive hash table for flows,
 * listeners, neighbours and datagrams.
 */
#ifndef TOEC_HASH_H
#define TOEC_HASH_H

#include "base.h"

/* SipHash-2-4 (Aumasson, Bernstein 2012) of n bytes under a 128-bit key. */
toec_u64 toec_siphash(const toec_u64 key[2], const void *data, unsigned long n);

/* Toeplitz hash of n bytes; key holds n + 4 bytes at least (Microsoft RSS specification). */
toec_u32 toec_toeplitz(const toec_u8 *key, const toec_u8 *data, unsigned long n);

/* Key of the multilinear hash: one word per 32-bit input word and one more. */
#define TOEC_FLOW_WORDS 9
struct toec_flow_key {
    toec_u64 k[TOEC_FLOW_WORDS + 1];
};

/*
 * Hash of a 4-tuple for the lookup tables: multilinear, (k0 + sum of k[i+1] * w[i]) >> 33, which is
 * strongly universal (Lemire, Kaser 2014): an attacker without the key cannot target one bucket.
 * The top bit marks IPv6 (TOEC_HASH_IP6), so equal hashes belong to one family.
 */
#define TOEC_HASH_IP6 0x80000000u
toec_u32 toec_flow_hash(const struct toec_flow_key *key, const struct toec_addr *local,
                        const struct toec_addr *remote, toec_u16 local_port, toec_u16 remote_port);
/* The same hash of two words: neighbours, datagrams, listeners. */
toec_u32 toec_word_hash(const struct toec_flow_key *key, toec_u32 a, toec_u32 b);
/* The same hash of an address and a word. */
toec_u32 toec_addr_hash(const struct toec_flow_key *key, const struct toec_addr *a, toec_u32 b);

/* ---- intrusive chained hash table; the number of buckets is fixed ---- */

struct toec_hnode {
    struct toec_hnode *next;
    toec_u32 hash;
};

struct toec_htab {
    struct toec_hnode **bucket;
    toec_u32 mask; /* buckets - 1; a power of two of them */
    toec_u32 used;
};

/* Returns the number of buckets for `items` objects: the next power of two, so that chains stay
 * near one entry. */
toec_u32 toec_htab_buckets(toec_u32 items);

TOEC_INLINE void toec_htab_init(struct toec_htab *t, struct toec_hnode **bucket, toec_u32 buckets)
{
    t->bucket = bucket;
    t->mask = buckets - 1;
    t->used = 0;
    memset(bucket, 0, buckets * sizeof(struct toec_hnode *));
}

/* Returns the first node of this hash; walk on with toec_htab_next() and compare the keys. */
TOEC_INLINE struct toec_hnode *toec_htab_match(struct toec_hnode *n, toec_u32 hash)
{
    while (n && n->hash != hash)
        n = n->next;
    return n;
}

TOEC_INLINE struct toec_hnode *toec_htab_first(const struct toec_htab *t, toec_u32 hash)
{
    return toec_htab_match(t->bucket[hash & t->mask], hash);
}

TOEC_INLINE struct toec_hnode *toec_htab_next(const struct toec_hnode *n)
{
    return toec_htab_match(n->next, n->hash);
}

TOEC_INLINE void toec_htab_add(struct toec_htab *t, struct toec_hnode *n, toec_u32 hash)
{
    struct toec_hnode **b = &t->bucket[hash & t->mask];

    n->hash = hash;
    n->next = *b;
    *b = n;
    t->used++;
}

/* Removes n, which is in the table. */
TOEC_INLINE void toec_htab_del(struct toec_htab *t, struct toec_hnode *n)
{
    struct toec_hnode **p = &t->bucket[n->hash & t->mask];

    while (*p != n)
        p = &(*p)->next;
    *p = n->next;
    t->used--;
}

#endif
