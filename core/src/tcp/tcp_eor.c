/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_eor.c - boundaries that no segment may span: see tcp_eor.h. */
#include "tcp_eor.h"

#include "tcp.h"
#include "tcp_tables.h"

static struct toec_eor *list_of(const struct toec_stack *s, const struct toec_tcb *t)
{
    return &s->tcp->eor_of[toec_pool_index(&s->tcp->flows, t)];
}

const struct toec_eor *toec_eor_of(const struct toec_stack *s, const struct toec_tcb *t)
{
    return list_of(s, t);
}

/* Forgets the boundaries that are acknowledged. */
static void forget_acked(const struct toec_stack *s, struct toec_tcb *t)
{
    struct toec_eor *e = list_of(s, t);
    toec_u32 i, gone = 0;

    while (gone < e->n && TOEC_SEQ_LE(e->at[gone], t->snd_una))
        gone++;
    if (gone == 0)
        return;
    e->n -= gone;
    for (i = 0; i < e->n; i++)
        e->at[i] = e->at[i + gone];
    if (e->n == 0)
        t->rare &= (toec_u8)~TOEC_RARE_EOR;
}

int toec_eor_add(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq)
{
    struct toec_eor *e = list_of(s, t);

    if (!(t->rare & TOEC_RARE_EOR))
        e->n = 0;
    else
        forget_acked(s, t);
    if (e->n && e->at[e->n - 1] == seq)
        return 1;
    if (e->n == TOEC_EOR_MAX)
        return 0;
    e->at[e->n++] = seq;
    t->rare |= TOEC_RARE_EOR;
    return 1;
}

/* Marks the end of what has been announced. Without data of the record that is not acknowledged
 * yet, there is nothing to keep apart. */
int toec_eor(struct toec_stack *s, struct toec_tcb *t)
{
    int opening = t->state < TOEC_ESTABLISHED || (t->fo.flags & TOEC_FO_SYN);

    if (t->flags & (TOEC_F_FIN | TOEC_F_USER_GONE))
        return TOEC_E_INVAL;
    if (t->snd_end == (opening ? t->iss + 1 : t->snd_una) || toec_eor_add(s, t, t->snd_end))
        return 0;
    TOEC_COUNT(s, tcp_eor_full);
    return TOEC_E_NOBUFS;
}

toec_u32 toec_eor_end(const struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end)
{
    const struct toec_eor *e = list_of(s, t);
    toec_u32 i;

    forget_acked(s, t);
    for (i = 0; i < e->n; i++)
        if (TOEC_SEQ_GT(e->at[i], start)) /* a FIN joins the last record */
            return TOEC_SEQ_LT(e->at[i], end) && e->at[i] != t->snd_end ? e->at[i] : end;
    return end;
}

toec_u32 toec_eor_start(const struct toec_stack *s, const struct toec_tcb *t, toec_u32 start,
                        toec_u32 end)
{
    const struct toec_eor *e = list_of(s, t);
    toec_u32 i;

    for (i = e->n; i > 0; i--)
        if (TOEC_SEQ_LT(e->at[i - 1], end))
            return TOEC_SEQ_GT(e->at[i - 1], start) ? e->at[i - 1] : start;
    return start;
}

int toec_eor_at(const struct toec_stack *s, const struct toec_tcb *t, toec_u32 seq)
{
    const struct toec_eor *e = list_of(s, t);
    toec_u32 i;

    for (i = 0; i < e->n && e->at[i] != seq; i++)
        ;
    return i < e->n;
}
