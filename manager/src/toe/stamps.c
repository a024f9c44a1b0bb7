/* SPDX-License-Identifier: Apache-2.0 */
/* stamps.c - times of a timed flow's exchange, for the TOE (stamps.h). */
#include "stamps.h"

static void store(uint64_t *at, uint64_t ns)
{
    __atomic_store_n(at, ns, __ATOMIC_RELAXED); /* the SEND's doorbell publishes them */
}

void tstamps_taken(struct tsock *s)
{
    struct toedev_stamps *stamps = &s->qp->db->stamps;

    store(&stamps->taken, tclock_ns());
    store(&stamps->read, 0);
    store(&stamps->write, 0);
    store(&stamps->posted, 0);
}

static void store_first(uint64_t *at)
{
    if (*at == 0)
        store(at, tclock_ns());
}

void tstamps_read(const struct tsock *s)
{
    if (s->qp)
        store(&s->qp->db->stamps.read, tclock_ns());
}

void tstamps_write(const struct tsock *s)
{
    if (s->qp)
        store_first(&s->qp->db->stamps.write);
}

void tstamps_posted(const struct tsock *s)
{
    store_first(&s->qp->db->stamps.posted);
}
