/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_flow.c - any flow that a command may name, for slots in any state: the result is the slot
 * of that number, if the host was notified of it, or none.
 */
#include "proof.h"

#include "../../engine/src/hosts/commands.c"

#define SLOTS 4

static struct qp qp;
static struct slot slots[SLOTS];

/* Called by code that is not part of this proof. */
struct slot *slot_take(struct qp *q)
{
    (void)q;
    return NULL;
}

struct slot *opening_find(const struct qp *q, uint32_t cookie)
{
    (void)q;
    (void)cookie;
    return NULL;
}

void proof(void)
{
    struct command c;
    struct slot *s = NULL;
    unsigned i;

    for (i = 0; i < SLOTS; i++) {
        struct slot any;

        slots[i] = any;
    }
    qp.slots = slots;
    qp.cfg.slots = nondet_u32();
    ASSUME(qp.cfg.slots <= SLOTS);
    if (named_slot(&qp, &c, &s)) {
        PROVE(s == NULL);
        return;
    }
    PROVE(c.flow < qp.cfg.slots && s == &slots[c.flow]);
    PROVE(slots[c.flow].announced);
    s = NULL;
    if (named_flow(&qp, &c, &s) == 0)
        PROVE(s == &slots[c.flow] && slots[c.flow].state != SLOT_GONE);
}
