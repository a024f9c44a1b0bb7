/* SPDX-License-Identifier: Apache-2.0 */
/* ports_image.c - another toed takes over the ports of a shared address (ports.h). */
#include <string.h>
#include <unistd.h>

#include "base/takeover_image.h"
#include "port_table.h"

static const struct toec_field rows[] = {
#define N(tag, member)                                                                             \
    TOEC_FIELD(tag, TOEC_FIELD_INT, struct port, member, offsetof(struct port, member))
    N(2, listeners), N(3, flows),       N(4, kept),        N(5, uid),   N(6, chosen),
    N(7, mixed),     N(8, lent),        N(9, free_at),     N(10, wide), N(11, opened),
    N(12, guarded),  N(13, wait_reuse), N(14, wait_until),
#undef N
};
#define ROWS        (sizeof(rows) / sizeof(rows[0]))
#define TAG_NUMBER  1
#define TAG_FD      20
#define TAG_IP6     21
#define TAG_PLACES  22
#define TAG_WAIT_AT 23

void ports_save(struct ports *p, struct toec_image_out *o, struct takeover *t)
{
    uint32_t i;

    pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->count; i++) {
        const struct port *e = &p->port[p->held[i]];

        toec_image_begin(o, TREC_PORT);
        toec_image_int(o, TAG_NUMBER, p->held[i]);
        toec_image_fields(o, rows, ROWS, e);
        toec_image_int(o, TAG_FD, takeover_fd(t, e->fd_plus_1 - 1));
        toec_image_int(o, TAG_IP6, (toec_u64)p->ip6);
        toec_image_bytes(o, TAG_WAIT_AT, &e->wait_at, sizeof(e->wait_at));
        if (e->places) /* `place` may be NULL otherwise */
            toec_image_bytes(o, TAG_PLACES, e->place, (unsigned)(e->places * sizeof(*e->place)));
        toec_image_end(o);
    }
    pthread_mutex_unlock(&p->lock);
}

int ports_is_ip6(const struct toec_image_in *in)
{
    return toec_image_number(in, TAG_IP6) != 0;
}

int ports_restore(struct ports *p, const struct toec_image_in *in, struct takeover *t)
{
    uint64_t number = toec_image_number(in, TAG_NUMBER);
    struct port is = {0}, *e;
    struct toec_addr at;
    unsigned n = 0, wait_n = 0, i;
    int rc = 0;
    const uint8_t *places = toec_image_find(in, TAG_PLACES, &n);
    const uint8_t *wait_at = toec_image_find(in, TAG_WAIT_AT, &wait_n);
    int fd = takeover_take_fd(t, toec_image_number(in, TAG_FD));

    if (number >= PORTS_ALL || p->port[number].held || toec_image_take(in, rows, ROWS, &is) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    pthread_mutex_lock(&p->lock);
    port_add(p, (uint16_t)number, fd, is.uid);
    e = &p->port[number];
    is.fd_plus_1 = e->fd_plus_1;
    is.at = e->at;
    is.held = 1;
    if (wait_at && wait_n == sizeof(is.wait_at))
        memcpy(&is.wait_at, wait_at, wait_n);
    *e = is;
    p->chosen += e->chosen;
    for (i = 0; places && i < n / sizeof(at) && !rc; i++) {
        memcpy(&at, places + i * sizeof(at), sizeof(at));
        rc = port_add_place(p, (uint16_t)number, &at) ? -1 : 0;
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void ports_announce(struct ports *p)
{
    uint32_t i;

    pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->count; i++) {
        const struct port *e = &p->port[p->held[i]];
        uint32_t n;

        for (n = 0; n < e->places; n++)
            (void)p->ops->place(p->arg, e->place[n].b, p->held[i], 1); /* there was room before */
        port_announce(p, p->held[i]);
    }
    pthread_mutex_unlock(&p->lock);
}
