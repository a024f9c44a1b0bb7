/* SPDX-License-Identifier: Apache-2.0 */
/* receive_plain.c - frames for core/, which reads their headers and has payload summed by the
 * processor. Of software-only and of the prototype. */
#include "toe.h"

unsigned receive_frames(const uint8_t *data, uint32_t length)
{
    struct toec_packet p = {data, length, length, 0, 0};

    toec_input(toe.stack, &p, toe.now);
    return 1;
}

void receive_place(struct host_flow at, const struct toec_packet *p, uint32_t p_off, uint32_t len,
                   uint32_t to)
{
    host_place(at, p->data + p_off, len, to);
}
