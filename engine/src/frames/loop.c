/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - see loop.h. */
#include <string.h>
#include <sys/mman.h>

#include "engine_state.h"
#include "gso.h"
#include "loop.h"
#include "wiretap.h"

/* A frame of several segments is queued whole; the IP length field limits its size. */
#define ROOM (((14u + 65535u) + LINE - 1) & ~(LINE - 1))

static uint8_t *frame_at(const struct loop *l, uint32_t i)
{
    return l->mem + (size_t)(i % LOOP_FRAMES) * ROOM;
}

static int make_room(struct loop *l)
{
    void *mem = mmap(NULL, (size_t)LOOP_FRAMES * ROOM, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mem == MAP_FAILED)
        return -1;
    l->mem = mem; /* the kernel allocates pages when they are touched */
    return 0;
}

int loop_keep(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p)
{
    struct loop *l = &e->loop;
    uint8_t *at;

    if (tx->hdr_len + tx->len > ROOM) {
        engine_count(e, EC_tx_too_big);
        return 0;
    }
    if (l->tail - l->head == LOOP_FRAMES || (!l->mem && make_room(l) != 0)) {
        engine_count(e, EC_tx_no_room);
        return -1;
    }
    at = frame_at(l, l->tail);
    memcpy(at, tx->hdr, tx->hdr_len);
    gso_gather(at + tx->hdr_len, p, 0, tx->len);
    l->len[l->tail % LOOP_FRAMES] = tx->hdr_len + tx->len;
    l->tail++;
    engine_count(e, EC_looped);
    return 0;
}

unsigned loop_run(struct engine *e)
{
    struct loop *l = &e->loop;
    uint32_t end = l->tail, n = end - l->head;

    e->hold.frame = NULL; /* not frames of the back end: they cannot be held */
    while (l->head != end) {
        struct toec_packet p = {.data = frame_at(l, l->head),
                                .flags = TOEC_RX_LOCAL | TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK};

        p.len = p.head_len = l->len[l->head % LOOP_FRAMES];
        if (wiretap_on(e))
            wiretap_input_alone(e, &p, 1);
        else
            toec_input(e->stack, &p, e->now);
        l->head++; /* only now: frames sent in reaction must not overwrite it */
    }
    return n;
}

void loop_free(struct loop *l)
{
    if (l->mem)
        munmap(l->mem, (size_t)LOOP_FRAMES * ROOM);
}
