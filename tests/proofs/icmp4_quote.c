/* SPDX-License-Identifier: Apache-2.0 */
/* icmp4_quote.c - the quote of an ICMP error: reads stay within the message, the copy within the
 * buffer. */
#include "proof.h"

#include "ip/icmp4.c"

static struct toec_stack s;
static toec_u32 message; /* bytes of the ICMP message in the frame */
static struct toec_ip_in in;
static toec_u32 copied;

void copy(struct toec_stack *stack, void *dst, const struct toec_packet *p, toec_u32 off,
          toec_u32 len)
{
    (void)stack;
    (void)p;
    PROVE(off >= in.l4_off && len <= message && off - in.l4_off <= message - len);
    WRITABLE(dst, len);
    copied = len;
    __CPROVER_havoc_object(dst);
}

void proof(void)
{
    toec_u8 quote[QUOTE_MAX];
    struct toec_icmp_err e;

    message = nondet_u32();
    ANYTHING(in);
    ASSUME(message >= TOEC_ICMP4_LEN && message <= 65515 && in.l4_len == message);
    ASSUME(in.l4_off <= 74);
    if (parse_quote(&s, &e, &in, quote) == 0)
        PROVE(toec_ip4_hlen(quote) + QUOTE_TCP <= copied); /* no other field is read */
}
