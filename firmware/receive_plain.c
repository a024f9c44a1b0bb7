/* SPDX-License-Identifier: Apache-2.0 */
/* receive_plain.c - frames for core/, which reads their headers and has payload summed by the
 * processor. Of software-only and of the prototype. */
#include "toe.h"

void receive_frame(const uint8_t *data, uint32_t length)
{
    struct toec_packet p = {data, length, length, 0, 0};

    toec_input(toe.stack, &p, toe.now);
}
