/* SPDX-License-Identifier: Apache-2.0 */
/* flat.c - the port functions that read packets, for tests whose packets are whole in memory. */
#include <string.h>

#include <toe/core.h>

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return toec_sum(p->data + p_off, len);
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    memcpy(dst, p->data + p_off, len);
}
