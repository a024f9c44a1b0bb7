/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip_out.c - what the layers above ask of IP whichever family it is: paths, own addresses, output.
 */
#include "stack.h"

int toec_path_to(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path)
{
    if (toec_addr_is4(dst))
        return toec_ip4_path(s, toec_addr_get4(dst), path);
    return TOEC_E_UNREACH;
}

int toec_ip_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                   toec_time now)
{
    return toec_ip4_output(s, path, o, now);
}

int toec_addr_is_own(const struct toec_stack *s, const struct toec_addr *a)
{
    return toec_addr_eq(a, &s->addr);
}

int toec_source_for(struct toec_stack *s, const struct toec_addr *dst, struct toec_addr *src)
{
    if (!toec_addr_is4(dst))
        return TOEC_E_NOTAVAIL;
    *src = s->addr;
    return 0;
}
