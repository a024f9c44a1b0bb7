/* SPDX-License-Identifier: Apache-2.0 */
/* gso.c - segmentation in software: the payload of the segments that a large one is split into.
 * toec_tx_cut() writes their headers. */
#include <string.h>

#include "gso.h"
#include "sums.h"

void gso_slice(struct offload_payload *out, const struct offload_payload *p, uint32_t from,
               uint32_t n)
{
    unsigned i;

    out->count = 0;
    for (i = 0; i < p->count && n; i++) {
        uint32_t part = p->ref[i].len;

        if (from >= part) {
            from -= part;
            continue;
        }
        part = part - from < n ? part - from : n;
        out->ref[out->count++] = (struct netio_ref){p->ref[i].data + from, part};
        n -= part;
        from = 0;
    }
}

uint16_t gso_gather_sum(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n)
{
    struct offload_payload s;
    uint32_t done = 0;
    uint16_t sum = 0;
    unsigned i;

    if (p->count == 1)
        return sums->copy(out, p->ref[0].data + from, n);
    gso_slice(&s, p, from, n);
    for (i = 0; i < s.count; i++) {
        sum = toec_sum_add(sum, sums->copy(out + done, s.ref[i].data, s.ref[i].len), done & 1);
        done += s.ref[i].len;
    }
    return sum;
}

void gso_gather(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n)
{
    struct offload_payload s;
    unsigned i;

    if (n == 0)
        return;
    if (p->count == 1) {
        memcpy(out, p->ref[0].data + from, n);
        return;
    }
    gso_slice(&s, p, from, n);
    for (i = 0; i < s.count; i++) {
        memcpy(out, s.ref[i].data, s.ref[i].len);
        out += s.ref[i].len;
    }
}
