/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_ao.c - restores TCP-AO keys: in an image, keys precede the record of their owner
 * (save.h).
 */
#include "restore_ao.h"

#include "save_tables.h"

#define DAMAGED "the image is damaged: a key of TCP-AO is none that there is"

static const char *take_key(struct toec_restoring *r)
{
    struct toec_ao_key *k = toec_ao_key_new(r->s, &r->keys), *next;

    if (!k)
        return "the image has more keys of TCP-AO than there is room for";
    next = k->next;
    if (toec_image_take(&r->in, toec_t_ao_key.row, toec_t_ao_key.count, k))
        return DAMAGED;
    k->next = next;
    if ((k->alg != TOEC_AO_HMAC_SHA1 && k->alg != TOEC_AO_AES_CMAC) || k->len == 0 ||
        k->len > TOEC_AO_SECRET_MAX || k->prefix > (toec_addr_is4(&k->remote) ? 32u : 128u))
        return DAMAGED;
    return 0;
}

static struct toec_ao_key *key_at(struct toec_ao_key *list, toec_u64 place)
{
    while (list && place--)
        list = list->next;
    return list;
}

static const char *take_ao(struct toec_restoring *r)
{
    struct toec_tcb *t = r->tw ? 0 : r->flow;
    struct toec_ao *ao;

    if (!r->keys || (r->tw ? r->tw->ao != 0 : !t || toec_ao_of(r->s, t)))
        return "the image is damaged: keys are there twice, or without an owner";
    ao = toec_ao_new(r->s);
    if (!ao)
        return "the image has more keys of TCP-AO than there is room for";
    if (toec_image_take(&r->in, toec_t_ao.row, toec_t_ao.count, ao))
        return DAMAGED;
    ao->keys = r->keys;
    r->keys = 0;
    ao->current = key_at(ao->keys, toec_image_number(&r->in, TOEC_TAG_CURRENT));
    ao->rnext = key_at(ao->keys, toec_image_number(&r->in, TOEC_TAG_RNEXT));
    if (!ao->current || !ao->rnext || (!ao->ready && (!t || t->state != TOEC_SYN_SENT)))
        return DAMAGED;
    if (t)
        toec_ao_attach(r->s, t, ao);
    else
        r->tw->ao = ao;
    return 0;
}

const char *toec_restore_ao(struct toec_restoring *r)
{
    toec_u64 index = toec_image_number(&r->in, TOEC_TAG_INDEX);
    struct toec_listener *l;

    if (r->in.type == TOEC_REC_AO_KEY)
        return take_key(r);
    if (r->in.type == TOEC_REC_AO)
        return take_ao(r);
    l = index < r->s->tcp->listeners.fresh ? toec_pool_at(&r->s->tcp->listeners, (toec_u32)index)
                                           : 0;
    if (!l || !l->live || l->ao_keys)
        return "the image is damaged: keys are there twice, or without an owner";
    l->ao_keys = r->keys;
    r->keys = 0;
    return 0;
}
